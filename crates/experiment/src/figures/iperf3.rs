//! `iperf3 -J`.

use super::json::{self, at};
use super::{Figure, FigureError};
use crate::effects::Sense;
use serde_json::Value;

/// Directions: the suffixes of member names in `end`, and of our figures. `--bidir` has both.
const WAYS: [(&str, &str); 2] = [("", ""), ("_bidir_reverse", "_reverse")];

/// Runs iperf3 against `host` for `seconds`, with JSON for [`super::figures`]. `host` may be
/// `HOST:PORT` or `[ADDRESS]:PORT`.
#[must_use]
pub fn iperf3_command(host: &str, seconds: u64) -> Vec<String> {
    let (host, port) = split(host);
    let seconds = seconds.to_string();
    let mut words = vec!["iperf3", "-c", host, "-J", "-t", &seconds];
    if let Some(port) = port {
        words.extend(["-p", port]);
    }
    words.into_iter().map(str::to_owned).collect()
}

/// An IPv6 address has colons of its own: only in brackets can a port follow it.
fn split(host: &str) -> (&str, Option<&str>) {
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let inside = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((address, rest)) = inside {
        return (address, rest.strip_prefix(':').filter(|port| is_port(port)));
    }
    match host.split_once(':') {
        Some((name, port)) if is_port(port) => (name, Some(port)),
        _ => (host, None),
    }
}

/// The figures of iperf3's JSON; empty for other output.
pub(super) fn figures(text: &str) -> Result<Vec<Figure>, FigureError> {
    let documents = json::documents(text);
    let Some(report) = documents.iter().find(|json| is_report(json)) else {
        return Ok(Vec::new());
    };
    if let Some(words) = report.get("error").and_then(Value::as_str) {
        return Err(failed(words));
    }
    let end = report.get("end").unwrap_or(&Value::Null);
    let figures: Vec<_> = WAYS.iter().flat_map(|way| one_way(end, *way)).collect();
    if figures.is_empty() {
        return Err(failed("its JSON has no sums: it did not come to its end"));
    }
    Ok(figures)
}

/// Whether this is iperf3's JSON. A report with an error may have only `start` and the error.
fn is_report(json: &Value) -> bool {
    let start = json.get("start").and_then(|start| start.get("version"));
    let iperf = start.and_then(Value::as_str);
    iperf.is_some_and(|version| version.starts_with("iperf 3"))
        && (json.get("end").is_some() || json.get("error").is_some())
}

fn failed(words: &str) -> FigureError {
    FigureError::Program {
        program: "iperf3",
        words: super::error::shown(words),
    }
}

fn one_way(end: &Value, (theirs, ours): (&str, &str)) -> Vec<Figure> {
    let rate = received(end, theirs);
    let resent = at(end, &[&format!("sum_sent{theirs}"), "retransmits"]);
    // Only with UDP.
    let datagrams = |member: &str| at(end, &[&format!("sum{theirs}"), member]);
    let jitter = datagrams("jitter_ms").map(|milliseconds| milliseconds * 1e-3);
    let (speed, plain) = (Sense::Speed, Sense::Plain);
    let known = [
        (format!("throughput{ours}_bps"), "bit/s", speed, rate),
        (format!("iperf3{ours}_retransmits"), "", plain, resent),
        (
            format!("lost{ours}_percent"),
            "%",
            plain,
            datagrams("lost_percent"),
        ),
        (format!("jitter{ours}_s"), "s", plain, jitter),
    ];
    let figures = known
        .into_iter()
        .filter_map(|(name, unit, sense, value)| Some(Figure::new(&name, unit, sense, value?)));
    figures.collect()
}

/// Received bits per second. iperf3 before 3.7 has only one sum for UDP, that of the sender; the
/// received rate is the share that was not lost.
fn received(end: &Value, way: &str) -> Option<f64> {
    let rate = |sum: &str| at(end, &[&format!("{sum}{way}"), "bits_per_second"]);
    let lost = at(end, &[&format!("sum{way}"), "lost_percent"]).unwrap_or(0.0);
    let arrived = rate("sum_received");
    let sent = rate("sum").map(|sent| sent * (1.0 - lost / 100.0));
    arrived.or(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_told_from_an_address() {
        let of = |host| iperf3_command(host, 10).join(" ");
        assert_eq!(of("srv"), "iperf3 -c srv -J -t 10");
        assert_eq!(of("srv:5202"), "iperf3 -c srv -J -t 10 -p 5202");
        assert_eq!(of("2001:db8::1"), "iperf3 -c 2001:db8::1 -J -t 10");
        assert_eq!(
            of("[2001:db8::1]:5202"),
            "iperf3 -c 2001:db8::1 -J -t 10 -p 5202"
        );
        assert_eq!(of("[2001:db8::1]"), "iperf3 -c 2001:db8::1 -J -t 10");
    }
}
