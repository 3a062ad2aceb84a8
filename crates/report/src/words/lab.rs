//! Words for incidents of the lab.

use coalescope_incident::{LabAgreement, LabControl, LabRow};

use super::units::{UNKNOWN, counted, figure, seconds, three_digits};
use crate::lab::{LabIncident, LabReport};

pub(crate) fn verdict(report: &LabReport) -> String {
    if report.ran_nothing() {
        let skipped = counted(report.skipped.len() as u64, "incident");
        return format!("Nothing could be run on this machine: {skipped} skipped.");
    }
    let all = report.incidents.len();
    let problems = report.incidents.iter();
    let wrong = problems.filter(|one| !one.problems.is_empty()).count();
    let besides = |n: usize, what: &str| match n {
        0 => String::new(),
        n => format!("; {n} {what}"),
    };
    let failed = besides(report.failed.len(), "broke off");
    let skipped = besides(report.skipped.len(), "skipped") + &failed;
    let all = counted(all as u64, "incident");
    match (report.incidents.len(), wrong) {
        (0, _) => format!("No incident was run{skipped}."),
        (1, 0) => format!("1 incident, as expected{skipped}."),
        (_, 0) => format!("{all}, all as expected{skipped}."),
        _ => format!("{all}, {wrong} not as expected{skipped}."),
    }
}

pub(crate) fn chain_row(one: &LabIncident) -> [String; CHAIN.len()] {
    let word = |is: bool, word: &str| if is { word } else { UNKNOWN }.to_owned();
    [
        one.name.clone(),
        one.kind.word().to_owned(),
        word(one.suspected, "suspected"),
        word(one.watched == Some(true), "observed"),
        word(one.observed, "observed"),
        word(one.proven, "proven"),
        word(one.fixed, "fixed"),
        word(one.undone, "undone"),
        seconds(one.took_s),
    ]
}

/// Heads of measured and published figures.
pub(crate) const MEASURED: [&str; 8] = [
    "incident",
    "slow",
    "fast",
    "ratio",
    "window",
    "published\nslow",
    "published\nfast",
    "published\nratio",
];

/// The row under these heads.
pub(crate) fn measured_row(one: &LabIncident) -> [String; 8] {
    let unknown = || UNKNOWN.to_owned();
    let bits = |bps: Option<f64>| bps.map_or_else(unknown, |bps| figure(bps, Some("bit/s")));
    let number = |value: Option<f64>| value.map_or_else(unknown, three_digits);
    [
        one.name.clone(),
        bits(Some(one.slow_bps)),
        bits(Some(one.fast_bps)),
        three_digits(one.ratio),
        three_digits(one.effective_window_segments),
        bits(one.published.slow_bps),
        bits(one.published.fast_bps),
        number(one.published.ratio),
    ]
}

/// Heads of the chain's results.
pub(crate) const CHAIN: [&str; 9] = [
    "incident", "merging", "check", "watch", "trace", "ab", "fix", "undo", "took",
];

/// A control, in one line.
pub(crate) fn control(control: &LabControl) -> String {
    let took = control.took_s.map(|took| format!(", {}", seconds(took)));
    let frames = control
        .data_frames
        .map(|frames| format!(", {}", counted(frames, "data frame")));
    format!(
        "{}: {}{}{} ({} segments a round trip): {}",
        control.name,
        figure(control.bps, Some("bit/s")),
        took.unwrap_or_default(),
        frames.unwrap_or_default(),
        three_digits(control.effective_window_segments),
        control.title
    )
}

/// What the columns of an incident's table are.
pub(crate) const ROWS: &str = "us/KB: CPU time of the whole machine, both ends together, for what the sender's and the \
     receiver's interface carried; ACK/seg: ACKs sent for each segment of data; merged: segments a frame";

/// Heads of an incident's table: its levels, and the figures.
pub(crate) fn row_heads(row: &LabRow) -> Vec<&str> {
    let figures = [
        "here",
        "us/KB out",
        "us/KB in",
        "ACK/seg",
        "merged",
        "published",
        "us/KB",
    ];
    row.levels
        .keys()
        .map(String::as_str)
        .chain(figures)
        .collect()
}

/// The row under these heads.
pub(crate) fn row(row: &LabRow) -> Vec<String> {
    let unknown = || UNKNOWN.to_owned();
    let number = |value: Option<f64>| value.map_or_else(unknown, three_digits);
    let bits = |bps: Option<f64>| bps.map_or_else(unknown, |bps| figure(bps, Some("bit/s")));
    let published = row.published;
    let figures = [
        bits(Some(row.bps)),
        number(row.sender_us_per_kb),
        number(row.receiver_us_per_kb),
        number(row.acks_per_segment),
        number(row.merge_factor),
        bits(published.map(|one| one.bps)),
        number(published.and_then(|one| one.service_demand_us_per_kb)),
    ];
    row.levels.values().cloned().chain(figures).collect()
}

/// The published and the measured effect of a change.
pub(crate) fn agreement(one: &LabAgreement) -> String {
    format!(
        "{}: {} is {} times as much as published, {} here: {}",
        one.change,
        one.figure,
        three_digits(one.published_ratio),
        three_digits(one.measured_ratio),
        if one.agrees { "alike" } else { "not alike" }
    )
}
