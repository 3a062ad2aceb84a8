use coalescope_capture::facts::{Hop, Left};

use super::*;

/// Single frames, then merged ones by segments: how many there were and how many of them were lost.
fn step(single: (u64, u64), merged: &[(u32, u32, u32)]) -> Option<Step> {
    let (table, lengths) = counted(single, merged);
    BySize::of_all(table, &lengths).step(1)
}

#[test]
fn all_that_is_merged_is_lost() {
    let step = step((500, 3), &[(2, 20, 20), (4, 10, 10)]).unwrap();
    assert_eq!((step.carried, step.longer.lost), (None, 30));
}

/// Two segments pass and three do not, though far fewer than half of the merged frames are lost.
#[test]
fn a_box_carries_frames_up_to_a_length() {
    let step = step((400, 0), &[(2, 144, 0), (3, 27, 27)]).unwrap();
    assert_eq!(step.carried, Some(3072));
    assert_eq!(step.longer, Part { lost: 27, all: 27 });
    let words = step.words("merged frames", "never arrived");
    assert!(
        words.starts_with("27 of 27 (100%) merged frames of more than 3072 bytes"),
        "{words}"
    );
}

/// Whoever loses by the byte loses longer frames more often, and short ones as well.
#[test]
fn a_slope_accuses_nobody() {
    let policed = [(2, 663, 240), (4, 210, 112), (8, 137, 96)];
    assert_eq!(step((4523, 537), &policed), None);
    // So steep that nearly all of the longest are lost.
    let steeper = [(2, 300, 90), (4, 150, 100), (8, 60, 57), (16, 40, 40)];
    assert_eq!(step((2000, 20), &steeper), None);
    let few = [(10, 6, 6)];
    assert_eq!(step((20, 3), &few), None);
}

/// Wrong bits: two segments are lost about twice as often as one.
#[test]
fn wrong_bits_hit_by_the_byte() {
    let of = |single: (u64, u64), merged: &[(u32, u32, u32)]| {
        let (table, lengths) = counted(single, merged);
        BySize::of_all(table, &lengths).falls_by_the_byte()
    };
    assert!(of((1_000, 20), &[(2, 500, 20), (4, 300, 25), (8, 100, 14)]));
    assert!(!of((229, 38), &[(2, 50, 15), (4, 20, 19), (8, 31, 31)]));
}

/// A policer whose bucket just holds the longest frame: one passes when it is full.
#[test]
fn a_bucket_that_was_full_once_is_no_box() {
    let starved = [(2, 20, 0), (3, 20, 1), (8, 60, 59), (16, 10, 10)];
    assert_eq!(step((100, 0), &starved), None);
    let carried = step((100, 0), &[(2, 20, 0), (3, 20, 0), (8, 60, 60)]);
    assert_eq!(carried.unwrap().carried, Some(4_352));
    // Single ones are lost by the dozen as well, and some merged ones pass, or shorter ones.
    assert_eq!(step((602, 190), &[(2, 72, 69)]), None);
    assert!(step((602, 90), &[(2, 72, 72)]).is_some());
    assert_eq!(step((137, 25), &[(2, 14, 2), (4, 29, 29)]), None);
    // So they are where only a few of the shorter ones are lost.
    assert_eq!(step((99, 2), &[(4, 20, 0), (8, 28, 28)]), None);
    assert_eq!(step((105, 6), &[(2, 31, 29)]), None);
    assert!(step((460, 7), &[(2, 160, 144)]).is_some());
}

/// Frames of four segments and more never arrive, and as many bytes in frames of two that leave together do: then a few
/// other losses make no bucket of it.
#[test]
fn bytes_that_pass_in_several_frames_show_no_bucket() {
    let (table, lengths) = counted((146, 2), &[(2, 621, 2), (4, 90, 90), (6, 79, 79)]);
    let with = |sums: &[(u32, u32)]| {
        let mut together = Lengths::default();
        sums.iter()
            .for_each(|(segments, count)| together.add(segments * SEGMENT, *count, 0));
        let size = BySize {
            together: Some(&together),
            ..BySize::of_all(table, &lengths)
        };
        (
            size.step(1).map(|step| step.carried),
            size.limit(1).is_some(),
        )
    };
    assert_eq!(with(&[(4, 60), (5, 30)]), (Some(Some(3_072)), true));
    assert_eq!(with(&[(2, 90), (4, 60), (5, 12)]), (None, true));
    assert_eq!(with(&[]), (None, true));
}

/// Frames of four segments pass, frames of five do not, and single ones are lost no more often than those of four. A bucket
/// with room for five that is never full loses single ones while it is empty.
#[test]
fn a_sharp_limit_is_no_bucket_where_short_frames_are_spared() {
    let sharp = [(2, 44, 1), (3, 20, 0), (4, 37, 1), (5, 38, 38)];
    assert_eq!(step((170, 4), &sharp).unwrap().carried, Some(5_888));
    assert_eq!(step((170, 37), &sharp), None);
    // A bucket is full now and then.
    assert_eq!(step((170, 4), &[(2, 44, 1), (4, 37, 1), (5, 60, 59)]), None);
    // Nothing between frames that pass and frames that are lost.
    assert_eq!(step((170, 4), &[(2, 80, 1), (5, 38, 38)]), None);
    // Too few at the step.
    assert_eq!(step((170, 4), &[(2, 80, 1), (4, 8, 0), (5, 38, 38)]), None);
}

/// Frames of two segments show that a path carries segments, where hardly a single one was seen.
#[test]
fn merged_frames_that_pass_show_that_segments_do() {
    assert!(step((1, 0), &[(2, 110, 0), (3, 14, 14)]).is_some());
    assert!(step((0, 0), &[(2, 110, 0), (3, 14, 14)]).is_some());
    assert_eq!(step((1, 0), &[(3, 14, 14)]), None);
}

/// All long frames of a burst are lost, and only shorter ones are sent after that: a box, or a path that failed for a while.
#[test]
fn a_limit_that_one_burst_shows_is_a_doubt() {
    let (table, lengths) = counted((1, 0), &[(2, 110, 0), (3, 7, 7), (5, 7, 7)]);
    let size = BySize {
        amid: Amid::default(),
        ..BySize::of_all(table, &lengths)
    };
    assert!(size.step(1).is_none() && size.limit(1).is_some());
    let (table, lengths) = counted((90, 0), &[(2, 10, 0), (3, 7, 7), (5, 7, 7)]);
    let few = BySize {
        amid: Amid::default(),
        ..BySize::of_all(table, &lengths)
    };
    assert!(few.step(1).is_none() && few.limit(1).is_none());
}

/// Of a bucket that is mostly empty nobody takes the steps for a limit.
#[test]
fn a_limit_spares_nearly_all_that_is_shorter() {
    let limit = |single: (u64, u64), merged: &[(u32, u32, u32)]| {
        let (table, lengths) = counted(single, merged);
        BySize::of_all(table, &lengths).limit(1).is_some()
    };
    assert!(limit((718, 11), &[(2, 250, 4), (3, 102, 102)]));
    // Some are lost by chance, whatever their length.
    assert!(limit(
        (146, 4),
        &[(2, 35, 0), (3, 25, 1), (4, 11, 11), (5, 8, 8)]
    ));
    assert!(!limit(
        (146, 4),
        &[(2, 35, 0), (3, 25, 1), (4, 11, 10), (5, 8, 8)]
    ));
    // Few of many merged frames are that long.
    assert!(limit((86, 1), &[(2, 580, 2), (3, 54, 54), (5, 7, 7)]));
    assert!(!limit((137, 25), &[(2, 14, 2), (4, 29, 29)]));
    assert!(!limit(
        (1_000, 20),
        &[(2, 500, 20), (4, 300, 25), (8, 100, 14)]
    ));
    assert!(!limit((100, 0), &[(2, 30, 12), (3, 20, 9)]));
}

/// Short frames that pass say nothing of full ones: a path whose MTU is smaller loses those too.
#[test]
fn a_black_hole_accuses_nobody() {
    let mut direction = Direction::default();
    (direction.repeats.merged, direction.repeats.merged_repeated) = (5, 5);
    direction.repeats.single = 60;
    direction.by_length.add(3 * SEGMENT, 0, 5);
    (direction.full_again.passed, direction.full_again.lost) = (1, 12);
    direction.amid = PASSES;
    assert_eq!(BySize::of_repeats(&direction).step(1), None);
    (direction.full_again.passed, direction.full_again.lost) = (15, 0);
    assert!(BySize::of_repeats(&direction).step(1).is_some());
    direction.amid = Amid::default();
    assert_eq!(BySize::of_repeats(&direction).step(1), None);
}

/// Nor are a few merged ones that are lost beside full single ones a hint.
#[test]
fn a_black_hole_is_no_hint() {
    let mut direction = Direction::default();
    (direction.repeats.merged, direction.repeats.merged_repeated) = (3, 3);
    direction.repeats.single = 40;
    direction.by_length.add(3 * SEGMENT, 0, 3);
    assert!(BySize::of_repeats(&direction).hint().is_some());
    direction.full_again.lost = 4;
    assert_eq!(BySize::of_repeats(&direction).hint(), None);
}

#[test]
fn loss_of_a_burst_or_by_chance_accuses_nobody() {
    assert_eq!(step((100, 0), &[(2, 30, 12), (3, 20, 9)]), None);
    assert_eq!(step((100, 0), &[(4, 4, 4)]), None);
    assert_eq!(step((0, 0), &[(4, 40, 40)]), None);
}

/// A hop that loses long frames and one in twelve of the others: by chance, or all that come for a time, in which the long ones
/// come as well.
#[test]
fn what_loses_shorter_frames_in_runs_is_no_box() {
    let step = |is_lost: fn(u32) -> bool| {
        let mut hop = Hop {
            amid: PASSES,
            ..Hop::default()
        };
        for i in 0..1_200_u32 {
            let segments = match i % 240 {
                5 | 10 | 15 => 5,
                other => 1 + u32::from(other % 3 == 0),
            };
            let lost = segments == 5 || is_lost(i);
            let fate = if segments > 1 {
                &mut hop.merged
            } else {
                &mut hop.single
            };
            fate.seen += 1;
            *(if lost {
                &mut fate.lost
            } else {
                &mut fate.arrived
            }) += 1;
            if segments > 1 {
                hop.by_length
                    .add(segments * SEGMENT, u32::from(!lost), u32::from(lost));
            } else {
                *(if lost {
                    &mut hop.full.lost
                } else {
                    &mut hop.full.passed
                }) += 1;
            }
            hop.in_turn.push(Left {
                ns: i64::from(i) * 2_000_000,
                bytes: segments * SEGMENT,
                // A window of 60 frames is acknowledged at once.
                ahead: (i % 60 + 1) * 2 * SEGMENT,
                merged: segments > 1,
                lost,
                ..Left::default()
            });
        }
        BySize::of_hop(&Crossing::of(&hop)).step(1)
    };
    assert!(step(|i| i.wrapping_mul(2_654_435_769) >> 24 < 8).is_some());
    assert_eq!(step(|i| i % 240 < 20), None);
}
