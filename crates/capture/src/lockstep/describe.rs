//! The facts of a point, once everything was read.

use crate::facts::trace::{self, Trace};
use crate::kept::Connections;
use crate::point::{Point, Summed, Totals};
use crate::reader::End;
use crate::summary::seconds;

/// Warns that the points were given in an order other than that of the path.
pub(super) fn warn_of_order(trace: &mut Trace) {
    let names: Vec<_> = trace
        .points
        .iter()
        .map(|point| point.name.as_str())
        .collect();
    let warning = format!(
        "the points do not lie on the path in the order in which they were given: taken as {}",
        names.join(", ")
    );
    if let Some(first) = trace.points.first_mut() {
        first.warnings.push(warning);
    }
}

/// The facts of a point.
pub(super) fn describe(name: String, point: Point, end: &End, datagrams: usize) -> trace::Point {
    let (totals, connections) = point.finish();
    let incomplete = incomplete(end, datagrams);
    described(name, &totals, connections, end, incomplete)
}

/// The facts of a single point, whose totals and connections are known.
pub(crate) fn alone(name: &str, totals: &Totals, connections: Connections, end: &End) -> Trace {
    let name = name.to_owned();
    let point = described(name, totals, connections, end, incomplete(end, 0));
    Trace {
        points: vec![point],
        ..Trace::default()
    }
}

/// Datagrams of a point that never became whole.
fn incomplete(end: &End, point: usize) -> u64 {
    let known = end.incomplete_datagrams.get(point);
    known.copied().unwrap_or(0)
}

fn described(
    name: String,
    totals: &Totals,
    connections: Connections,
    end: &End,
    incomplete: u64,
) -> trace::Point {
    let mut warnings = end.warnings.clone();
    warnings.extend(totals_warnings(totals, incomplete));
    trace::Point {
        name,
        files: end.files.clone(),
        link_types: totals.links.iter().cloned().collect(),
        frames: totals.frames,
        bytes: totals.bytes,
        tcp_frames: totals.tcp_frames,
        udp_bytes: totals.udp_bytes,
        first_s: totals.span_ns().map(|(first, _)| seconds(first)),
        last_s: totals.span_ns().map(|(_, last)| seconds(last)),
        unreadable_bytes: end.unreadable_bytes,
        unparsed_frames: totals.unparsed,
        doubled_frames: totals.doubled,
        warnings,
        connections,
    }
}

fn summed_up(summed: &Summed) -> String {
    let Summed {
        connections,
        frames,
        payload_bytes,
        retransmitted,
    } = summed;
    format!(
        "there are more connections than --max-connections or --max-memory allow: the oldest {connections} of those that had \
         ended or had no answer are in this sum alone: {frames} frames, {payload_bytes} payload \
         bytes, {retransmitted} retransmissions"
    )
}

/// Warns if most of the traffic is UDP: the findings are about TCP.
fn mostly_udp(totals: &Totals) -> Option<String> {
    let percent = totals.udp_bytes as f64 * 100.0 / totals.bytes.max(1) as f64;
    (percent >= 50.0).then(|| {
        format!(
            "{percent:.0}% of the bytes are UDP (QUIC is UDP, too), of which coalescope judges only whether merged datagrams \
             are lost from one point to the next: all else that is said here is about TCP"
        )
    })
}

fn totals_warnings(totals: &Totals, incomplete: u64) -> Vec<String> {
    let mut warnings: Vec<String> = mostly_udp(totals).into_iter().collect();
    let mut warn = |n: u64, what: &str| {
        if n > 0 {
            warnings.push(format!("{n} {what}"));
        }
    };
    warn(
        totals.unparsed,
        "frames have damaged headers, or too little of them was captured",
    );
    warn(
        totals.unknown_link,
        "frames are of a link type that coalescope does not read",
    );
    warn(incomplete, "IP datagrams lack fragments and were left out");
    warn(
        totals.doubled,
        "frames were captured twice; the copies were left out",
    );
    warn(
        totals.datagrams_forgotten,
        "UDP datagrams came later than can be remembered, and are not looked for at the next point",
    );
    if totals.summed.connections > 0 {
        warnings.push(summed_up(&totals.summed));
    }
    warnings
}
