use coalescope_capture::facts::{
    Amid, Connection, Direction, Hop, HopConnection, Left, Loser, Outcomes, Point,
};

use super::*;
use crate::finding::Reason;
use crate::limits::Limit;
use crate::sample;
use crate::thresholds::SEGMENT;

fn received(frames: u64) -> Direction {
    let mut data = Direction::default();
    (data.frames, data.data_frames) = (frames, frames);
    (data.unique_bytes, data.duration_s) = (frames * 2_000, Some(10.0));
    (data.throughput_bps, data.segment_size_bytes) = (Some(1.6e6), Some(SEGMENT));
    (data.effective_window_segments, data.rtt_min_s) = (Some(50.0), Some(0.01));
    data
}

/// A hop of one connection, whose data goes to the client.
fn hop_of(from: &str, to: &str, merged: Outcomes, single: Outcomes) -> Hop {
    let seen = HopConnection {
        direction: "to_client",
        merged,
        single,
        ..HopConnection::default()
    };
    Hop {
        from: from.to_owned(),
        to: to.to_owned(),
        merged,
        single,
        connections: vec![seen],
        ..Hop::default()
    }
}

/// So many frames, of which some were lost.
fn outcomes(seen: u64, lost: u64) -> Outcomes {
    Outcomes {
        seen,
        lost,
        arrived: seen - lost,
        ..Outcomes::default()
    }
}

/// One point: all of five segments had to be sent again, and one in a hundred of the others.
#[test]
fn a_limit_beside_other_loss_is_not_cleared_at_a_point() {
    let mut data = received(900);
    (data.merged_frames, data.retransmitted_frames) = (750, 250);
    (data.repeats.merged, data.repeats.merged_repeated) = (750, 67);
    (data.repeats.single, data.repeats.single_repeated) = (146, 2);
    (data.full.passed, data.full.lost) = (144, 2);
    data.amid = Amid {
        resumed_ns: Some(1),
        last_lost_ns: Some(2),
        spared: false,
    };
    data.by_length.add(2 * SEGMENT, 683, 6);
    data.by_length.add(5 * SEGMENT, 0, 61);
    let diagnosis = judge(&Trace {
        points: vec![sample::point("uplink", data)],
        ..Trace::default()
    });
    assert_eq!(diagnosis.verdict.merging, Merging::Unclear);
    let evidence = &diagnosis.findings[0].evidence[0].text;
    assert!(
        evidence.starts_with("61 of 61 (100%) merged frames of more than 3072 bytes"),
        "{evidence}"
    );
}

/// Bytes that come late at the first point were lost in front of it, though the hop behind it loses a frame or two.
#[test]
fn what_is_lost_in_front_of_the_first_point_is_not_lost_on_the_hop_behind_it() {
    let found = |late: u64| {
        let mut data = received(400);
        (data.late_frames, data.out_of_order_frames) = (late, late);
        let points = ["LAN", "WAN"].map(|name| sample::point(name, data.clone()));
        let hop = hop_of("LAN", "WAN", outcomes(384, 4), Outcomes::default());
        let diagnosis = judge(&Trace {
            points: points.to_vec(),
            hops: vec![hop],
            ..Trace::default()
        });
        let mut findings = diagnosis.findings.into_iter();
        findings.find(|finding| finding.id == Id::LossNotMerging)
    };
    let finding = found(60).unwrap();
    assert!(finding.hop.is_none());
    let mut evidence = finding.evidence.iter();
    assert!(evidence.any(|one| {
        one.text
            .contains("late at LAN already, and lost in front of it")
    }));
    assert!(found(12).unwrap().hop.is_some());
}

/// One point: half of the merged frames had to be sent again, whatever their length, and some single ones.
#[test]
fn merging_that_its_length_does_not_explain_is_not_cleared_at_a_point_either() {
    let with = |merged_lost: u32, single_lost: u64| {
        let mut data = Direction::default();
        (data.frames, data.data_frames) = (800, 800);
        (data.unique_bytes, data.retransmitted_frames) = (2_000_000, 300);
        (data.duration_s, data.throughput_bps) = (Some(10.0), Some(1.6e6));
        (data.segment_size_bytes, data.merged_frames) = (Some(1_448), 400);
        (data.repeats.merged, data.repeats.single) = (400, 300);
        data.repeats.merged_repeated = 4 * u64::from(merged_lost);
        data.repeats.single_repeated = single_lost;
        for segments in [2, 4, 8, 16] {
            data.by_length
                .add(segments * 1_448, 100 - merged_lost, merged_lost);
        }
        let trace = Trace {
            points: vec![sample::point("uplink", data)],
            ..Trace::default()
        };
        judge(&trace).verdict.merging
    };
    assert_eq!(with(50, 20), Merging::Unclear);
    assert_eq!(with(5, 15), Merging::Innocent);
}

/// What was sent again had arrived, as a hop shows: acknowledgments came late, or frames overtook each other. What came late
/// at its first point was lost in front of that.
#[test]
fn what_a_hop_shows_to_have_arrived_was_not_lost() {
    let found = |late: u64, lost: u64| {
        let mut data = received(400);
        (data.retransmitted_frames, data.late_frames) = (60, late);
        data.retransmitted_bytes = 60 * u64::from(SEGMENT);
        let points = [sample::point("S", data), sample::point("C", received(400))];
        let hop = hop_of("S", "C", Outcomes::default(), outcomes(400, lost));
        let diagnosis = judge(&Trace {
            points: points.to_vec(),
            hops: vec![hop],
            ..Trace::default()
        });
        let mut findings = diagnosis.findings.iter();
        findings.any(|finding| finding.id == Id::LossNotMerging)
    };
    assert!(!found(0, 0) && !found(0, 1));
    assert!(found(60, 0) && found(0, 50));
}

/// Three points: nothing is lost on the first hop, and the second one loses what was sent again.
#[test]
fn a_loss_on_a_hop_farther_on_is_one_at_the_sender() {
    let mut sent = received(400);
    (sent.retransmitted_frames, sent.retransmitted_bytes) = (60, 60 * u64::from(SEGMENT));
    let points = [("S", sent), ("R", received(400)), ("C", received(400))];
    let hop = |from, to, lost| hop_of(from, to, Outcomes::default(), outcomes(400, lost));
    let found = |lost: u64| {
        let diagnosis = judge(&Trace {
            points: points
                .clone()
                .map(|(name, data)| sample::point(name, data))
                .to_vec(),
            hops: vec![hop("S", "R", 0), hop("R", "C", lost)],
            ..Trace::default()
        });
        let mut findings = diagnosis.findings.iter();
        findings.any(|finding| finding.id == Id::LossNotMerging)
    };
    assert!(found(50) && !found(0));
}

fn lossy() -> Direction {
    let mut data = received(400);
    (data.retransmitted_frames, data.retransmitted_bytes) = (60, 60 * u64::from(SEGMENT));
    (data.repeats.single, data.repeats.single_repeated) = (400, 60);
    data
}

/// A loss that merging has no part in comes first, and something else is not clear: no sentence says both of one thing.
#[test]
fn a_headline_does_not_doubt_what_it_clears() {
    let trace = Trace {
        points: vec![sample::point("uplink", lossy())],
        ..Trace::default()
    };
    let overview = Overview::of(&trace);
    let mut findings = judge(&trace).findings;
    assert_eq!(findings[0].id, Id::LossNotMerging);
    let mut doubt = findings[0].clone();
    doubt.id = Id::NotEnoughEvidence;
    findings.push(doubt);
    let text = |findings: &[Finding]| verdict(&trace, &overview, findings).text;
    assert!(text(&findings).starts_with(
        "Not enough evidence to say whether merging is to blame for the rest. Segments"
    ));
    findings[0].subject = Subject::MixedLoss;
    assert!(
        text(&findings)
            .starts_with("Not enough evidence to say whether merging is to blame. Segments")
    );
}

/// Merged frames of a download that got through say nothing of an upload.
#[test]
fn merged_frames_of_one_direction_acquit_none_of_the_other() {
    let title = |direction: &'static str| {
        let mut hop = hop_of("A", "B", outcomes(300, 0), Outcomes::default());
        hop.connections[0].direction = direction;
        let trace = Trace {
            points: vec![sample::point("B", lossy())],
            hops: vec![hop],
            ..Trace::default()
        };
        judge(&trace).findings[0].title.clone()
    };
    assert!(title("to_client").ends_with("merging has no part in it"));
    assert!(title("to_server").ends_with("nothing here points to merging"));
}

#[test]
fn where_most_segments_are_merged_nobody_says_that_few_can_be() {
    let title = |factor: f64, holes: u32| {
        let mut data = received(400);
        (data.out_of_order_frames, data.holes) = (80, holes);
        data.merge_factor_mean = Some(factor);
        let trace = Trace {
            points: vec![sample::point("host", data)],
            ..Trace::default()
        };
        judge(&trace).findings[0].title.clone()
    };
    assert!(title(1.1, 80).ends_with("so that few can be merged"));
    assert!(title(5.7, 80).ends_with("so that not all can be merged"));
    // Not for that are few merged.
    assert!(title(1.1, 20).ends_with("so that not all can be merged"));
}

/// Behind a loss of tails nothing is seen but silences: nobody says that segments were lost, none of so many.
#[test]
fn where_no_loss_is_seen_the_silences_are_told() {
    let connection = |number: u64| {
        let mut data = received(10);
        (data.duration_s, data.gaps, data.gaps_s) = (Some(0.5), number % 4 / 3, 0.3);
        Connection {
            id: number,
            to_client: data,
            to_server: Direction {
                acks: 5,
                ..Direction::default()
            },
            ..Connection::default()
        }
    };
    let point = Point {
        name: "host".to_owned(),
        connections: (0..40).map(connection).collect(),
        ..Point::default()
    };
    let trace = Trace {
        points: vec![point],
        ..Trace::default()
    };
    let diagnosis = judge(&trace);
    let first = &diagnosis.findings[0];
    assert_eq!(first.id, Id::LossNotMerging);
    assert!(
        first.title.contains("wait for as long as timeouts take"),
        "{first:?}"
    );
    assert!(
        first.evidence[0].text.contains("300.0 ms of 500.0 ms"),
        "{first:?}"
    );
}

/// A block of frames that others overtook is one break in 400 frames, however many they are.
#[test]
fn frames_that_were_overtaken_together_end_merging_once() {
    let is_reordered = |holes: u32| {
        let mut data = received(400);
        (data.out_of_order_frames, data.holes) = (80, holes);
        let trace = Trace {
            points: vec![sample::point("host", data)],
            ..Trace::default()
        };
        judge(&trace)
            .findings
            .iter()
            .any(|finding| finding.id == Id::ReorderedBeforeMerge)
    };
    assert_eq!(
        [1, 4, 7, 8, 80].map(is_reordered),
        [false, false, false, true, true]
    );
}

/// Frames that were never sent again may have been lost for good: nobody says that they do no harm.
#[test]
fn merged_frames_of_unknown_fate_are_not_called_harmless() {
    let merging = |known: u64, arrived: u64| {
        let mut data = received(40);
        (data.merged_frames, data.repeats.merged) = (5, known);
        let unjudged = Outcomes {
            seen: 5,
            not_judged: 5 - arrived,
            arrived,
            ..Outcomes::default()
        };
        let points = ["in", "out"].map(|name| sample::point(name, data.clone()));
        judge(&Trace {
            points: points.to_vec(),
            hops: vec![hop_of("in", "out", unjudged, outcomes(35, 0))],
            ..Trace::default()
        })
        .verdict
    };
    let open = merging(0, 0);
    assert_eq!(open.merging, Merging::Unclear);
    assert!(
        open.text
            .starts_with("None of 5 merged frames is known to have arrived."),
        "{}",
        open.text
    );
    assert_eq!(merging(1, 0).merging, Merging::Innocent);
    assert_eq!(merging(0, 1).merging, Merging::Innocent);
}

/// Later than a round trip, and yet on their way: a hop that carried all of them lost none.
#[test]
fn what_a_hop_carried_was_overtaken_however_late_it_came() {
    let limit = |lost: u64, late_before: u64, before: u64| {
        let sound = |late: u64, frames: u64| {
            let mut data = received(frames);
            (data.late_frames, data.out_of_order_frames) = (late, late);
            data
        };
        let points = vec![
            sample::point("in", sound(late_before, before)),
            sample::point("out", sound(94, 900)),
        ];
        let hop = hop_of("in", "out", outcomes(800, lost), outcomes(100, 0));
        let diagnosis = judge(&Trace {
            points,
            hops: vec![hop],
            ..Trace::default()
        });
        diagnosis.findings[0].id
    };
    assert_eq!(limit(0, 0, 900), Id::ReorderedBeforeMerge);
    assert_eq!(limit(90, 0, 900), Id::LossNotMerging);
    assert_eq!(limit(0, 94, 900), Id::LossNotMerging);
    // The capture in front ended early.
    assert_eq!(limit(0, 0, 60), Id::LossNotMerging);
}

/// Of each merged frame the first segment passes, so that none is sent again whole.
#[test]
fn merged_frames_that_are_cut_short_are_not_cleared_from_in_front() {
    let verdict = |again: u64| {
        let mut data = received(371 + again);
        (data.merged_frames, data.merge_factor_max) = (54, Some(3));
        data.merge_factor_mean = Some((3 * 54 + 317 + again) as f64 / (371 + again) as f64);
        data.retransmitted_frames = again;
        (data.repeats.merged, data.repeats.single) = (54, 317);
        judge(&Trace {
            points: vec![sample::point("uplink", data)],
            ..Trace::default()
        })
    };
    let cut = verdict(55);
    assert_eq!(cut.verdict.merging, Merging::Unclear);
    assert_eq!(cut.findings[0].id, Id::NotEnoughEvidence);
    assert_eq!(verdict(6).verdict.merging, Merging::Innocent);
}

/// A third of the frames come late where no round trip is known, and the hop in front carried all of them.
#[test]
fn what_a_hop_carried_leaves_nothing_open_however_much_of_it_came_late() {
    let lead = |lost: u64| {
        let mut data = received(900);
        (data.late_frames, data.out_of_order_frames) = (320, 800);
        (data.rtt_min_s, data.rtt_median_s) = (None, None);
        data.effective_window_segments = None;
        let points = vec![
            sample::point("in", received(900)),
            sample::point("out", data),
        ];
        let hop = hop_of("in", "out", outcomes(0, 0), outcomes(900, lost));
        let diagnosis = judge(&Trace {
            points,
            hops: vec![hop],
            ..Trace::default()
        });
        diagnosis.findings[0].id
    };
    assert_eq!(lead(0), Id::ReorderedBeforeMerge);
    assert_ne!(lead(300), Id::ReorderedBeforeMerge);
}

/// Frames of one to four segments in bursts, through a bucket of 9,000 bytes that come back at 2 Mbit/s.
fn policed() -> Vec<Left> {
    let segments = [1, 2, 1, 3, 1, 4, 1, 2, 1];
    let all = (0..80).flat_map(|burst| (0..5 + burst * 7 % 5).map(move |at| (burst, at)));
    let (mut tokens, mut last_ns) = (9_000.0_f64, 0);
    let frames = all.map(|(burst, at)| {
        let ns = burst * 31_000_000 + at * 50_000;
        let bytes = segments[at as usize] * SEGMENT;
        tokens = (tokens + (ns - last_ns) as f64 / 4_000.0).min(9_000.0);
        last_ns = ns;
        let needs = f64::from(bytes + 66);
        let lost = needs > tokens;
        tokens -= if lost { 0.0 } else { needs };
        Left {
            ns,
            connection: 0,
            bytes,
            ahead: 0,
            merged: bytes > SEGMENT,
            lost,
        }
    });
    frames.collect()
}

/// The first finding of frames that left in this order, if few segments get through behind the hop.
fn lead_behind(frames: &[Left], in_turn: Vec<Left>) -> Id {
    let sort = |merged: bool| {
        let these = frames.iter().filter(|frame| frame.merged == merged);
        let lost = these.clone().filter(|frame| frame.lost).count() as u64;
        outcomes(these.count() as u64, lost)
    };
    let (merged, single) = (sort(true), sort(false));
    let mut hop = hop_of("in", "out", merged, single);
    hop.in_turn = in_turn;
    for frame in frames.iter().filter(|frame| frame.merged) {
        let lost = u32::from(frame.lost);
        hop.by_length.add(frame.bytes, 1 - lost, lost);
    }
    (hop.full.passed, hop.full.lost) = (single.arrived, single.lost);
    let mut behind = received(500);
    behind.late_frames = merged.lost + single.lost;
    (behind.effective_window_segments, behind.merge_factor_max) = (Some(0.7), Some(4));
    let points = vec![
        sample::point("in", received(900)),
        sample::point("out", behind),
    ];
    let diagnosis = judge(&Trace {
        points,
        hops: vec![hop],
        ..Trace::default()
    });
    diagnosis.findings[0].id
}

/// Behind a policer few segments get through, and why is not seen there; the hop in front of that point shows it.
#[test]
fn a_hop_that_explains_what_it_loses_leaves_nothing_open_behind_it() {
    let frames = policed();
    assert_eq!(lead_behind(&frames, frames.clone()), Id::LossNotMerging);
    assert_eq!(lead_behind(&frames, Vec::new()), Id::NotEnoughEvidence);
}

/// Frames that stand alone pass, as where a hop merges what comes close together, and loses it.
#[test]
fn a_bucket_of_one_frame_may_be_a_hop_that_merges_and_loses() {
    let mut frames = policed();
    let mut last_ns = i64::MIN / 2;
    for frame in &mut frames {
        (frame.bytes, frame.merged) = (SEGMENT, false);
        frame.lost = frame.ns - last_ns < 1_000_000;
        last_ns = frame.ns;
    }
    assert_eq!(lead_behind(&frames, frames.clone()), Id::NotEnoughEvidence);
}

/// One connection loses what is merged, and others a frame now and then: the accusation is about the one.
#[test]
fn chance_beside_a_box_is_not_counted_for_the_box() {
    let merged = [outcomes(20, 20), outcomes(400, 12), outcomes(400, 9)];
    let seen = merged.iter().zip(0..).map(|(merged, id)| HopConnection {
        from_id: id,
        to_id: id,
        direction: "to_client",
        merged: *merged,
        single: outcomes(200, 0),
        ..HopConnection::default()
    });
    let seen: Vec<_> = seen.collect();
    let hop = Hop::default();
    let hop = crate::crossing::Crossing::of(&hop);
    let lost = seen
        .iter()
        .filter(|seen| crate::merging::loses_most(&hop, seen))
        .count();
    assert_eq!(lost, 1);
}

/// A firewall drops all of some connections, and single frames of another one pass: the others' merged frames have nothing to
/// be compared with.
#[test]
fn merged_frames_of_blocked_connections_are_not_compared_with_others_single_ones() {
    let verdict = |blocked: bool| {
        let mut hop = hop_of("in", "out", outcomes(8, 8), outcomes(1_249, 24));
        hop.by_length
            .add(4 * SEGMENT, 0, if blocked { 0 } else { 8 });
        (hop.full.passed, hop.full.lost) = (1_225, 24);
        hop.amid.spared = true;
        if blocked {
            (hop.blocked.merged, hop.blocked.single) = (8, 24);
        }
        let points = ["in", "out"].map(|name| sample::point(name, received(1_300)));
        judge(&Trace {
            points: points.to_vec(),
            hops: vec![hop],
            ..Trace::default()
        })
    };
    // Without telling them apart, merging would be accused.
    assert_eq!(verdict(false).findings[0].id, Id::MergedFramesLost);
    let ids = verdict(true).findings;
    let doubts = [Id::MergedFramesLost, Id::NotEnoughEvidence];
    assert!(ids.iter().all(|finding| !doubts.contains(&finding.id)));
}

/// Full segments that never arrive, as behind a smaller MTU; unless others between the same hosts do, or short ones fail as well.
#[test]
fn a_path_mtu_is_one_of_all_connections_between_two_hosts() {
    let reason = |change: &dyn Fn(&mut Direction)| {
        let mut stuck = received(40);
        (stuck.stuck_timeouts, stuck.stuck_places, stuck.stuck_s) = (4, 1, 8.0);
        (stuck.stuck_bytes, stuck.longest_delivered_bytes) = (Some(SEGMENT), Some(400));
        (stuck.retransmitted_frames, stuck.retransmitted_timeout) = (4, 4);
        let mut other = received(4);
        other.longest_delivered_bytes = Some(400);
        change(&mut other);
        let connection = |id: u64, to_client: Direction| {
            let mut connection = sample::point("in", to_client).connections.get(0).unwrap();
            (connection.id, connection.to_server.acks) = (id, 10);
            connection
        };
        let mut point = sample::point("in", Direction::default());
        point.connections = [connection(0, stuck), connection(1, other)]
            .into_iter()
            .collect();
        let diagnosis = judge(&Trace {
            points: vec![point],
            ..Trace::default()
        });
        (diagnosis.findings[0].id, diagnosis.findings[0].reason)
    };

    let lost = Id::LossNotMerging;
    assert_eq!(reason(&|_| {}), (lost, Some(Reason::PathMtu)));
    assert_eq!(
        reason(&|other| other.longest_delivered_bytes = Some(SEGMENT)),
        (lost, None)
    );
    let short_fails = |other: &mut Direction| {
        (other.stuck_timeouts, other.stuck_s, other.stuck_bytes) = (3, 8.0, Some(400));
    };
    assert_eq!(reason(&short_fails), (lost, None));
}

/// One connection is cut off, and two others lose a few segments: two findings, each with its own connections.
#[test]
fn each_kind_of_loss_counts_its_own_connections() {
    let mut stuck = received(100);
    (stuck.stuck_timeouts, stuck.stuck_places, stuck.stuck_s) = (4, 1, 8.0);
    (stuck.stuck_bytes, stuck.longest_delivered_bytes) = (Some(SEGMENT), Some(SEGMENT));
    (stuck.retransmitted_frames, stuck.retransmitted_timeout) = (4, 4);
    let mut lossy = received(900);
    (lossy.retransmitted_frames, lossy.retransmitted_bytes) = (40, 40 * u64::from(SEGMENT));
    let connections = [stuck, lossy.clone(), lossy].into_iter().zip(0..);
    let connections = connections.map(|(to_client, id)| {
        let mut connection = sample::point("in", to_client).connections.get(0).unwrap();
        connection.id = id;
        connection
    });
    let mut point = sample::point("in", Direction::default());
    point.connections = connections.collect();
    let diagnosis = judge(&Trace {
        points: vec![point],
        ..Trace::default()
    });
    let losses = diagnosis
        .findings
        .iter()
        .filter(|one| one.id == Id::LossNotMerging);
    let counted: Vec<_> = losses
        .map(|one| {
            (
                one.title.contains("same bytes"),
                one.share.unwrap().connections,
            )
        })
        .collect();
    assert_eq!(counted.len(), 2, "{counted:?}");
    assert!(
        counted.contains(&(true, 1)) && counted.contains(&(false, 2)),
        "{counted:?}"
    );
}

/// A capture behind the point ended early: the few frames that the hop judges say where the others were lost as well.
#[test]
fn a_hop_that_judges_a_few_frames_names_the_place() {
    let hop_named = |merged: Outcomes, single: Outcomes| {
        let mut data = received(200);
        (data.merged_frames, data.retransmitted_frames) = (19, 33);
        (data.repeats.merged, data.repeats.merged_repeated) = (19, 19);
        (data.repeats.single, data.repeats.single_repeated) = (154, 1);
        (data.full.passed, data.full.lost) = (153, 1);
        data.by_length.add(2 * SEGMENT, 0, 19);
        data.amid.spared = true;
        let points = [
            sample::point("uplink", data),
            sample::point("tap", received(26)),
        ];
        let diagnosis = judge(&Trace {
            points: points.to_vec(),
            hops: vec![hop_of("uplink", "tap", merged, single)],
            ..Trace::default()
        });
        let found = &diagnosis.findings[0];
        assert_eq!(found.id, Id::MergedFramesLost);
        found.hop.as_ref().map(|hop| hop.to.clone())
    };
    let few = |lost: u64, arrived: u64| Outcomes {
        seen: 23,
        lost,
        arrived,
        not_judged: 23 - lost - arrived,
        ..Outcomes::default()
    };
    let single = |lost: u64| Outcomes {
        seen: 154,
        lost,
        arrived: 26,
        not_judged: 128 - lost,
        ..Outcomes::default()
    };
    assert_eq!(hop_named(few(4, 0), single(0)).as_deref(), Some("tap"));
    assert_eq!(hop_named(few(4, 1), single(0)), None);
    assert_eq!(hop_named(few(4, 0), single(9)), None);
    assert_eq!(hop_named(few(0, 0), single(0)), None);
}

/// In front of a firewall that drops a third: what is sent again shows no cause. Behind it, nothing comes for most of the time.
#[test]
fn what_looks_idle_behind_a_loss_is_not_idle() {
    let limits = |lost: u64| {
        let mut front = received(900);
        (front.retransmitted_frames, front.retransmitted_bytes) = (400, 800_000);
        (front.effective_window_segments, front.gaps_s) = (Some(2.0), 6.0);
        let mut behind = received(600);
        behind.sender_idle_s = 8.0;
        let points = vec![sample::point("A", front), sample::point("B", behind)];
        let hop = hop_of("A", "B", outcomes(900, lost), outcomes(100, lost / 9));
        let trace = Trace {
            points,
            hops: vec![hop],
            ..Trace::default()
        };
        judge(&trace)
            .limits
            .iter()
            .map(|limit| limit.limit)
            .collect::<Vec<_>>()
    };
    assert_eq!(limits(0), [Limit::SenderIdle; 2]);
    assert!(!limits(300).contains(&Limit::SenderIdle));
}

/// The sender's own view, before anything is merged, and a box behind which all that is missing is longer than what came.
#[test]
fn no_loss_in_front_of_merging_settles_what_only_the_longest_frames_lack() {
    let limits = |least_hole_bytes: u32| {
        let mut front = received(900);
        (front.retransmitted_frames, front.retransmitted_bytes) = (60, 80_000);
        (front.tso_frames, front.repeats.tso) = (800, 800);
        let mut behind = received(840);
        (behind.merged_frames, behind.merge_factor_max) = (800, Some(5));
        (behind.late_frames, behind.holes) = (60, 50);
        behind.longest_delivered_bytes = Some(5 * SEGMENT);
        behind.least_hole_bytes = Some(least_hole_bytes);
        let mut hop = hop_of("S", "B", Outcomes::default(), outcomes(100, 0));
        hop.connections[0].tso = outcomes(800, 30);
        let trace = Trace {
            points: vec![sample::point("S", front), sample::point("B", behind)],
            hops: vec![hop],
            ..Trace::default()
        };
        let limits = judge(&trace).limits;
        limits.iter().map(|limit| limit.limit).collect::<Vec<_>>()
    };
    assert_eq!(limits(6 * SEGMENT), [Limit::Unclear; 2]);
    assert_eq!(limits(SEGMENT), [Limit::Loss; 2]);
}

/// A TSO frame of 20 segments is lost, and each of these comes late: none was overtaken.
#[test]
fn segments_of_a_lost_frame_come_late_and_are_not_reordered() {
    let limits = |segments: u32| {
        let mut late = received(600);
        (late.out_of_order_frames, late.late_frames) = (40, 40);
        let mut hop = hop_of("S", "B", Outcomes::default(), outcomes(500, 0));
        hop.connections[0].tso = outcomes(100, 2);
        hop.connections[0].by_length.add(segments * SEGMENT, 98, 2);
        let trace = Trace {
            points: vec![sample::point("S", received(600)), sample::point("B", late)],
            hops: vec![hop],
            ..Trace::default()
        };
        let limits = judge(&trace).limits;
        limits.iter().map(|limit| limit.limit).collect::<Vec<_>>()
    };
    assert_eq!(limits(20), [Limit::Loss; 2]);
    assert_eq!(limits(2), [Limit::Reordering; 2]);
}

/// The first line has the numbers of the finding, not those of all frames of the hop; and also where frames may be the sender's.
#[test]
fn the_impact_counts_what_its_finding_counts() {
    let judged = |hop: Hop| {
        let points = ["in", "out"].map(|name| sample::point(name, received(1_300)));
        let diagnosis = judge(&Trace {
            points: points.to_vec(),
            hops: vec![hop],
            ..Trace::default()
        });
        assert_eq!(diagnosis.findings[0].id, Id::MergedFramesLost);
        diagnosis.verdict.impact.unwrap_or_default()
    };
    let mut longer = hop_of("in", "out", outcomes(100, 33), outcomes(1_249, 0));
    longer.by_length.add(2 * SEGMENT, 67, 0);
    longer.by_length.add(5 * SEGMENT, 0, 33);
    (longer.full.passed, longer.amid.spared) = (1_249, true);
    assert_eq!(
        judged(longer),
        "1.6 Mbit/s where the path carries more: 33 of 33 merged frames of more than 3072 bytes vanish between in and out"
    );
    let mut uncut = hop_of("in", "out", outcomes(0, 0), outcomes(1_249, 0));
    let seen = &mut uncut.connections[0];
    seen.tso = outcomes(20, 20);
    seen.by_length.add(4 * SEGMENT, 0, 20);
    (seen.full.passed, seen.amid.spared) = (1_249, true);
    assert_eq!(
        judged(uncut),
        "1.6 Mbit/s where the path carries more: 20 of 20 large frames vanish between in and out"
    );
}

/// A hop lists its worst connections; those beyond that lost their merged frames as well.
#[test]
fn connections_that_a_hop_does_not_list_are_counted() {
    let many = |name: &str| Point {
        name: name.to_owned(),
        connections: (0..5).map(|id| connection(id, received(130))).collect(),
        ..Point::default()
    };
    let mut hop = hop_of("in", "out", outcomes(90, 90), outcomes(1_249, 0));
    hop.by_length.add(4 * SEGMENT, 0, 90);
    (hop.full.passed, hop.amid.spared) = (1_249, true);
    let loser = |id, lost| Loser {
        from_id: id,
        to_id: id + 1,
        lost,
        judged: 10,
    };
    hop.losers = vec![loser(1, 10), loser(2, 10), loser(3, 1)];
    let diagnosis = judge(&Trace {
        points: vec![many("in"), many("out")],
        hops: vec![hop],
        ..Trace::default()
    });
    let share = diagnosis.findings[0].share.unwrap();
    assert_eq!((share.connections, share.of_connections), (3, 5));
    let limit_of = |(point, id): (&str, u64)| {
        let mut limits = diagnosis.limits.iter();
        limits.find(|limit| &*limit.point == point && limit.connection == id)
    };
    let known = [("in", 1), ("out", 2), ("out", 3)].map(limit_of);
    let known = known.map(|limit| limit.map(|limit| limit.limit));
    assert_eq!(known, [Some(Limit::MergedLoss); 3]);
}

fn connection(id: u64, to_client: Direction) -> Connection {
    Connection {
        id,
        to_client,
        ..Connection::default()
    }
}

/// Of a connection too short to have a speed, what counts is how long it waited to begin.
#[test]
fn the_impact_of_a_late_handshake_is_its_wait() {
    let mut data = received(2);
    (data.throughput_bps, data.duration_s) = (None, None);
    let mut late = connection(0, data);
    late.phases.connect_s = Some(3.0);
    late.last_s = 3.002;
    let judged = |count: u64| {
        let connections = (0..count).map(|id| Connection { id, ..late.clone() });
        let point = Point {
            name: "P".to_owned(),
            connections: connections.collect(),
            ..Point::default()
        };
        let diagnosis = judge(&Trace {
            points: vec![point],
            ..Trace::default()
        });
        diagnosis.verdict.impact.unwrap_or_default()
    };
    let why = "a SYN or its answer is lost, or comes late";
    assert_eq!(judged(1), format!("3.0 s to connect: {why}"));
    let of = "for connection #";
    assert!(judged(4).starts_with(&format!("3.0 s to connect {of}")));
}

#[test]
fn the_impact_of_two_transfers_says_which_is_slow() {
    let mut late = received(600);
    (late.out_of_order_frames, late.late_frames) = (40, 40);
    let points = vec![
        sample::point("FAST", received(1_300)),
        sample::point("SLOW", late),
    ];
    let trace = Trace {
        points,
        ..Trace::default()
    };
    let (_, diagnosis) = judge_pair(&trace).unwrap();
    let impact = diagnosis.verdict.impact.unwrap_or_default();
    assert!(impact.starts_with("1.6 Mbit/s in SLOW: "), "{impact}");
}

/// Nobody knows how fast a connection was whose clock was set; what was lost is known all the same.
#[test]
fn a_loss_is_told_without_a_speed() {
    let mut data = received(1_300);
    (data.throughput_bps, data.duration_s) = (None, None);
    let mut hop = hop_of("in", "out", outcomes(33, 33), outcomes(1_249, 0));
    hop.by_length.add(2 * SEGMENT, 0, 33);
    (hop.full.passed, hop.amid.spared) = (1_249, true);
    let diagnosis = judge(&Trace {
        points: vec![
            sample::point("in", data.clone()),
            sample::point("out", data),
        ],
        hops: vec![hop],
        ..Trace::default()
    });
    let impact = diagnosis.verdict.impact.unwrap_or_default();
    assert_eq!(impact, "33 of 33 merged frames vanish between in and out");
}

#[test]
fn one_merged_frame_does_no_harm() {
    assert_eq!(
        harmless(1, "frame"),
        "Merging is innocent here: 1 frame was merged and does no harm"
    );
    assert_eq!(
        harmless(2, "UDP datagram"),
        "Merging is innocent here: 2 UDP datagrams were merged and do no harm"
    );
}

/// A capture of nothing but SYNs has nothing to judge, and says why.
#[test]
fn syns_without_an_answer_are_told_where_nothing_else_is_there() {
    let mut asked = connection(0, Direction::default());
    (asked.seen, asked.last_s) = (vec!["syn"], 15.0);
    let point = Point {
        name: "P".to_owned(),
        connections: [asked.clone(), Connection { id: 1, ..asked }]
            .into_iter()
            .collect(),
        ..Point::default()
    };
    let diagnosis = judge(&Trace {
        points: vec![point],
        ..Trace::default()
    });
    let text = diagnosis.verdict.text;
    assert!(diagnosis.findings.is_empty(), "{text}");
    assert!(
        text.contains("carries data here. 2 connections: no answer to the SYN"),
        "{text}"
    );
}

/// Frames of a few segments are lost, all that are judged; most are not, since nothing came any more for the second capture to end
/// with. What is not judged clears nobody.
#[test]
fn what_is_not_judged_is_no_reason_to_look_elsewhere() {
    let mut lossy = received(58);
    (lossy.retransmitted_frames, lossy.gaps) = (20, 7);
    let mut hop = hop_of("in", "out", outcomes(35, 17), outcomes(13, 0));
    (hop.merged.arrived, hop.merged.not_judged) = (0, 18);
    hop.by_length.add(2 * SEGMENT, 0, 17);
    let points = ["in", "out"].map(|name| sample::point(name, lossy.clone()));
    let diagnosis = judge(&Trace {
        points: points.to_vec(),
        hops: vec![hop],
        ..Trace::default()
    });
    let ids: Vec<Id> = diagnosis
        .findings
        .iter()
        .map(|finding| finding.id)
        .collect();
    assert_eq!(ids[0], Id::NotEnoughEvidence, "{}", diagnosis.verdict.text);
}
