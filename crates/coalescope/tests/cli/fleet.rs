//! `coalescope check` for fleets: findings set aside, and forms of output for programs that watch many hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::check::{check, director, folder};
use crate::common::{is_as_its_schema_says, stderr, stdout};

/// What XML, JSON, labels of metrics, messages of SARIF and terminals would take for more than letters.
const HOSTILE: &str = "x\"><a{0}](b)'&\\\u{1b}[m\u{ffff}\n#";

/// A router whose interfaces have LRO on.
fn router(name: &str, interfaces: &[&str]) -> TempDir {
    let interface = |name: &&str| {
        let features = json!({ "large-receive-offload": { "active": true } });
        let interface = json!({ "name": name, "index": 2, "kind": "physical", "mtu_bytes": 1500, "features": features });
        ((*name).to_owned(), interface)
    };
    let snapshot = json!({
        "name": name,
        "platform": "linux",
        "kernel": "6.1.0",
        "stack": { "sysctls": { "net.ipv4.ip_forward": "1" } },
        "interfaces": interfaces.iter().map(interface).collect::<BTreeMap<String, Value>>(),
    });
    // The schema is written first.
    let fields = snapshot.to_string();
    let text = format!("{{\"schema\": \"coalescope/host/1\", {}", &fields[1..]);
    folder(&[("host.json", &text)])
}

fn said(hosts: &[&Path], more: &[&str]) -> (Option<i32>, String) {
    let output = check(hosts, more);
    (output.status.code(), stdout(&output))
}

fn document(hosts: &[&Path], more: &[&str]) -> Value {
    let output = check(hosts, &[&["--format", "json"], more].concat());
    let document = serde_json::from_slice(&output.stdout).unwrap();
    is_as_its_schema_says("check", &document);
    document
}

#[test]
fn what_is_ignored_is_counted_and_fails_no_more() {
    let host = router("r1", &["eth0", "eth1"]);
    let host = [host.path()];
    let one = document(&host, &["--ignore", "linux-lro-forwarding@eth0"]);
    assert_eq!(one["findings"].as_array().unwrap().len(), 1);
    assert_eq!(one["ignored"][0]["interface"], "eth0");
    let (code, text) = said(&host, &["--ignore", "linux-lro-forwarding@eth*"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.starts_with("Nothing else found on r1. 2 findings are ignored"),
        "{text}"
    );
    let unknown = check(&host, &["--ignore", "linux-lro-forwardin"]);
    assert_eq!(unknown.status.code(), Some(2));
    let error = stderr(&unknown);
    assert!(
        error.contains("did you mean linux-lro-forwarding?"),
        "{error}"
    );
}

#[test]
fn only_what_is_new_since_the_baseline_is_told() {
    let (before, after) = (
        router("r1", &["eth0", "eth1"]),
        router("r1", &["eth1", "eth2"]),
    );
    let files = TempDir::new().unwrap();
    let first = files.path().join("first.json");
    let earlier = document(&[before.path()], &[]);
    std::fs::write(&first, earlier.to_string()).unwrap();
    let baseline = ["--baseline", first.to_str().unwrap()];
    assert_eq!(said(&[before.path()], &baseline).0, Some(0));
    let new = document(&[after.path()], &baseline);
    let names = |list: &str| {
        let all = new[list].as_array().unwrap().iter();
        all.map(|one| one["interface"].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("findings"), ["eth2"]);
    assert_eq!(
        (names("known"), names("gone")),
        (vec!["eth1"], vec!["eth0"])
    );
    // What was known then is known ever after.
    let second = files.path().join("second.json");
    std::fs::write(&second, new.to_string()).unwrap();
    let (code, text) = said(&[after.path()], &["--baseline", second.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{text}");
    // Of a host that was not looked at nothing is gone.
    let other = router("r2", &["eth0", "eth1"]);
    let text = said(&[other.path()], &baseline).1;
    assert!(!text.contains("gone since"), "{text}");
    let none = files.path().join("none.json");
    std::fs::write(&none, "{}").unwrap();
    let refused = check(&[after.path()], &["--baseline", none.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("is no baseline"),
        "{}",
        stderr(&refused)
    );
}

/// An element as the rules of the schema see it.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    children: Vec<Element>,
    text: String,
}

impl Element {
    fn of(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let key = attribute.key.as_ref().to_owned();
            let value = quick_xml::escape::unescape(&attribute.value)
                .unwrap()
                .into_owned();
            (key, value)
        });
        Self {
            name: start.name().as_ref().to_owned(),
            attributes: attributes.collect(),
            ..Self::default()
        }
    }

    fn number(&self, attribute: &str) -> usize {
        self.attributes[attribute].parse().unwrap()
    }

    fn has(&self, attributes: &[&str]) {
        let has: BTreeSet<&str> = self.attributes.keys().map(String::as_str).collect();
        assert_eq!(has, attributes.iter().copied().collect(), "{}", self.name);
    }
}

/// The document element.
fn parsed(xml: &str) -> Element {
    let is_char = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(xml.chars().all(is_char), "{xml:?}");
    let mut reader = Reader::from_str(xml);
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => open.push(Element::of(&start)),
            Event::Empty(start) => open.last_mut().unwrap().children.push(Element::of(&start)),
            Event::End(_) => {
                let done = open.pop().unwrap();
                open.last_mut().unwrap().children.push(done);
            }
            Event::Text(text) => open.last_mut().unwrap().text.push_str(&text),
            Event::Eof => return open.pop().unwrap().children.remove(0),
            _ => {}
        }
    }
}

/// The rules of Apache Ant's schema of test reports.
fn is_junit(root: &Element) {
    assert_eq!(
        (root.name.as_str(), root.attributes.len()),
        ("testsuites", 0)
    );
    for (number, suite) in root.children.iter().enumerate() {
        assert_eq!(suite.name, "testsuite");
        suite.has(&[
            "name",
            "timestamp",
            "hostname",
            "tests",
            "failures",
            "errors",
            "skipped",
            "time",
            "package",
            "id",
        ]);
        assert_eq!(suite.number("id"), number);
        let (date, time) = suite.attributes["timestamp"].split_once('T').unwrap();
        assert_eq!((date.split('-').count(), time.split(':').count()), (3, 3));
        let names: Vec<&str> = suite
            .children
            .iter()
            .map(|child| child.name.as_str())
            .collect();
        let cases = names.len() - 3;
        assert_eq!(names[0], "properties");
        assert!(
            names[1..=cases].iter().all(|name| *name == "testcase"),
            "{names:?}"
        );
        assert_eq!(names[cases + 1..], ["system-out", "system-err"]);
        assert_eq!(suite.number("tests"), cases);
        let ended = |how: &str| {
            let all = suite.children.iter().flat_map(|case| &case.children);
            all.filter(|end| end.name == how).count()
        };
        let counts = [
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ];
        for (attribute, how) in counts {
            assert_eq!(suite.number(attribute), ended(how), "{attribute}");
        }
        suite.children[1..=cases].iter().for_each(is_case);
    }
}

fn is_case(case: &Element) {
    case.has(&["name", "classname", "time"]);
    assert!(case.children.len() <= 1);
    for end in &case.children {
        if end.name == "skipped" {
            end.has(&["message"]);
            continue;
        }
        assert!(
            ["failure", "error"].contains(&end.name.as_str()),
            "{}",
            end.name
        );
        end.has(&["message", "type"]);
    }
}

fn junit(hosts: &[&Path], more: &[&str]) -> Element {
    let xml = said(hosts, &[&["--format", "junit"], more].concat()).1;
    let root = parsed(&xml);
    is_junit(&root);
    root
}

#[test]
fn junit_is_as_its_schema_says() {
    let (good, bad) = (
        director("lvs1", ["off", "off"]),
        director("lvs2", ["off", "on"]),
    );
    let hostile = router("r1", &[HOSTILE, "eth1"]);
    let unread = folder(&[("k", "Features for eth0:\ngeneric-receive-offload: on\n")]);
    let hosts = [good.path(), bad.path(), hostile.path(), unread.path()];
    let root = junit(&hosts, &[]);
    let ends = root.children.iter();
    let ends = ends.map(|suite| ["failures", "errors"].map(|count| suite.number(count)));
    assert_eq!(ends.collect::<Vec<_>>(), [[0, 0], [1, 0], [2, 0], [0, 1]]);
    let names: Vec<_> = root.children[2]
        .children
        .iter()
        .filter_map(|case| case.attributes.get("name"))
        .collect();
    assert!(
        names
            .iter()
            .any(|name| name.starts_with("x\"><a{0}](b)'&\\\u{fffd}[m\u{fffd}")),
        "{names:?}"
    );
    let never = junit(&[hostile.path()], &["--fail-on", "never"]);
    assert_eq!(never.children[0].number("skipped"), 2);
}

/// Of SARIF 2.1.0 what a check has of it, and nothing else.
fn sarif_schema() -> Value {
    let closed = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false });
    let message = closed(
        &["text"],
        json!({ "text": { "type": "string", "minLength": 1 } }),
    );
    let level = json!({ "enum": ["none", "note", "warning", "error"] });
    let logical = closed(
        &[],
        json!({
            "name": { "type": "string" }, "fullyQualifiedName": { "type": "string" }, "kind": { "type": "string" },
        }),
    );
    let logical = json!({ "type": "array", "uniqueItems": true, "items": logical });
    let artifact = closed(
        &[],
        json!({ "uri": { "type": "string", "format": "uri-reference" } }),
    );
    let physical = closed(&[], json!({ "artifactLocation": artifact }));
    let location = closed(
        &[],
        json!({ "logicalLocations": logical, "physicalLocation": physical }),
    );
    let suppression = closed(
        &["kind"],
        json!({
            "kind": { "enum": ["inSource", "external"] }, "justification": { "type": "string" },
        }),
    );
    let result = closed(
        &["message"],
        json!({
            "ruleId": { "type": "string" },
            "ruleIndex": { "type": "integer", "minimum": -1 },
            "level": level,
            "kind": { "enum": ["notApplicable", "pass", "fail", "review", "open", "informational"] },
            "message": message,
            "locations": { "type": "array", "items": location },
            "partialFingerprints": { "type": "object", "additionalProperties": { "type": "string" } },
            "baselineState": { "enum": ["new", "unchanged", "updated", "absent"] },
            "suppressions": { "type": "array", "uniqueItems": true, "items": suppression },
            "properties": { "type": "object" },
        }),
    );
    let rule = closed(
        &["id"],
        json!({
            "id": { "type": "string" }, "shortDescription": message, "fullDescription": message, "help": message,
            "defaultConfiguration": closed(&[], json!({ "level": level })),
        }),
    );
    let driver = closed(
        &["name"],
        json!({
            "name": { "type": "string" },
            "semanticVersion": { "type": "string" },
            "informationUri": { "type": "string" },
            "rules": { "type": "array", "uniqueItems": true, "items": rule },
        }),
    );
    let notification = closed(&["message"], json!({ "message": message, "level": level }));
    let invocation = closed(
        &["executionSuccessful"],
        json!({
            "executionSuccessful": { "type": "boolean" },
            "toolExecutionNotifications": { "type": "array", "items": notification },
        }),
    );
    let run = closed(
        &["tool"],
        json!({
            "tool": closed(&["driver"], json!({ "driver": driver })),
            "invocations": { "type": "array", "items": invocation },
            "results": { "type": ["array", "null"], "items": result },
        }),
    );
    closed(
        &["version", "runs"],
        json!({
            "$schema": { "type": "string" }, "version": { "enum": ["2.1.0"] }, "runs": { "type": "array", "items": run },
        }),
    )
}

fn sarif(hosts: &[&Path], more: &[&str]) -> Value {
    let text = said(hosts, &[&["--format", "sarif"], more].concat()).1;
    let log: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&sarif_schema()).unwrap();
    let errors: Vec<_> = validator
        .iter_errors(&log)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let run = &log["runs"][0];
    for result in run["results"].as_array().unwrap() {
        if let Some(index) = result["ruleIndex"].as_u64() {
            let rule = &run["tool"]["driver"]["rules"][index as usize];
            assert_eq!(rule["id"], result["ruleId"]);
        }
    }
    log["runs"][0].clone()
}

#[test]
fn sarif_is_as_its_schema_says() {
    let (bad, hostile) = (
        director("lvs2", ["off", "on"]),
        router("r1", &[HOSTILE, "eth1"]),
    );
    let run = sarif(&[bad.path(), hostile.path()], &[]);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    let text = run.to_string();
    assert!(
        !text.contains('\u{1b}') && !text.contains("u001b"),
        "{text}"
    );
    let of_hostile = results.iter().filter(|result| {
        result["message"]["text"]
            .as_str()
            .unwrap()
            .contains("a{{0}}\\](b)")
    });
    assert_eq!(of_hostile.count(), 1, "neither a placeholder nor a link");
    let uris = results.iter().filter_map(|result| {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str()
    });
    let of = |folder: &TempDir| format!("file://{}", folder.path().display());
    let saved = of(&hostile) + "/host.json";
    let expected = [of(&bad), saved.clone(), saved];
    assert_eq!(uris.collect::<Vec<_>>(), expected, "{text}");
    let ignored = sarif(&[hostile.path()], &["--ignore", "linux-lro-forwarding"]);
    let all = ignored["results"].as_array().unwrap();
    assert!(
        all.iter()
            .all(|result| result["suppressions"][0]["kind"] == "external")
    );
    assert_eq!(all.len(), 2);
}

/// A metric: its samples by their labels.
type Metrics = BTreeMap<String, BTreeMap<Vec<(String, String)>, String>>;

/// Reads the text format: `# HELP` and `# TYPE` before samples, a family after the other, `# EOF` at the end.
fn metrics(text: &str) -> Metrics {
    let text = text.strip_suffix("# EOF\n").unwrap();
    let mut all = Metrics::new();
    let mut lines = text.lines();
    let mut name = String::new();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            name = rest.split_once(' ').unwrap().0.to_owned();
            assert!(rest.ends_with('.'), "{rest}");
            assert_eq!(lines.next(), Some(format!("# TYPE {name} gauge").as_str()));
            assert!(
                all.insert(name.clone(), BTreeMap::new()).is_none(),
                "{name} twice"
            );
            continue;
        }
        let rest = line.strip_prefix(&name).unwrap();
        let (labels, value) = match rest.strip_prefix('{') {
            Some(rest) => self::labels(rest),
            None => (Vec::new(), rest),
        };
        let value = value.strip_prefix(' ').unwrap();
        assert!(value.parse::<u64>().is_ok(), "{line}");
        let again = all.get_mut(&name).unwrap().insert(labels, value.to_owned());
        assert!(again.is_none(), "{line} twice");
    }
    all
}

/// Labels up to the brace that ends them, and what is behind that.
fn labels(mut rest: &str) -> (Vec<(String, String)>, &str) {
    let mut all = Vec::new();
    loop {
        let (name, value) = rest.split_once("=\"").unwrap();
        let mut text = String::new();
        let mut chars = value.char_indices();
        let end = loop {
            match chars.next().unwrap() {
                (at, '"') => break at,
                (_, '\\') => match chars.next().unwrap().1 {
                    'n' => text.push('\n'),
                    escaped => {
                        assert!(matches!(escaped, '\\' | '"'), "{escaped}");
                        text.push(escaped);
                    }
                },
                (_, c) => text.push(c),
            }
        };
        assert!(name.chars().all(|c| c.is_ascii_lowercase()), "{name}");
        all.push((name.to_owned(), text));
        rest = &value[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return (all, rest.strip_prefix('}').unwrap()),
        }
    }
}

fn openmetrics(hosts: &[&Path], more: &[&str]) -> Metrics {
    metrics(&said(hosts, &[&["--format", "openmetrics"], more].concat()).1)
}

#[test]
fn metrics_are_as_the_text_format_says_and_as_many_however_many_interfaces_there_are() {
    let few = router(HOSTILE, &["eth0", HOSTILE]);
    let found = openmetrics(&[few.path()], &[]);
    let host = (
        "host".to_owned(),
        "x\"><a{0}](b)'&\\\u{fffd}[m\u{ffff}\u{fffd}#".to_owned(),
    );
    let of_rule = &found["coalescope_check_rule_findings"];
    let (labels, value) = of_rule.first_key_value().unwrap();
    assert_eq!((&labels[0], value.as_str()), (&host, "2"));
    let names: Vec<String> = (0..60).map(|number| format!("eth{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = router(HOSTILE, &names);
    let count = |metrics: &Metrics| metrics.values().map(BTreeMap::len).sum::<usize>();
    assert_eq!(count(&openmetrics(&[many.path()], &[])), count(&found));
    let decided = &openmetrics(&[few.path()], &["--ignore", "linux-lro-forwarding"]);
    assert_eq!(
        decided["coalescope_check_ignored_findings"][&Vec::new()],
        "2"
    );
    assert_eq!(decided["coalescope_check_decided"][&vec![host]], "1");
}

#[test]
fn every_form_has_the_same_exit_code() {
    let (good, bad) = (
        director("lvs1", ["off", "off"]),
        director("lvs2", ["off", "on"]),
    );
    for format in ["text", "json", "csv", "junit", "sarif", "openmetrics"] {
        let of = |host: &TempDir| said(&[host.path()], &["--format", format]).0;
        assert_eq!((of(&good), of(&bad)), (Some(0), Some(1)), "{format}");
    }
}
