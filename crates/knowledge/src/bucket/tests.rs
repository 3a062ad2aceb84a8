use proptest::prelude::*;

use super::*;
use crate::thresholds::SEGMENT;

/// Frames that leave in bursts: the time between two frames, and the segments of each. What came before a burst is
/// acknowledged.
pub(crate) fn bursts() -> impl Strategy<Value = Vec<Left>> {
    let frame = (5_000_i64..200_000, 1_u32..=8);
    let burst = (
        1_000_000_i64..80_000_000,
        prop::collection::vec(frame, 1..16),
    );
    prop::collection::vec(burst, 40..80).prop_map(|bursts| {
        let mut ns = 0;
        let mut frames = Vec::new();
        for (pause, burst) in bursts {
            ns += pause;
            let mut ahead = 0;
            for (gap, segments) in burst {
                ns += gap;
                ahead += segments * SEGMENT;
                frames.push(Left {
                    connection: 0,
                    ns,
                    bytes: segments * SEGMENT,
                    ahead,
                    merged: segments > 1,
                    lost: false,
                });
            }
        }
        frames
    })
}

/// Sends frames through a bucket with so many tokens.
pub(crate) fn police(frames: &mut [Left], rate_bps: f64, burst: f64) {
    let (mut tokens, mut last_ns) = (burst, 0);
    for frame in frames {
        let filled = (frame.ns - last_ns) as f64 * rate_bps / 8e9;
        tokens = (tokens + filled).min(burst);
        last_ns = frame.ns;
        let bytes = wire_bytes(frame);
        frame.lost = bytes > tokens;
        if !frame.lost {
            tokens -= bytes;
        }
    }
}

/// Loses one in so many of the frames that are meant, at random places.
fn lose(frames: &mut [Left], dice: &[u8], share: u8, meant: impl Fn(&Left) -> bool) {
    for (frame, die) in frames.iter_mut().zip(dice.iter().cycle()) {
        frame.lost |= meant(frame) && *die < share;
    }
}

fn dice() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 997)
}

fn fit(frames: &[Left]) -> Option<Fit> {
    Fit::to(frames, part(frames).lost)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever its rate and size, a policer that drops a part of what comes is found, and no box is as likely.
    #[test]
    fn a_policer_is_found(
        mut frames in bursts(), mbit in 5.0..200.0, burst in 12_000.0..60_000.0,
    ) {
        police(&mut frames, mbit * 1e6, burst);
        let lost = part(&frames);
        prop_assume!(lost.lost >= 20 && lost.share() < 0.5);
        let fit = fit(&frames).unwrap();
        prop_assert!(fit.beats_limit(), "{fit:?}");
        // In one of a few thousand draws the errors of the fit are single frames by chance.
        prop_assume!(!fit.spares_single);
        prop_assert!(fit.explains(), "{fit:?}");
    }

    /// A box that carries frames up to a length, and a path that loses some by chance.
    #[test]
    fn a_box_is_no_policer(
        mut frames in bursts(), carried in 1_u32..8, dice in dice(), chance in 0_u8..8,
    ) {
        for frame in &mut frames {
            frame.lost = frame.bytes > carried * SEGMENT;
        }
        lose(&mut frames, &dice, chance, |_| true);
        prop_assert!(fit(&frames).is_none_or(|fit| !fit.explains() && fit.window().is_none()));
    }

    /// A firewall that takes the window for smaller than it is, and a path that loses some frames by chance.
    #[test]
    fn a_window_is_found(
        mut frames in bursts(), segments in 10_u32..30, dice in dice(), chance in 0_u8..4,
    ) {
        for frame in &mut frames {
            frame.lost = frame.ahead > segments * SEGMENT;
        }
        prop_assume!(part(&frames).lost >= 100);
        lose(&mut frames, &dice, chance, |_| true);
        let fit = fit(&frames).unwrap();
        prop_assert!(fit.beats_limit(), "{fit:?}");
        prop_assert!(fit.window().is_some_and(Ahead::is_sharp), "{fit:?}");
    }

    /// Whatever cuts frames in front of the firewall: of those that reach beyond the window, a part arrives.
    #[test]
    fn a_window_is_found_where_frames_are_cut(
        mut frames in bursts(), segments in 10_u32..30,
    ) {
        for frame in &mut frames {
            frame.lost = frame.ahead - frame.bytes >= segments * SEGMENT;
        }
        prop_assume!(part(&frames).lost >= 100);
        let fit = fit(&frames).unwrap();
        prop_assert!(fit.window().is_some_and(Ahead::is_sharp), "{fit:?}");
    }

    /// A box that loses a share of all merged frames, whatever passed before.
    #[test]
    fn a_share_of_merged_frames_is_no_policer(
        mut frames in bursts(), dice in dice(), share in 20_u8..255,
    ) {
        lose(&mut frames, &dice, share, |frame| frame.merged);
        prop_assert!(fit(&frames).is_none_or(|fit| !fit.explains() && fit.window().is_none()));
    }
}

/// Of two merged frames that come at once the second one is lost, and of ten single frames behind them, none.
#[test]
fn what_spares_single_frames_is_no_want_of_room() {
    let frames: Vec<Left> = (0..1_200)
        .map(|i| Left {
            connection: 0,
            ns: i / 12 * 10_000_000 + i % 12,
            bytes: if i % 12 < 2 { 4 * SEGMENT } else { SEGMENT },
            ahead: 0,
            merged: i % 12 < 2,
            lost: i % 12 == 1,
        })
        .collect();
    let fit = fit(&frames).unwrap();
    assert!(!fit.explains(), "{fit:?}");
}

/// Half a second in which nothing passes.
#[test]
fn an_outage_is_no_want_of_room() {
    let frames: Vec<Left> = (0..400)
        .map(|i| Left {
            connection: 0,
            ns: i / 20 * 100_000_000 + i % 20 * 50_000,
            bytes: SEGMENT,
            ahead: 0,
            merged: false,
            lost: (203..300).contains(&i),
        })
        .collect();
    assert!(!fit(&frames).unwrap().explains());
}

/// A bucket that is smaller than the frames it drops can carry no such frame: merging is not cleared.
#[test]
fn a_bucket_without_room_for_merged_frames_explains_nothing() {
    let mut frames: Vec<Left> = (0..200)
        .map(|i| Left {
            connection: 0,
            ns: i * 5_000_000,
            bytes: SEGMENT * if i % 4 == 0 { 6 } else { 1 },
            ahead: 0,
            merged: i % 4 == 0,
            lost: false,
        })
        .collect();
    police(&mut frames, 1e7, 3_000.0);
    assert_eq!(part(&frames).lost, 50);
    let fit = fit(&frames).unwrap();
    assert!(!fit.explains() && !fit.beats_limit(), "{fit:?}");
}

#[test]
fn losses_that_are_not_in_turn_are_not_judged() {
    let frames = [Left {
        lost: true,
        ..Left::default()
    }; 4];
    assert!(Fit::to(&frames, 9).is_none());
    assert!(Fit::to(&[], 0).is_none());
}

/// The bucket is empty for five seconds: a rate that is 1% off would add up to twice what it holds.
#[test]
fn the_rate_of_a_bucket_that_stays_empty_is_found() {
    let mut frames: Vec<Left> = (0..2_000)
        .map(|i: i64| Left {
            ns: i * 2_500_000 + i * i % 1_300_000,
            bytes: SEGMENT * (1 + i * i % 7) as u32,
            merged: i * i % 7 > 0,
            ..Left::default()
        })
        .collect();
    police(&mut frames, 9.1e6, 40_000.0);
    let fit = fit(&frames).unwrap();
    assert!(fit.beats_limit(), "{fit:?}");
    assert!((fit.bucket.rate_bps / 9.1e6 - 1.0).abs() < 0.001, "{fit:?}");
}
