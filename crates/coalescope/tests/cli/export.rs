//! `coalescope export`: asked over HTTP, by one client, by ten at once, by slow and by rude ones.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use coalescope_needs as needs;
use serde_json::Value;

use crate::common::{coalescope, stderr};
use crate::served::{Server, program};

/// An exporter at a port that was free.
fn begin(command: Command) -> Server {
    Server::begin(command, &["export"])
}

fn here() -> Server {
    begin(program())
}

#[test]
fn metrics_are_told_to_whoever_asks() {
    let exporter = here();
    let answer = exporter.get("/metrics");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(
        answer.contains("content-type: text/plain; version=0.0.4"),
        "{answer}"
    );
    assert!(answer.ends_with("# EOF\n"), "{answer}");
    assert!(
        answer.contains("\ncoalescope_watch_looks_total 1\n"),
        "{answer}"
    );
    let accept = "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text;version=1.0.0,text/plain\r\n\r\n";
    let answer = exporter.ask(accept);
    assert!(
        answer.contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{answer}"
    );
    let head = exporter.ask("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    assert!(exporter.get("/").contains("href=\"/metrics\""));
    assert!(exporter.get("/other").starts_with("HTTP/1.1 404 "));
    let post = exporter.ask("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    assert!(
        post.starts_with("HTTP/1.1 405 ") && post.contains("allow: GET, HEAD"),
        "{post}"
    );
    assert!(
        exporter
            .ask("nonsense\r\n\r\n")
            .starts_with("HTTP/1.1 400 ")
    );
    exporter.end();
}

#[test]
fn ten_clients_at_once_are_answered_beside_slow_ones() {
    let exporter = here();
    // Some say nothing, some begin and stop.
    let slow: Vec<_> = (0..20)
        .map(|n| {
            let mut stream = TcpStream::connect(&exporter.address).unwrap();
            stream.write_all(&b"GET /metr"[..n % 10]).unwrap();
            stream
        })
        .collect();
    let answers: Vec<String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..10)
            .map(|_| scope.spawn(|| exporter.get("/metrics")))
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect()
    });
    for answer in answers {
        assert!(answer.ends_with("# EOF\n"), "{answer}");
    }
    drop(slow);
    // What was counted is read once for all who ask at once.
    let looks = exporter.get("/metrics");
    let looks = looks
        .lines()
        .find_map(|line| line.strip_prefix("coalescope_watch_looks_total "));
    let looks: u64 = looks.unwrap().parse().unwrap();
    assert!(looks < 8, "{looks}");
    exporter.end();
}

#[test]
fn the_rights_of_the_unit_suffice() {
    let test = "export with three capabilities";
    if !needs::programs(test, &["setpriv"]) {
        return;
    }
    let capabilities = "-all,+bpf,+perfmon,+syslog";
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--clear-groups", "--no-new-privs"]);
    for set in ["--bounding-set", "--inh-caps", "--ambient-caps"] {
        command.args([set, capabilities]);
    }
    let program = assert_cmd::cargo::cargo_bin("coalescope");
    let mut tried = Command::new("setpriv");
    tried
        .args(command.get_args())
        .arg(&program)
        .arg("--version");
    match tried.output() {
        Ok(output) if output.status.success() => {}
        other => return needs::skipped(test, format!("setpriv: {other:?}")),
    }
    command.arg(&program);
    let exporter = begin(command);
    let answer = exporter.get("/metrics");
    let with_bpf = answer.contains("\ncoalescope_watch_bpf 1\n");
    exporter.end();
    let as_root = here();
    let may = as_root
        .get("/metrics")
        .contains("\ncoalescope_watch_bpf 1\n");
    as_root.end();
    if !may {
        return needs::skipped(test, "BPF programs may not be loaded");
    }
    assert!(with_bpf, "{answer}");
}

#[test]
fn an_address_that_cannot_be_had_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (address, why) in [
        (address.as_str(), "cannot listen at"),
        ("here", "invalid value 'here'"),
    ] {
        let output = coalescope()
            .args(["export", "--listen", address])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap()
}

/// Names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let words = words.filter(|word| word.starts_with("coalescope_"));
    words.map(str::to_owned).collect()
}

#[test]
fn alerts_dashboard_and_page_name_what_there_is() {
    let exporter = here();
    let answer = exporter.get("/metrics");
    exporter.end();
    let types = answer
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "));
    let there: BTreeSet<String> = types
        .filter_map(|line| line.split_once(' '))
        .map(|(name, _)| name.to_owned())
        .collect();
    let alerts: Value = serde_saphyr::from_str(&read("docs/export/alerts.yml")).unwrap();
    let rules = alerts["groups"][0]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 3);
    let dashboard: Value = serde_json::from_str(&read("docs/export/dashboard.json")).unwrap();
    for (what, asked) in [
        ("alerts.yml", metrics(&alerts.to_string())),
        ("dashboard.json", metrics(&dashboard["panels"].to_string())),
    ] {
        let missing: Vec<_> = asked.difference(&there).collect();
        assert!(
            missing.is_empty() && !asked.is_empty(),
            "{what}: {missing:?}"
        );
    }
    let page = read("docs/export.md");
    for name in &there {
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not in docs/export.md"
        );
    }
}

#[test]
fn promtool_finds_nothing_wrong() {
    let test = "promtool";
    if !needs::programs(test, &["promtool"]) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut rules = Command::new("promtool");
    rules.args(["check", "rules", "--lint=all", "--lint-fatal"]);
    let rules = rules
        .arg(root.join("docs/export/alerts.yml"))
        .output()
        .unwrap();
    assert!(rules.status.success(), "{rules:?}");
    let mut tests = Command::new("promtool");
    tests.args(["test", "rules", "alerts.test.yml"]);
    let tests = tests
        .current_dir(root.join("docs/export"))
        .output()
        .unwrap();
    assert!(tests.status.success(), "{tests:?}");
    let exporter = here();
    let answer = exporter.get("/metrics");
    exporter.end();
    let mut metrics = Command::new("promtool");
    let metrics = metrics.args(["check", "metrics"]).stdin(Stdio::piped());
    let mut metrics = metrics.stderr(Stdio::piped()).spawn().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    metrics
        .stdin
        .take()
        .unwrap()
        .write_all(body.as_bytes())
        .unwrap();
    let metrics = metrics.wait_with_output().unwrap();
    assert!(metrics.status.success(), "{metrics:?}");
}
