//! Every scenario does what it says.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use coalescope_simulate::{Cause, Format, Outcome, Side, Story, run, stories, story};

fn outcome(name: &str) -> Outcome {
    run(&story(name).unwrap())
}

#[test]
fn every_story_conserves_bytes_and_closes() {
    for story_of in stories() {
        let scenario = story(story_of.name).unwrap();
        let outcome = run(&scenario);
        for connection in &outcome.truth.connections {
            assert!(connection.closed, "{}", story_of.name);
            for side in Side::BOTH {
                let sent: u64 = scenario
                    .turns
                    .iter()
                    .filter(|turn| turn.from != side)
                    .map(|turn| turn.bytes)
                    .sum();
                assert_eq!(
                    connection.toward[side.index()].bytes,
                    sent,
                    "{}",
                    story_of.name
                );
            }
        }
        agrees_with_table(story_of, &outcome);
    }
}

fn agrees_with_table(story: &Story, outcome: &Outcome) {
    let names: Vec<_> = outcome
        .points
        .iter()
        .map(|point| point.name.as_str())
        .collect();
    assert_eq!(names, story.points, "{}", story.name);
    assert_eq!(outcome.truth.cause, story.cause);
    assert_eq!(story.finding.is_none(), story.cause == Cause::Healthy);
    for (capture, truth) in outcome.points.iter().zip(&outcome.truth.points) {
        let flows: u64 = truth.flows.iter().flatten().map(|flow| flow.frames).sum();
        let copies = if truth.doubled { 2 } else { 1 };
        let frames = common::read(&capture.bytes);
        assert_eq!(
            frames.len() as u64,
            (flows + truth.icmp) * copies,
            "{}",
            story.name
        );
        assert!(frames.is_sorted_by_key(|frame| frame.at), "{}", story.name);
        assert_eq!(frames.len(), capture.frames());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for name in ["openstack-gro", "burst-loss", "reorder", "sniffer-drops"] {
        let (first, second) = (outcome(name), outcome(name));
        assert_eq!(first.truth, second.truth);
        assert_eq!(first.combined(), second.combined());
        let mut other = story(name).unwrap();
        other.seed += 1;
        assert_ne!(run(&other).combined(), first.combined());
    }
}

/// Pinned, since "identical on every platform" can't be seen on one.
#[test]
fn the_bytes_are_known() {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in outcome("hyperv-rsc-jumbo").combined() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    assert_eq!(
        format!("{hash:016x}"),
        include_str!("hyperv-rsc-jumbo.fnv").trim()
    );
}

#[test]
fn incidents_have_the_signature() {
    let pairs = [
        ("openstack-gro", "openstack-gro-fixed"),
        ("freebsd-bridge-lro", "freebsd-bridge-host"),
        ("ipvs-gro-vip", "ipvs-gro-direct"),
        ("hyperv-rsc-jumbo", "hyperv-rsc-1500"),
    ];
    for (slow, fast) in pairs {
        for seed in 1..=4 {
            has_signature(slow, fast, seed);
        }
    }
}

fn has_signature(slow: &str, fast: &str, seed: u64) {
    let [slow_run, fast_run] = [slow, fast].map(|name| {
        let mut scenario = story(name).unwrap();
        scenario.seed = seed;
        run(&scenario)
    });
    let [slow_rate, fast_rate] =
        [&slow_run, &fast_run].map(|run| run.truth.throughput_bps(Side::Client));
    assert!(
        fast_rate > 20.0 * slow_rate,
        "{slow} {seed}: {fast_rate} {slow_rate}"
    );
    for connection in &slow_run.truth.connections {
        let window = connection.effective_window(Side::Client).unwrap();
        assert!((0.5..4.0).contains(&window), "{slow} {seed}: {window}");
    }
}

#[test]
fn incidents_lose_merged_frames_only() {
    let hops = [
        ("openstack-gro", "UPLINK", "TAP"),
        ("openstack-gro-neighbour", "UPLINK", "TAP"),
        ("freebsd-bridge-lro", "NIC", "JAIL"),
        ("ipvs-gro-vip", "DIRECTOR-IN", "DIRECTOR-OUT"),
        ("hyperv-rsc-jumbo", "CAP-02", "VM-01"),
        ("frag-needed", "WAN", "LAN"),
    ];
    for (name, upstream, downstream) in hops {
        let truth = outcome(name).truth;
        let hop = truth.hop(upstream, downstream).unwrap();
        assert!(hop.merged.seen > 10, "{name}");
        assert_eq!(hop.merged.lost, hop.merged.seen, "{name}");
        assert_eq!(hop.single.arrived, hop.single.seen, "{name}");
    }
}

/// Where merged frames and single segments meet the same loss, a merged frame is never lost
/// because it's merged: what is missing of it are segments.
#[test]
fn innocent_scenarios_do_not_lose_merged_frames_for_being_merged() {
    for story_of in stories()
        .iter()
        .filter(|story| story.cause != Cause::MergedFramesLost)
    {
        if story_of.cause == Cause::MergedFramesLostUnnoticed {
            continue;
        }
        for hop in outcome(story_of.name).truth.hops {
            let lossless = hop.single.lost == 0 && hop.merged.partly_lost == 0;
            assert!(
                !lossless || hop.merged.lost == 0,
                "{}: {hop:?}",
                story_of.name
            );
            assert!(
                hop.merged.lost * 3 <= hop.merged.seen,
                "{}: {hop:?}",
                story_of.name
            );
        }
    }
}

#[test]
fn a_hop_accounts_for_every_frame() {
    for story_of in stories() {
        for hop in outcome(story_of.name).truth.hops {
            let (merged, single) = (hop.merged, hop.single);
            let outcomes = [
                merged.arrived,
                merged.lost,
                merged.partly_lost,
                merged.resplit,
                merged.fragmented,
            ];
            assert_eq!(outcomes.iter().sum::<u64>(), merged.seen);
            let outcomes = [
                single.arrived,
                single.lost,
                single.merged_further,
                single.fragmented,
            ];
            assert_eq!(outcomes.iter().sum::<u64>(), single.seen);
        }
    }
}

#[test]
fn the_picture_of_story_d() {
    let lengths = |name: &str| {
        let frames = common::read(&outcome(name).point("CLIENT").unwrap().bytes);
        frames
            .iter()
            .map(|frame| frame.original)
            .collect::<Vec<_>>()
    };
    let direct = lengths("ipvs-gro-direct");
    let large = direct.iter().filter(|len| **len > 7_000).count();
    assert!((8..=13).contains(&large), "{direct:?}");
    let vip = lengths("ipvs-gro-vip");
    assert!(vip.iter().all(|len| *len <= 1514));
    assert!(vip.iter().filter(|len| **len > 1000).count() > 60);
}

#[test]
fn the_frames_of_story_e() {
    let outcome = outcome("hyperv-rsc-jumbo");
    let lengths = |name: &str| {
        let frames = common::read(&outcome.point(name).unwrap().bytes);
        frames
            .iter()
            .map(|frame| frame.original)
            .collect::<Vec<_>>()
    };
    assert!(lengths("CAP-01").iter().all(|len| *len <= 1474));
    assert!(lengths("CAP-02").contains(&2882));
    assert!(lengths("VM-01").iter().all(|len| *len <= 1474));
}

/// Sequence numbers relative to the first byte's, which is 1, and frame lengths of data frames.
fn data_frames(outcome: &Outcome, point: &str) -> Vec<(u32, u32)> {
    let frames = common::read(&outcome.point(point).unwrap().bytes);
    let down = frames.iter().filter(|frame| frame.bytes[5] == 1);
    let seq = |bytes: &[u8]| u32::from_be_bytes(bytes[38..42].try_into().unwrap());
    let syn = down.clone().find(|frame| frame.bytes[47] & 2 != 0).unwrap();
    let base = seq(&syn.bytes);
    let data = down.filter(|frame| frame.original > 74);
    data.map(|frame| (seq(&frame.bytes).wrapping_sub(base), frame.original))
        .collect()
}

/// The operator's own numbers, as `crates/incident/incidents/hyperv-rsc-jumbo.yaml` has them.
#[test]
fn the_first_frames_of_story_e() {
    let outcome = outcome("hyperv-rsc-jumbo");
    assert_eq!(
        data_frames(&outcome, "CAP-02")[..2],
        [(1, 1474), (1409, 2882)]
    );
    let guest = data_frames(&outcome, "VM-01");
    assert_eq!(guest[..3], [(1, 1474), (16897, 1474), (1409, 1474)]);
}

#[test]
fn the_rest_shows_what_it_is_named_for() {
    let client =
        |name: &str, point: &str| outcome(name).truth.point(point).unwrap().flows[0].clone();
    assert!(client("zero-window", "CLIENT")[1].zero_windows > 3);
    assert!(client("reorder", "CLIENT")[0].out_of_order_frames > 100);
    assert_eq!(client("loopback", "LO")[0].segment_size, 65_483);
    assert_eq!(client("jumbo", "FAR")[0].segment_size, 8_948);
    assert!(client("tso-sender", "SENDER")[0].tso_frames > 100);
    assert!(client("healthy-gro", "CLIENT")[0].merged_frames > 100);
    assert!(outcome("frag-needed").truth.point("WAN").unwrap().icmp > 10);
    let missed = outcome("sniffer-drops").truth;
    let hop = missed.hop("UPLINK", "VM").unwrap();
    assert!(hop.missed_downstream > 20 && hop.merged.lost == 0 && hop.single.lost == 0);
    for (name, limit) in [("rate-limit", 5.1e6), ("policer", 5.3e6)] {
        assert!(
            outcome(name).truth.throughput_bps(Side::Client) < limit,
            "{name}"
        );
    }
}

#[test]
fn a_point_has_a_clock_of_its_own() {
    let run = outcome("clock-offset");
    let first = |name: &str| common::read(&run.point(name).unwrap().bytes)[0].at;
    let ahead = first("WIRE") - first("CLIENT");
    assert!((37_000_000_000..37_000_100_000).contains(&ahead), "{ahead}");
}

#[test]
fn formats_hold_the_same_frames() {
    let mut scenario = story("upload").unwrap();
    scenario.point_mut("CLIENT").unwrap().own = Some(Side::Client);
    let mut files = Vec::new();
    for (nanos, big_endian) in [(false, false), (false, true), (true, false), (true, true)] {
        scenario.point_mut("CLIENT").unwrap().format = Format::Pcap { nanos, big_endian };
        files.push(common::read(&run(&scenario).points[0].bytes));
    }
    scenario.point_mut("CLIENT").unwrap().format = Format::Pcapng;
    let outcome = run(&scenario);
    files.push(common::read(&outcome.points[0].bytes));
    assert_eq!(files[0], files[1]);
    assert_eq!(files[2], files[3]);
    let (nanos, ng) = (&files[2], &files[4]);
    assert!(
        nanos
            .iter()
            .zip(ng)
            .all(|(left, right)| left.at == right.at && left.bytes == right.bytes)
    );
    assert_eq!((ng[0].flags, ng[1].flags), (Some(2), Some(1)));
    let combined = common::read(&outcome.combined());
    assert_eq!(
        combined.len(),
        outcome
            .points
            .iter()
            .map(coalescope_simulate::PointCapture::frames)
            .sum::<usize>()
    );
    assert!(combined.iter().any(|frame| frame.interface == 1));
}
