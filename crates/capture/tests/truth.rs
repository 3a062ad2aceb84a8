//! Every simulated story against its ground truth.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use coalescope_capture::facts::{Direction, Trace};
use coalescope_simulate::{FlowTruth, Outcome, Side, stories, story};
use common::traced;

fn compare(name: &str, what: &str, got: u64, want: u64, tolerance: u64, bad: &mut Vec<String>) {
    if got.abs_diff(want) > tolerance {
        bad.push(format!("{name}: {what}: got {got}, truth {want}"));
    }
}

fn check_direction(name: &str, got: &Direction, want: &FlowTruth, bad: &mut Vec<String>) {
    let mut check = |what, got, want, tolerance| compare(name, what, got, want, tolerance, bad);
    check("frames", got.frames, want.frames, 0);
    check("data frames", got.data_frames, want.data_frames, 0);
    check("payload bytes", got.payload_bytes, want.payload_bytes, 0);
    check("unique bytes", got.unique_bytes, want.unique_bytes, 0);
    check("merged frames", got.merged_frames, want.merged_frames, 0);
    check("tso frames", got.tso_frames, want.tso_frames, 0);
    check(
        "retransmitted",
        got.retransmitted_frames,
        want.retransmitted_frames,
        0,
    );
    check(
        "retransmitted bytes",
        got.retransmitted_bytes,
        want.retransmitted_bytes,
        0,
    );
    check(
        "out of order",
        got.out_of_order_frames,
        want.out_of_order_frames,
        0,
    );
    check("pure acks", got.acks, want.pure_acks, 0);
    check("zero windows", got.zero_windows, want.zero_windows, 0);
}

fn check_points(name: &str, trace: &Trace, outcome: &Outcome, bad: &mut Vec<String>) {
    for (point, truth) in trace.points.iter().zip(&outcome.truth.points) {
        let label = format!("{name} {}", point.name);
        compare(
            &label,
            "connections",
            point.connections.len() as u64,
            truth.flows.len() as u64,
            0,
            bad,
        );
        for (connection, flows) in point.connections.iter().zip(&truth.flows) {
            let to_client = format!("{label} to_client");
            check_direction(
                &to_client,
                &connection.to_client,
                &flows[Side::Client.index()],
                bad,
            );
            let to_server = format!("{label} to_server");
            check_direction(
                &to_server,
                &connection.to_server,
                &flows[Side::Server.index()],
                bad,
            );
        }
    }
}

fn check_hops(name: &str, trace: &Trace, outcome: &Outcome, bad: &mut Vec<String>) {
    for truth in &outcome.truth.hops {
        // Without delay and loss nothing in the captures tells which of two points comes first.
        let lost = truth.merged.lost + truth.merged.partly_lost + truth.single.lost;
        if truth.merged.seen + truth.single.seen < 10 || lost == 0 && ONE_PLACE.contains(&name) {
            continue;
        }
        let label = format!("{name} {} -> {}", truth.upstream, truth.downstream);
        let found = trace
            .hops
            .iter()
            .find(|h| h.from == truth.upstream && h.to == truth.downstream);
        let Some(hop) = found else {
            bad.push(format!("{label}: no such hop"));
            continue;
        };
        let multi =
            |f: fn(&coalescope_capture::facts::Outcomes) -> u64| f(&hop.merged) + f(&hop.tso);
        let mut check =
            |what, got, want, tolerance| compare(&label, what, got, want, tolerance, bad);
        check("merged seen", multi(|o| o.seen), truth.merged.seen, 0);
        check("merged lost", multi(|o| o.lost), truth.merged.lost, 1);
        check(
            "merged arrived",
            multi(|o| o.arrived + o.merged_further + o.missed),
            truth.merged.arrived,
            1,
        );
        check(
            "merged resplit",
            multi(|o| o.resplit),
            truth.merged.resplit,
            1,
        );
        check(
            "merged partly lost",
            multi(|o| o.partly_lost),
            truth.merged.partly_lost,
            1,
        );
        check("single seen", hop.single.seen, truth.single.seen, 0);
        check("single lost", hop.single.lost, truth.single.lost, 1);
        if truth.merged.seen == 0 {
            check("missed", hop.single.missed, truth.missed_downstream, 2);
        }
    }
}

/// Stories whose points see each frame at the same instant.
const ONE_PLACE: [&str; 4] = ["openstack-gro-fixed", "freebsd-bridge-host", "nat", "vxlan"];

#[test]
fn every_story() {
    let mut bad = Vec::new();
    let only = std::env::var("STORY").ok();
    for entry in stories()
        .iter()
        .filter(|s| only.as_deref().is_none_or(|only| only == s.name))
    {
        let scenario = story(entry.name).unwrap();
        let (trace, outcome) = traced(&scenario);
        check_points(entry.name, &trace, &outcome, &mut bad);
        check_hops(entry.name, &trace, &outcome, &mut bad);
    }
    assert!(
        bad.is_empty(),
        "{} differences:\n{}",
        bad.len(),
        bad.join("\n")
    );
}
