//! Figures of real programs' outputs, and of outputs that nobody foresaw.

use coalescope_experiment::effects::Sense;
use coalescope_experiment::figures::{
    Figure, FigureError, Source, WALL, fetch_command, figures, iperf3_command,
};
use proptest::prelude::*;

const WALL_S: f64 = 10.5;

macro_rules! sample {
    ($path:literal) => {
        include_bytes!(concat!("../samples/", $path)).as_slice()
    };
}

fn auto(output: &[u8]) -> Vec<Figure> {
    figures(&[], output, WALL_S).expect("figures")
}

/// `name value unit sense`, without the wall time, which is checked to be the last.
fn lines(output: &[u8]) -> Vec<String> {
    let mut all = auto(output);
    let wall = all.pop().expect("a wall time");
    assert_eq!((wall.metric.name.as_str(), wall.value), (WALL, WALL_S));
    assert_eq!(
        (wall.metric.unit.as_deref(), wall.metric.sense),
        (Some("s"), Sense::Time)
    );
    all.iter().map(line).collect()
}

/// Nine digits: how the last ones are read depends on features of serde_json.
fn rounded(value: f64) -> f64 {
    format!("{value:.8e}").parse().expect("a number")
}

fn line(figure: &Figure) -> String {
    let unit = figure.metric.unit.as_deref().unwrap_or("-");
    format!(
        "{} {} {unit} {:?}",
        figure.metric.name,
        rounded(figure.value),
        figure.metric.sense
    )
}

#[test]
fn iperf3_tcp_is_what_arrived_and_what_was_sent_again() {
    let sent = [
        "throughput_bps 10817024200 bit/s Speed",
        "iperf3_retransmits 18 - Plain",
    ];
    assert_eq!(lines(sample!("iperf3/tcp.json")), sent);
    let fetched = [
        "throughput_bps 11568440700 bit/s Speed",
        "iperf3_retransmits 32 - Plain",
    ];
    assert_eq!(lines(sample!("iperf3/tcp-reverse.json")), fetched);
    let both = [
        "throughput_bps 4778415500 bit/s Speed",
        "iperf3_retransmits 29 - Plain",
        "throughput_reverse_bps 11158721900 bit/s Speed",
        "iperf3_reverse_retransmits 33 - Plain",
    ];
    assert_eq!(lines(sample!("iperf3/tcp-bidir.json")), both);
}

#[test]
fn iperf3_udp_has_loss_and_jitter() {
    let expected = [
        "throughput_bps 50049334.1 bit/s Speed",
        "lost_percent 0 % Plain",
        "jitter_s 0.0000697655061 s Plain",
    ];
    assert_eq!(lines(sample!("iperf3/udp.json")), expected);
    let reverse = lines(sample!("iperf3/udp-reverse.json"));
    assert_eq!(reverse[0], "throughput_bps 50032030 bit/s Speed");
    let both = auto(sample!("iperf3/udp-bidir.json"));
    let names: Vec<_> = both
        .iter()
        .map(|figure| figure.metric.name.as_str())
        .collect();
    let expected = [
        "throughput_bps",
        "lost_percent",
        "jitter_s",
        "throughput_reverse_bps",
        "lost_reverse_percent",
        "jitter_reverse_s",
        WALL,
    ];
    assert_eq!(names, expected);
}

/// As iperf3 3.1 prints: one sum, of what was sent.
#[test]
fn an_old_iperf3_counts_what_was_sent() {
    let old = r#"{"start":{"version":"iperf 3.1.3"},"end":{"sum":{"bits_per_second":8e6,
        "jitter_ms":2,"lost_packets":25,"packets":100,"lost_percent":25}}}"#;
    let expected = [
        "throughput_bps 6000000 bit/s Speed",
        "lost_percent 25 % Plain",
        "jitter_s 0.002 s Plain",
    ];
    assert_eq!(lines(old.as_bytes()), expected);
}

#[test]
fn an_error_of_iperf3_is_one_although_it_exits_with_0() {
    let error = figures(&[], sample!("iperf3/refused.json"), 1.0)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "iperf3 failed: unable to connect to server: Connection refused"
    );
    let cut = br#"{"start":{"version":"iperf 3.12"},"intervals":[],"end":{}}"#;
    let error = figures(&[], cut, 1.0).unwrap_err().to_string();
    assert!(
        error.contains("iperf3 failed: its JSON has no sums"),
        "{error}"
    );
}

#[test]
fn iperf3_may_warn_first_and_others_may_talk_later() {
    let mut output = b"WARNING: {old} settings\n".to_vec();
    output.extend_from_slice(sample!("iperf3/tcp.json"));
    output.extend_from_slice(b"\ndone\n");
    assert_eq!(lines(&output), lines(sample!("iperf3/tcp.json")));
}

#[test]
fn curl_gives_bits_although_it_counts_bytes() {
    let expected = [
        "throughput_bps 174069096 bit/s Speed",
        "time_total_s 0.012417 s Time",
        "time_starttransfer_s 0.012177 s Time",
    ];
    assert_eq!(lines(sample!("curl/json.txt")), expected);
    let after_a_page = lines(sample!("curl/body-and-json.txt"));
    assert_eq!(after_a_page[0], "throughput_bps 33920 bit/s Speed");
    let error = figures(&[], sample!("curl/refused.txt"), 1.0).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("curl failed: Failed to connect to 127.0.0.1")
    );
}

#[test]
fn curl_that_sends_is_judged_by_what_it_sends() {
    let up = br#"<b>thanks</b>{"speed_download":2,"size_download":13,"speed_upload":1000,"size_upload":9000,"time_total":9}"#;
    assert_eq!(lines(up)[0], "throughput_bps 8000 bit/s Speed");
    let empty = br#"{"speed_download":0,"size_download":0,"time_total":0.5}"#;
    assert_eq!(lines(empty), ["time_total_s 0.5 s Time"]);
}

#[test]
fn wrk_counts_in_powers_of_1024() {
    let plain = [
        "requests_per_s 687.98 1/s Speed".to_owned(),
        format!(
            "throughput_bps {} bit/s Speed",
            rounded(177.41 * 1_048_576.0 * 8.0)
        ),
        format!("latency_mean_s {} s Time", rounded(5.81e-3)),
    ];
    assert_eq!(lines(sample!("wrk/plain.txt")), plain);
    let latency = lines(sample!("wrk/latency.txt"));
    assert_eq!(
        latency[3],
        format!("latency_p99_s {} s Time", rounded(17.31e-3))
    );
}

#[test]
fn netperf_is_known_in_all_its_forms() {
    let stream = ["throughput_bps 943210000 bit/s Speed"];
    assert_eq!(lines(sample!("netperf/tcp_stream.txt")), stream);
    assert_eq!(lines(sample!("netperf/tcp_stream_p0.txt")), stream);
    let maerts = format!(
        "throughput_bps {} bit/s Speed",
        rounded(114_953.13 * 1024.0 * 8.0)
    );
    assert_eq!(lines(sample!("netperf/tcp_maerts_cpu.txt"))[0], maerts);
    let transactions = ["transactions_per_s 21345.67 1/s Speed"];
    assert_eq!(lines(sample!("netperf/tcp_rr.txt")), transactions);
    assert_eq!(lines(sample!("netperf/tcp_rr_p0.txt")), transactions);
}

#[test]
fn netperf_says_what_an_omni_test_cost() {
    let expected = [
        "throughput_bps 943210000 bit/s Speed",
        "local_service_demand_us_per_kb 1.414 us/KB Plain",
    ];
    assert_eq!(lines(sample!("netperf/keyval.txt")), expected);
    let expected = [
        "transactions_per_s 21345.67 1/s Speed",
        "local_service_demand 14.25 us/Tran Plain",
    ];
    assert_eq!(lines(sample!("netperf/csv.txt")), expected);
    assert_eq!(lines(b"THROUGHPUT=5\n"), ["netperf_throughput 5 - Speed"]);
}

/// Bare numbers could be anybody's: a size is whole, and no test takes longer than its command.
#[test]
fn not_every_line_of_numbers_is_netperfs() {
    for output in [
        "1 2 3 4 5\n",
        "1 2 3 99.00 5.00\n",
        "0.25 0.16 0.11 1.00 23.00\n",
        "131072 16384 16384 10.00 943.21\nand more\n",
        "131072 16384 16384 10.00 943.21\n131072 16384 16384 10.00 943.21\n",
    ] {
        assert_eq!(lines(output.as_bytes()), [""; 0], "{output}");
    }
}

#[test]
fn what_is_not_known_has_its_wall_time() {
    for output in [
        "",
        "hello\n",
        "{}",
        "[1]",
        "{\"end\": 3}",
        "Latency 1ms\n",
        "\u{fffd}",
    ] {
        assert_eq!(lines(output.as_bytes()), [""; 0], "{output}");
    }
}

fn source(text: &str) -> Source {
    text.parse().expect("a source")
}

#[test]
fn a_users_metrics_come_first_in_their_order() {
    let output = b"rate: 10 MB/s\nrate: 12.5 MB/s\n{\"a/b\": [{\"x\": \"1e3\"}]}\n";
    let sources = [
        source(r"rate: ([\d.]+)"),
        source("/a~1b/0/x"),
        source(r"(?:\d+)\.5"),
    ];
    let found = figures(&sources, output, 2.0).expect("figures");
    let found: Vec<_> = found.iter().map(line).collect();
    let expected = [
        r"rate: ([\d.]+) 12.5 - Plain",
        "/a~1b/0/x 1000 - Plain",
        r"(?:\d+)\.5 12.5 - Plain",
        "wall_s 2 s Time",
    ];
    assert_eq!(found, expected);
}

#[test]
fn known_figures_and_a_users_can_be_asked_for_together() {
    let sources = [
        source("/end/cpu_utilization_percent/host_total"),
        Source::Auto,
    ];
    let found = figures(&sources, sample!("iperf3/tcp.json"), 2.0).expect("figures");
    assert_eq!(found.len(), 4);
    assert_eq!(found[1].metric.name, "throughput_bps");
}

#[test]
fn a_line_begins_and_ends_where_it_does() {
    let found = figures(&[source("^([0-9]+)$")], b"1\n2\nx3\n", 1.0).expect("figures");
    assert_eq!(found[0].value.to_string(), "2");
}

#[test]
fn what_is_not_found_is_named_with_the_last_line() {
    let error = |source: &str, output: &str| {
        let sources = [source.parse().expect("a source")];
        figures(&sources, output.as_bytes(), 1.0)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error("rate=(.*)", "all\nis \u{1b}[31mlost\n\n"),
        "--metric rate=(.*) finds nothing in what the command printed; its last line is: is [31mlost"
    );
    assert!(error("x", "").ends_with("printed, which was nothing"));
    assert!(error("/a", "none here\n").contains("a JSON pointer, but the command printed no JSON"));
    assert!(error("/a", "{\"b\":1}\n").contains("/a finds nothing"));
    assert!(error("/a", "{\"a\":null}").contains("finds \"null\", which is no number"));
    for number in ["nan", "inf", "1,234.5", "fast", "1e999"] {
        let found = error("rate=(.*)", &format!("rate={number}\n"));
        assert!(found.contains("which is no number"), "{found}");
    }
    // The group took no part in the match.
    assert!(error("a(b)?", "a\n").contains("finds nothing"));
}

#[test]
fn sources_that_are_none_are_refused() {
    for text in ["", "a(", "[z-a]"] {
        let error = text.parse::<Source>().unwrap_err();
        assert!(
            matches!(error, FigureError::Source { .. }),
            "{text}: {error}"
        );
    }
    let twice = [source("a"), source("a")];
    let error = figures(&twice, b"a\n1a", 1.0).unwrap_err();
    assert!(error.to_string().contains("no number"), "{error}");
    let twice = [source("1"), source("1")];
    let error = figures(&twice, b"1\n", 1.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the metric 1 is there twice; leave one out"
    );
}

/// What the commands that are built in print is what is understood: a real curl on a real file.
#[test]
fn fetch_is_understood() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("[page].txt");
    std::fs::write(&file, vec![b'x'; 5000]).expect("written");
    let words = fetch_command(&format!("file://{}", file.display()));
    if !coalescope_needs::programs("fetch_is_understood", &[&words[0], "curl"]) {
        return;
    }
    let mut command = std::process::Command::new(&words[0]);
    let output = command.args(&words[1..]).output().expect("it is there");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found = lines(&output.stdout);
    assert!(found[0].starts_with("throughput_bps "), "{found:?}");
    assert_eq!(found.len(), 3);
    assert_eq!(
        iperf3_command("srv:5202", 5).join(" "),
        "iperf3 -c srv -J -t 5 -p 5202"
    );
}

const SAMPLES: [&[u8]; 8] = [
    sample!("iperf3/tcp.json"),
    sample!("iperf3/udp.json"),
    sample!("curl/body-and-json.txt"),
    sample!("wrk/latency.txt"),
    sample!("netperf/tcp_stream.txt"),
    sample!("netperf/tcp_rr_p0.txt"),
    sample!("netperf/keyval.txt"),
    sample!("netperf/csv.txt"),
];

fn all_ways(output: &[u8]) {
    let sources = [Source::Auto, source("([^ ]+)"), source("/a/0")];
    for count in 0..=sources.len() {
        if let Ok(found) = figures(&sources[..count], output, 1.0) {
            assert!(found.iter().all(|figure| figure.value.is_finite()));
            assert_eq!(
                found.last().map(|last| last.metric.name.as_str()),
                Some(WALL)
            );
        }
    }
}

proptest! {
    #[test]
    fn no_output_makes_it_panic(output in prop::collection::vec(any::<u8>(), 0..400)) {
        all_ways(&output);
    }

    #[test]
    fn no_damage_makes_it_panic(which in 0..SAMPLES.len(), at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut output = SAMPLES[which].to_vec();
        let at = at.index(output.len());
        output[at] = byte;
        all_ways(&output);
        output.truncate(cut.index(output.len()));
        all_ways(&output);
    }
}
