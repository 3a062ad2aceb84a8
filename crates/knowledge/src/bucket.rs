//! Whether a bucket of tokens, or a queue, explains which frames of a hop are lost.
//!
//! A bucket has room for a frame if those that passed shortly before have left enough tokens, a queue if they have been sent
//! on. So there is one rate at which room comes back, and one limit: what has been taken when a frame comes, with its own
//! length, stays below the limit for all frames that pass and exceeds it for all that are lost. At an endless rate nothing
//! is ever taken, and the limit is that of a box that cannot carry longer frames.

use coalescope_capture::facts::{Hop, Left, Outcomes};

use crate::part::{Part, runs_of_lost};
use crate::thresholds::{A_FEW, DEEP_S, DOUBT, HANDFUL, MOSTLY, MUCH_BETTER, PARTLY};
use crate::words::{bytes, rate, share};

/// What Ethernet, IP and TCP add to most payloads.
const HEADERS: f64 = 66.0;

/// A rate and a limit, and how they divide the frames of a hop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate_bps: f64,
    bytes: f64,
    /// Frames that had no room.
    beyond: Part,
    within: Part,
}

/// The likeliest bucket, beside what else may have caused the losses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    pub(crate) bucket: Bucket,
    /// Logarithms of likelihoods: of the bucket, of a limit of length, and of one share of loss for single frames and another one
    /// for merged ones.
    likelihood: f64,
    limit: f64,
    shares: f64,
    /// Frames that the bucket, and the limit, expect to arrive and were lost, or the other way about.
    errors: u64,
    limit_errors: u64,
    /// Of the frames that had no room, merged ones are lost and single ones are not.
    spares_single: bool,
    /// Runs of frames that were lost one after the other.
    runs: u64,
    /// Frames that were lost, and of these those that are longer than the whole bucket.
    lost: u64,
    too_long: u64,
}

impl Fit {
    /// To what a hop shows of its frames in turn, if that has most of its losses. What cuts frames first does not lose whole
    /// ones.
    pub(crate) fn to_hop(hop: &Hop) -> Option<Self> {
        let sorts = [&hop.merged, &hop.tso, &hop.single];
        let sum = |of: fn(&Outcomes) -> u64| sorts.iter().map(|sort| of(sort)).sum::<u64>();
        let (lost, partly) = (sum(|sort| sort.lost), sum(|sort| sort.partly_lost));
        Self::to(&hop.in_turn, lost).filter(|_| 2 * partly < lost)
    }

    /// To frames in turn, of which so many are lost in all.
    pub(crate) fn to(frames: &[Left], lost: u64) -> Option<Self> {
        let all = part(frames);
        if all.lost < HANDFUL || 2 * all.lost < lost {
            return None;
        }
        let limit = Bucket::at_rate(frames, f64::INFINITY);
        let bucket = Bucket::likeliest(frames)?;
        let is_too_long = |frame: &&Left| frame.lost && wire_bytes(frame) > bucket.bytes;
        Some(Self {
            bucket,
            likelihood: bucket.likelihood(),
            limit: limit.map_or_else(|| all.own_likelihood(), |limit| limit.likelihood()),
            shares: shares(frames),
            errors: bucket.errors(),
            limit_errors: limit.map_or(all.lost, |limit| limit.errors()),
            spares_single: bucket.spares_single(frames),
            runs: runs_of_lost(frames).count() as u64,
            lost: all.lost,
            too_long: frames.iter().filter(is_too_long).count() as u64,
        })
    }

    /// Whether frames that are lost had less room than others as long: a box cannot know that. One frame may be chance.
    pub(crate) fn beats_limit(&self) -> bool {
        self.errors + A_FEW <= self.limit_errors
            && self.likelihood - self.limit >= MUCH_BETTER
            && self.explained_of(self.limit) >= PARTLY
            && self.is_shallow()
    }

    /// Whether the order of frames speaks for want of room: that is likelier than one share of loss for single frames and
    /// another one for merged ones (of many rates the best one was taken, hence twice), and than a limit of length, which asks
    /// for no order.
    pub(crate) fn shows_want_of_room(&self) -> bool {
        self.likelihood - self.shares >= 2.0 * MUCH_BETTER
            && self.likelihood - self.limit >= MUCH_BETTER
    }

    /// Of the deviance that another explanation leaves, the share that this one does not.
    fn explained_of(&self, other: f64) -> f64 {
        1.0 - self.likelihood / other
    }

    /// In words, for the capacity that divides lost frames from others.
    pub(crate) fn words(&self) -> String {
        let Bucket { beyond, .. } = self.bucket;
        format!(
            "room for {} that comes back at {} explains it: {} frames that had no room were lost",
            bytes(self.bucket.bytes as u64),
            rate(self.bucket.rate_bps),
            share(beyond.lost, beyond.all),
        )
    }

    /// Whether no frame would wait for longer than a path holds one: in a deeper bucket, time alone divides the frames.
    fn is_shallow(&self) -> bool {
        self.bucket.depth_s() <= DEEP_S
    }

    /// Whether want of room explains most of what was lost, and nothing else does as well; and frames as long as those
    /// that were lost have room at other times. One outage is no want of room, whatever came before it.
    pub(crate) fn explains(&self) -> bool {
        let other = self.limit.max(self.shares);
        self.likelihood - other >= 2.0 * MUCH_BETTER
            && self.explained_of(other) >= MOSTLY
            && self.is_shallow()
            && self.bucket.beyond.lost >= 2 * HANDFUL
            && self.runs > A_FEW
            && !self.spares_single
            && 2 * self.too_long < self.lost
    }
}

impl Bucket {
    fn likeliest(frames: &[Left]) -> Option<Self> {
        let rough = best(rates(1e5, 1.2, 72), frames)?;
        best(rates(rough.rate_bps / 1.2, 1.03, 13), frames)
            .into_iter()
            .chain([rough])
            .max_by(by_likelihood)
    }

    /// The likeliest limit at a rate.
    fn at_rate(frames: &[Left], rate_bps: f64) -> Option<Self> {
        let mut needs = needs(frames, rate_bps);
        // Of frames that need as much, lost ones come first.
        needs.sort_unstable();
        let all = part(frames);
        let ends = needs.iter().zip(needs.iter().skip(1));
        let mut within = Part::default();
        let split = |(need, next): (&Need, &Need)| {
            within = within.and(Part::one(!need.passed));
            // Frames that need as much are on one side. No limit is likelier than one just below a frame that was lost.
            (!next.passed && next.bytes > need.bytes).then_some(Self {
                rate_bps,
                bytes: need.bytes as f64,
                beyond: all.without(within),
                within,
            })
        };
        let loses_beyond = |bucket: &Self| bucket.beyond.share() > bucket.within.share();
        ends.filter_map(split)
            .filter(loses_beyond)
            .max_by(by_likelihood)
    }

    /// Whether single frames beyond the limit pass, unlike merged ones: who is lost for want of room is lost whatever it is made
    /// of.
    fn spares_single(&self, frames: &[Left]) -> bool {
        let needs = needs(frames, self.rate_bps).into_iter();
        let pairs: Vec<_> = frames.iter().zip(needs).collect();
        let beyond = |merged: bool| {
            let all = pairs
                .iter()
                .filter(|(frame, need)| frame.merged == merged && need.bytes as f64 > self.bytes);
            part(all.map(|(frame, _)| *frame))
        };
        let (merged, single) = (beyond(true), beyond(false));
        merged.share() > single.share() && merged.against(single) < DOUBT
    }

    fn likelihood(&self) -> f64 {
        self.beyond.own_likelihood() + self.within.own_likelihood()
    }

    fn errors(&self) -> u64 {
        self.beyond.all - self.beyond.lost + self.within.lost
    }

    /// How long it takes until all of it has come back.
    pub(crate) fn depth_s(&self) -> f64 {
        self.bytes * 8.0 / self.rate_bps
    }
}

fn by_likelihood(a: &Bucket, b: &Bucket) -> std::cmp::Ordering {
    a.likelihood().total_cmp(&b.likelihood())
}

fn best(rates: impl Iterator<Item = f64>, frames: &[Left]) -> Option<Bucket> {
    rates
        .filter_map(|rate| Bucket::at_rate(frames, rate))
        .max_by(by_likelihood)
}

/// Rates from the least one, each larger by a factor. Those of 100 kbit/s to 40 Gbit/s are tried.
fn rates(least: f64, factor: f64, count: i32) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| least * factor.powi(i))
}

fn part<'a>(frames: impl IntoIterator<Item = &'a Left>) -> Part {
    let sum = |sum: Part, frame: &Left| sum.and(Part::one(frame.lost));
    frames.into_iter().fold(Part::default(), sum)
}

/// Likelihood of one share of loss for single frames, and another one for merged ones.
fn shares(frames: &[Left]) -> f64 {
    let of = |merged| part(frames.iter().filter(move |frame| frame.merged == merged));
    of(true).own_likelihood() + of(false).own_likelihood()
}

fn wire_bytes(frame: &Left) -> f64 {
    f64::from(frame.bytes) + HEADERS
}

/// What has been taken when a frame comes, with its own length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    bytes: u64,
    passed: bool,
}

/// What each frame needs. Only frames that passed take anything.
fn needs(frames: &[Left], rate_bps: f64) -> Vec<Need> {
    let mut taken = 0.0;
    let mut last_ns = frames.first().map_or(0, |frame| frame.ns);
    let need = |frame: &Left| {
        let bits = frame.ns.saturating_sub(last_ns).max(0) as f64 / 1e9 * rate_bps;
        last_ns = frame.ns;
        taken = if bits.is_finite() {
            (taken - bits / 8.0_f64).max(0.0)
        } else {
            0.0
        };
        let need = taken + wire_bytes(frame);
        if !frame.lost {
            taken = need;
        }
        Need {
            bytes: need as u64,
            passed: !frame.lost,
        }
    };
    frames.iter().map(need).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::thresholds::SEGMENT;

    /// Frames that leave in bursts: the time between two frames, and the segments of each.
    fn bursts() -> impl Strategy<Value = Vec<Left>> {
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
                for (gap, segments) in burst {
                    ns += gap;
                    frames.push(Left {
                        ns,
                        bytes: segments * SEGMENT,
                        merged: segments > 1,
                        lost: false,
                    });
                }
            }
            frames
        })
    }

    /// Sends frames through a bucket with so many tokens.
    fn police(frames: &mut [Left], rate_bps: f64, burst: f64) {
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
            prop_assert!(fit(&frames).is_none_or(|fit| !fit.explains()));
        }

        /// A box that loses a share of all merged frames, whatever passed before.
        #[test]
        fn a_share_of_merged_frames_is_no_policer(
            mut frames in bursts(), dice in dice(), share in 20_u8..255,
        ) {
            lose(&mut frames, &dice, share, |frame| frame.merged);
            prop_assert!(fit(&frames).is_none_or(|fit| !fit.explains()));
        }
    }

    /// Of two merged frames that come at once the second one is lost, and of ten single frames behind them, none.
    #[test]
    fn what_spares_single_frames_is_no_want_of_room() {
        let frames: Vec<Left> = (0..1_200)
            .map(|i| Left {
                ns: i / 12 * 10_000_000 + i % 12,
                bytes: if i % 12 < 2 { 4 * SEGMENT } else { SEGMENT },
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
                ns: i / 20 * 100_000_000 + i % 20 * 50_000,
                bytes: SEGMENT,
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
                ns: i * 5_000_000,
                bytes: SEGMENT * if i % 4 == 0 { 6 } else { 1 },
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
}
