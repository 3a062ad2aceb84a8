use super::*;
use crate::finding::Proof;
use coalescope_watch::facts::{Compared, Flow, Frames, Queued, Received, Sent};

/// A router that got 1,000 frames, 300 of them merged, and dropped some.
pub(super) fn router(merged: u64, single: u64, reason: &str, apart_s: f64) -> Watched {
    let received = Received {
        frames: 1000,
        segments: 4000,
        merged_frames: 300,
        ..Received::default()
    };
    let frames = Frames {
        received,
        ..Frames::default()
    };
    let sample = |unix_s| Sample {
        unix_s,
        flow: Some(Flow {
            protocol: "tcp".to_owned(),
            source: "10.0.0.1".to_owned(),
            ..Flow::default()
        }),
        ..Sample::default()
    };
    Watched {
        took_s: 10.0,
        interfaces: vec![Interface {
            name: "eth0".to_owned(),
            frames: Some(frames),
            ..Interface::default()
        }],
        drops: vec![Drop {
            interface: Some("eth0".to_owned()),
            from: Some("eth0".to_owned()),
            reason: Some(reason.to_owned()),
            location: Some("nft_do_chain".to_owned()),
            merged_frames: merged,
            single_frames: single,
            samples: vec![sample(1.0), sample(1.0 + apart_s)],
            ..Drop::default()
        }],
        ..Watched::default()
    }
}

fn ids(watched: &Watched) -> Vec<String> {
    let findings = judge_watched(watched).into_iter();
    findings.map(|finding| finding.id).collect()
}

#[test]
fn merged_frames_that_die_where_single_ones_pass_are_found() {
    let found = judge_watched(&router(200, 0, "NETFILTER_DROP", 2.0));
    assert_eq!(found[0].id, MERGED_FRAMES_DROPPED);
    assert_eq!(found[0].proof, Proof::Observed);
    assert_eq!(found[0].interface.as_deref(), Some("eth0"));
    let mut lro = found[0].remedies.iter().flat_map(|remedy| &remedy.settings);
    assert!(lro.any(|one| one.to_string() == "eth0:lro=off"));
}

/// An experiment and remedies in another namespace name it; where an interface has no name any more there are none.
#[test]
fn ways_lead_into_the_namespace_of_the_interface() {
    let of = |name: &str| {
        let mut watched = router(200, 0, "PKT_TOO_BIG", 2.0);
        watched.interfaces[0].name = name.to_owned();
        watched.drops[0].interface = Some(name.to_owned());
        watched.drops[0].from = Some(name.to_owned());
        let found = judge_watched(&watched).remove(0);
        let commands = found.remedies.into_iter().map(|one| one.command);
        let experiment = found.experiment.map(|one| one.to_string());
        (experiment.unwrap_or_default(), commands.collect::<Vec<_>>())
    };
    let (experiment, commands) = of("ns/blue/eth0");
    assert!(
        experiment.contains("--set ns/blue/eth0:gro=off"),
        "{experiment}"
    );
    let off = "ip netns exec blue ethtool -K eth0 gro off";
    assert!(commands.iter().any(|one| one == off), "{commands:?}");
    for gone in ["#3", "ns/#4026532301/#2", "ns/blue/#2"] {
        let (experiment, commands) = of(gone);
        assert_eq!(experiment, "", "{gone}");
        let is_switched = commands.iter().any(|one| one.contains("ethtool -K #"));
        assert!(!is_switched, "{commands:?}");
    }
}

/// Roles of the interface, how many of 300 merged frames die, and whether merging is to go off.
#[test]
fn merging_goes_off_where_frames_are_handed_on_and_most_die() {
    let cases = [
        (&["forwarder"][..], 200, true),
        (&["endpoint", "bridge-port"], 200, true),
        (&[], 200, true),
        (&["endpoint"], 200, false),
        (&["forwarder"], 100, false),
    ];
    for (roles, merged, goes_off) in cases {
        let mut watched = router(merged, 0, "NETFILTER_DROP", 2.0);
        watched.drops[0].compared = of_flows([merged, merged, 0, 90]).drops[0].compared;
        let interface = &mut watched.interfaces[0];
        interface.roles = roles.iter().map(|role| (*role).to_owned()).collect();
        interface.offloads_on = Some(vec!["gro".to_owned()]);
        let found = judge_watched(&watched);
        let remedies = found[0].remedies.iter();
        let settings: Vec<String> = remedies
            .flat_map(|one| one.settings.iter().map(ToString::to_string))
            .collect();
        let expected: &[&str] = match goes_off {
            true => &["eth0:gro=off", "eth0:gro=on"],
            false => &[],
        };
        assert_eq!(settings, expected, "{roles:?}, {merged}");
        let rule = &found[0].remedies[0].command;
        assert!(rule.starts_with("nft list ruleset"), "{rule}");
    }
}

#[test]
fn over_a_virtual_wire_the_sender_is_named() {
    let mut watched = router(200, 0, "NETFILTER_DROP", 2.0);
    watched.interfaces[0].kind = Some("veth".to_owned());
    let found = judge_watched(&watched);
    let mut remedies = found[0].remedies.iter();
    assert!(remedies.any(|one| one.command.contains("the other end of this veth")));
}

/// Frames without a segment size, which GRO has not made: GRO stays on, and no experiment asks about it.
#[test]
fn what_has_no_segment_size_was_not_merged_by_gro() {
    let cases: [(Option<&str>, &[&str]); 3] = [
        (Some("tun"), &[]),
        (Some("veth"), &[]),
        (
            None,
            &[
                "eth0:lro=off",
                "eth0:rx-gro-hw=off",
                "eth0:rx-gro-hw=on",
                "eth0:lro=on",
            ],
        ),
    ];
    for (kind, expected) in cases {
        let mut watched = router(0, 0, "PKT_TOO_BIG", 2.0);
        watched.interfaces[0].kind = kind.map(str::to_owned);
        watched.drops[0].long_frames = 200;
        let found = judge_watched(&watched).remove(0);
        let settings = found.remedies.iter().flat_map(|one| &one.settings);
        let settings: Vec<_> = settings.map(ToString::to_string).collect();
        assert_eq!(settings, expected, "{kind:?}");
        assert_eq!(found.experiment.is_some(), kind.is_none());
        let sender = found
            .remedies
            .iter()
            .any(|one| one.command.contains("switch TSO off where they are sent"));
        assert_eq!(sender, kind.is_some(), "{:?}", found.remedies);
        assert_eq!(found.cost.is_some(), kind.is_none());
    }
}

#[test]
fn what_almost_looks_so_is_not_accused() {
    let almost = [
        ("too few", router(4, 0, "NETFILTER_DROP", 2.0)),
        (
            "single ones die as well",
            router(60, 200, "NETFILTER_DROP", 2.0),
        ),
        ("a full queue", router(200, 0, "QDISC_DROP", 2.0)),
        (
            "over in a round trip, as when a path's MTU is found",
            router(200, 0, "PKT_TOO_BIG", 0.2),
        ),
    ];
    for (why, watched) in almost {
        assert_eq!(ids(&watched), [""; 0], "{why}");
    }
}

/// What became of the flows whose merged frames died again and again: merged ones that died, of so many, and single ones.
fn of_flows(counts: [u64; 4]) -> Watched {
    let mut watched = router(200, 0, "NETFILTER_DROP", 2.0);
    let [merged_died, merged_frames, single_died, single_frames] = counts;
    watched.drops[0].compared = Some(Compared {
        flows: 1,
        merged_frames,
        merged_died,
        single_frames,
        single_died,
    });
    watched
}

/// 200 of the 300 merged frames of the interface die and none of its 700 single ones, which are of others.
#[test]
fn merged_and_single_frames_are_those_of_the_same_flows() {
    let found = judge_watched(&of_flows([200, 200, 0, 90])).remove(0);
    assert_eq!(found.id, MERGED_FRAMES_DROPPED);
    assert!(
        found.title.starts_with("200 of 300 (67%)"),
        "{}",
        found.title
    );
    let words =
        "of one connection: 200 of 200 (100%) merged frames died, against 0 of 90 (0%) single";
    let text = &found.evidence[0].text;
    assert!(text.starts_with(words), "{text}");
    let almost = [
        (
            "a rule drops one frame in ten of a flow, of any shape",
            [20, 200, 9, 90],
        ),
        (
            "a rule drops all frames of a flow, which are all merged",
            [200, 200, 0, 0],
        ),
        ("no flow goes on", [0; 4]),
    ];
    for (why, counts) in almost {
        assert_eq!(ids(&of_flows(counts)), [""; 0], "{why}");
    }
}

/// Of 1,066 merged frames of a flow a limit of nftables drops 157, of any length, and hardly a single one: its bucket is never empty
/// enough for these. A rule that asks for a length drops all beyond.
#[test]
fn a_rate_limit_drops_some_of_any_length() {
    let judged = |segments: [u32; 3], looked: usize| {
        let mut watched = of_flows([157, 1_066, 1, 224]);
        let received = &mut watched.interfaces[0].frames.as_mut().unwrap().received;
        (received.frames, received.merged_frames) = (1_400, 1_164);
        received.segments = 236 + 157 * 7 + 1_007 * 3;
        let drop = &mut watched.drops[0];
        (drop.merged_frames, drop.merged_segments) = (157, 157 * 7);
        let first = drop.samples[0].clone();
        let samples = (0..looked).map(|at| Sample {
            segments: segments[at % 3],
            ..first.clone()
        });
        drop.samples = samples.collect();
        ids(&watched)
    };
    assert_eq!(judged([2, 7, 12], 14), [""; 0]);
    assert_eq!(judged([4, 7, 12], 14), [""; 0]);
    assert_eq!(judged([7, 8, 12], 14), [MERGED_FRAMES_DROPPED]);
    assert_eq!(judged([7, 8, 12], 7), [""; 0], "too few");
}

/// Nearly all of a flow's frames, whatever their length.
#[test]
fn a_share_that_a_policer_leaves_accuses_nobody() {
    let died = |merged| ids(&of_flows([merged, 200, 0, 90])).len();
    let all: Vec<usize> = [200, 190, 161, 159, 100, 20].map(died).to_vec();
    assert_eq!(all, [1, 1, 1, 0, 0, 0]);
}

/// What a page draws is what is judged.
#[test]
fn where_flows_were_not_followed_all_frames_of_the_interface_are_compared() {
    let shown = |watched: &Watched| {
        let of = beside_single(&watched.drops[0], watched).unwrap();
        let single = (of.single_died, of.single_frames);
        (of.flows, (of.merged_died, of.merged_frames), single)
    };
    let followed = of_flows([20, 200, 9, 90]);
    assert_eq!(shown(&followed), (1, (20, 200), (9, 90)));
    let unknown = router(200, 0, "NETFILTER_DROP", 2.0);
    assert_eq!(shown(&unknown), (0, (200, 300), (0, 700)));
}

#[test]
fn a_flow_of_datagrams_that_a_rule_drops_is_not_accused() {
    let mut watched = router(200, 0, "NETFILTER_DROP", 2.0);
    for sample in &mut watched.drops[0].samples {
        sample.flow.as_mut().unwrap().protocol = "udp".to_owned();
    }
    assert_eq!(
        ids(&watched),
        [""; 0],
        "whoever sends datagrams repeats nothing"
    );
}

#[test]
fn an_interface_that_was_made_anew_is_counted_with_the_one_before() {
    let mut watched = router(200, 0, "NETFILTER_DROP", 2.0);
    let mut before = watched.interfaces[0].clone();
    let received = &mut before.frames.as_mut().unwrap().received;
    (received.frames, received.merged_frames) = (9, 3);
    watched.interfaces.insert(0, before);
    let found = judge_watched(&watched);
    assert!(
        found[0].title.starts_with("200 of 303"),
        "{}",
        found[0].title
    );
}

#[test]
fn numbers_of_strangers_are_judged_without_a_panic() {
    let mut watched = of_flows([u64::MAX; 4]);
    let drop = &mut watched.drops[0];
    (drop.merged_frames, drop.long_frames, drop.single_frames) = (u64::MAX, u64::MAX, u64::MAX);
    let received = &mut watched.interfaces[0].frames.as_mut().unwrap().received;
    (
        received.merged_frames,
        received.long_frames,
        received.frames,
    ) = (u64::MAX, u64::MAX, u64::MAX);
    assert_eq!(ids(&watched), [""; 0]);
    watched.drops[0].compared = None;
    watched.drops[0].single_frames = 0;
    let _ = judge_watched(&watched);
}

#[test]
fn a_handful_of_merged_frames_in_a_second_is_the_least_that_tells_anything() {
    let seen = |merged, died, took_s| {
        let mut watched = router(died, 0, "QDISC_DROP", 2.0);
        (watched.level, watched.took_s) = (Level::Bpf, took_s);
        let frames = watched.interfaces[0].frames.as_mut().unwrap();
        frames.received.merged_frames = merged;
        watched
    };
    assert!(saw_enough(&seen(HANDFUL, 0, 0.2)));
    assert!(saw_enough(&seen(HANDFUL, 1, 1.0)));
    assert!(!saw_enough(&seen(0, 0, 10.0)), "an idle machine");
    assert!(!saw_enough(&seen(HANDFUL - 1, 0, 10.0)));
    assert!(!saw_enough(&seen(100, 1, 0.9)), "too short");
    let mut lost = seen(100, 0, 10.0);
    lost.lost.drops = 1;
    assert!(!saw_enough(&lost), "counted nowhere");
    lost.lost = Default::default();
    lost.level = Level::Counters;
    assert!(!saw_enough(&lost));
    let flow = |single| {
        let mut watched = of_flows([200, 200, 0, single]);
        watched.level = Level::Bpf;
        saw_enough(&watched)
    };
    assert_eq!(
        [0, 1].map(flow),
        [false, true],
        "no single frame could have passed"
    );
}

#[test]
fn a_chance_of_one_place_in_many_is_no_finding() {
    let mut watched = router(0, 0, "NETFILTER_DROP", 2.0);
    let mut drop = watched.drops[0].clone();
    (drop.merged_frames, drop.single_frames) = (6, 4);
    watched.drops = vec![drop.clone()];
    let alone = judge_watched(&watched).len();
    watched.drops = vec![drop; 1000];
    assert_eq!((alone, judge_watched(&watched).len()), (0, 0));
}

fn sender(cut: u64, merged: u64) -> Watched {
    let mut watched = router(0, 0, "", 0.0);
    watched.interfaces[0].frames = Some(Frames {
        queued: Queued {
            merged_frames: merged,
            ..Queued::default()
        },
        sent: Sent {
            cut_frames: cut,
            ..Sent::default()
        },
        ..Frames::default()
    });
    watched
}

#[test]
fn cutting_is_found_where_it_is_much_and_most() {
    assert_eq!(ids(&sender(10_000, 10_000)), [SEGMENTED_IN_SOFTWARE]);
    assert_eq!(ids(&sender(9_999, 9_999)), [""; 0], "fewer each second");
    assert_eq!(ids(&sender(10_000, 20_001)), [""; 0], "most are not cut");
}

/// Two seconds of a processor in ten, where the kernel tells.
#[test]
fn what_cutting_costs_is_told_where_it_was_timed() {
    let costs = |cut_ns| {
        let mut watched = sender(10_000, 10_000);
        watched.took_s = 10.0;
        let frames = watched.interfaces[0].frames.as_mut().unwrap();
        frames.sent.cut_ns = cut_ns;
        let findings = judge_watched(&watched);
        findings[0].evidence[0].text.clone()
    };
    let words = "10000 of 10000 (100%) merged frames were cut, 1000 each second";
    assert_eq!(costs(None), words);
    let timed = format!("{words}; cutting took 20.0% of a processor's time");
    assert_eq!(costs(Some(2_000_000_000)), timed);
}

fn card(bytes: u64, segments: u64, speed_bps: u64) -> Watched {
    let mut watched = router(0, 0, "", 0.0);
    let interface = &mut watched.interfaces[0];
    interface.driver = Some("ice".to_owned());
    interface.speed_bps = Some(speed_bps);
    interface.frames = Some(Frames {
        received: Received {
            frames: 100_000,
            bytes,
            looked_tcp_frames: 100,
            looked_tcp_segments: segments,
            ..Received::default()
        },
        ..Frames::default()
    });
    watched
}

#[test]
fn a_fast_card_that_does_not_merge_under_load_is_found() {
    let (ten, load) = (10_000_000_000, 625_000_000);
    assert_eq!(ids(&card(load, 100, ten)), [NOT_MERGING]);
    assert_eq!(ids(&card(load, 150, ten)), [""; 0], "it merges a little");
    assert_eq!(ids(&card(load - 1, 100, ten)), [""; 0], "hardly any load");
    assert_eq!(ids(&card(load, 100, ten - 1)), [""; 0], "a slower link");
    let mut veth = card(load, 100, ten);
    veth.interfaces[0].kind = Some("veth".to_owned());
    assert_eq!(ids(&veth), [""; 0], "no hardware");
}
