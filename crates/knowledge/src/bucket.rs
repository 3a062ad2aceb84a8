//! Whether a bucket of tokens, or a queue, explains which frames of a hop are lost.
//!
//! A bucket has room for a frame if those that passed shortly before have left enough tokens, a queue if they have been sent
//! on. So there is one rate at which room comes back, and one limit: what has been taken when a frame comes, with its own
//! length, stays below the limit for all frames that pass and exceeds it for all that are lost. At an endless rate nothing
//! is ever taken, and the limit is that of a box that cannot carry longer frames.

mod ahead;
mod need;

use coalescope_capture::facts::{Hop, Left, Outcomes};

pub(crate) use ahead::Ahead;
use need::{Limit, Need, Sorts};

use crate::part::{Part, runs_of_lost};
use crate::thresholds::{A_FEW, ALPHA, DEEP_S, HANDFUL, MOSTLY, MUCH_BETTER, PARTLY};
use crate::words::{bytes, rate, share};

/// What Ethernet, IP and TCP add to most payloads.
const HEADERS: f64 = 66.0;

/// Frames in front of the first loss with which a bucket may have come into the path: the fewest of a full one, and of a deep one.
const BEFORE: [usize; 4] = [0, 8, 32, 128];

/// A rate and a limit, and how they divide the frames of a hop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate_bps: f64,
    /// Frames beyond it had no room.
    limit: Limit,
}

/// The likeliest bucket, beside what else may have caused the losses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    pub(crate) bucket: Bucket,
    ahead: Option<Ahead>,
    /// Logarithms of likelihoods: of a limit of length, and of one share of loss for single frames and another one for merged
    /// ones.
    limit: f64,
    shares: f64,
    /// Frames that the limit of length expects to arrive and were lost, or the other way about.
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
        let (merged, single) = hop.compared();
        let sorts = [&merged, &hop.tso, &single];
        let sum = |of: fn(&Outcomes) -> u64| sorts.iter().map(|sort| of(sort)).sum::<u64>();
        let (lost, partly) = (sum(|sort| sort.lost), sum(|sort| sort.partly_lost));
        Self::to(&hop.in_turn, lost).filter(|_| 2 * partly < lost)
    }

    /// To what a hop shows from some frames before its first loss on, if want of room or a window explains that.
    pub(crate) fn later_to_hop(hop: &Hop) -> Option<Self> {
        let first = hop.in_turn.iter().position(|frame| frame.lost)?;
        let lost = part(&hop.in_turn).lost;
        let begins = BEFORE
            .iter()
            .filter_map(|before| first.checked_sub(*before));
        let fits = begins.filter_map(|begin| Self::to(hop.in_turn.get(begin..)?, lost));
        let mut fits = fits.filter(|fit| fit.explains() || fit.window().is_some());
        fits.next()
    }

    /// To frames in turn, of which so many are lost in all.
    pub(crate) fn to(frames: &[Left], lost: u64) -> Option<Self> {
        let all = part(frames);
        let is_sample = 2 * all.lost >= lost || all.lost >= 4 * HANDFUL;
        if all.lost < HANDFUL || !is_sample {
            return None;
        }
        let limit = Bucket::at_rate(frames, f64::INFINITY).map(|bucket| bucket.limit);
        let bucket = Bucket::likeliest(frames)?;
        let is_too_long = |frame: &&Left| frame.lost && wire_bytes(frame) > bucket.limit.bytes;
        Some(Self {
            bucket,
            ahead: Ahead::likeliest(frames),
            limit: limit.map_or_else(|| all.own_likelihood(), |limit| limit.likelihood()),
            shares: shares(frames),
            limit_errors: limit.map_or(all.lost, |limit| limit.errors()),
            spares_single: bucket.spares_single(frames),
            runs: runs_of_lost(frames).count() as u64,
            lost: all.lost,
            too_long: frames.iter().filter(is_too_long).count() as u64,
        })
    }

    /// Whether frames that are lost had less room than others as long, or were further ahead: a box cannot know that. One frame
    /// may be chance, but for a bucket that is right about every frame.
    pub(crate) fn beats_limit(&self) -> bool {
        let is_better = |other: &Limit, fewer: u64| {
            other.errors() + fewer <= self.limit_errors
                && other.likelihood() - self.limit >= MUCH_BETTER
                && explained_of(other, self.limit) >= PARTLY
        };
        let bucket = &self.bucket.limit;
        let fewer = if bucket.errors() == 0 { 1 } else { A_FEW };
        self.is_shallow() && is_better(bucket, fewer)
            || self
                .ahead
                .is_some_and(|ahead| is_better(&ahead.limit, A_FEW))
    }

    /// Whether the order of frames speaks for want of room, or their place for a window: that is likelier than one share of loss
    /// for single frames and another one for merged ones (of many rates the best one was taken, hence twice), and than a
    /// limit of length, which asks for neither.
    pub(crate) fn shows_want_of_room(&self) -> bool {
        let is_likelier = |other: &Limit| {
            other.likelihood() - self.shares >= 2.0 * MUCH_BETTER
                && other.likelihood() - self.limit >= MUCH_BETTER
        };
        is_likelier(&self.bucket.limit) || self.ahead.is_some_and(|ahead| is_likelier(&ahead.limit))
    }

    /// The logarithm of the likelihood of the likeliest law that knows nothing of merging: a bucket, if it is no deeper than paths
    /// have them, a limit of length, or one of how far ahead frames are.
    pub(crate) fn likeliest_without_time(&self) -> f64 {
        let bucket = Some(self.bucket.limit).filter(|_| self.is_shallow());
        let ahead = self.ahead.map(|ahead| ahead.limit);
        let limits = bucket
            .into_iter()
            .chain(ahead)
            .map(|limit| limit.likelihood());
        limits.fold(self.limit, f64::max)
    }

    /// In words, for the capacity that divides lost frames from others.
    pub(crate) fn words(&self) -> String {
        let Limit { beyond, .. } = self.bucket.limit;
        format!(
            "room for {} that comes back at {} explains it: {} frames that had no room were lost",
            bytes(self.bucket.limit.bytes as u64),
            rate(self.bucket.rate_bps),
            share(beyond.lost, beyond.all),
        )
    }

    /// Whether no frame would wait for longer than a path holds one: in a deeper bucket, time alone divides the frames.
    fn is_shallow(&self) -> bool {
        self.bucket.depth_s() <= DEEP_S
    }

    /// Whether want of room explains most of what was lost, and nothing else does as well; and frames as long as those
    /// that were lost have room at other times.
    pub(crate) fn explains(&self) -> bool {
        self.is_explained_by(&self.bucket.limit)
            && self.is_shallow()
            && self.bucket.limit.beyond.lost >= 2 * HANDFUL
            && !self.spares_single
            && 2 * self.too_long < self.lost
    }

    /// Whether want of room explains losses in runs of single frames that are merged on the hop: what loses the merged ones loses
    /// the first frame of each run, for which a bucket has room.
    pub(crate) fn explains_runs(&self) -> bool {
        self.explains() && 2 * self.bucket.limit.within.lost < self.runs
    }

    /// The limit of how far ahead of the acknowledgments frames may be, if that explains most of what was lost, single frames as
    /// well as merged ones.
    pub(crate) fn window(&self) -> Option<&Ahead> {
        let ahead = self.ahead.as_ref()?;
        (self.is_explained_by(&ahead.limit) && ahead.hits_all()).then_some(ahead)
    }

    /// One outage is no want of room, whatever came before it.
    fn is_explained_by(&self, limit: &Limit) -> bool {
        let other = self.limit.max(self.shares);
        limit.likelihood() - other >= 2.0 * MUCH_BETTER
            && explained_of(limit, other) >= MOSTLY
            && self.runs > A_FEW
    }
}

/// Of the deviance that another explanation leaves, the share that a limit does not.
fn explained_of(limit: &Limit, other: f64) -> f64 {
    1.0 - limit.likelihood() / other
}

impl Bucket {
    fn likeliest(frames: &[Left]) -> Option<Self> {
        let passed = rate_of_passed(frames).into_iter();
        let around = passed.flat_map(|rate| rates(rate / 1.02, 1.001, 41));
        let rough = best(rates(1e5, 1.2, 72).chain(around), frames)?;
        // Each time around the likeliest one, as far as the neighbours of the time before.
        let finer = [(1.2, 1.03, 13), (1.03, 1.004, 16)];
        let closer = |best_yet: Self, (reach, factor, count): (f64, f64, i32)| {
            let finer = best(rates(best_yet.rate_bps / reach, factor, count), frames);
            finer.into_iter().chain([best_yet]).max_by(by_likelihood)
        };
        finer.into_iter().try_fold(rough, closer)
    }

    /// The likeliest limit at a rate.
    fn at_rate(frames: &[Left], rate_bps: f64) -> Option<Self> {
        let limit = Limit::likeliest(needs(frames, rate_bps))?;
        Some(Self { rate_bps, limit })
    }

    /// Whether single frames beyond the limit pass, unlike merged ones, or single frames are never lost: who is lost for want of room
    /// is lost whatever it is made of.
    fn spares_single(&self, frames: &[Left]) -> bool {
        let needs = needs(frames, self.rate_bps).into_iter();
        let pairs = frames.iter().zip(needs);
        let beyond = pairs.filter(|(_, need)| need.bytes as f64 > self.limit.bytes);
        let Sorts { merged, single } = Sorts::of(frames);
        let never = single.lost == 0 && merged.against(single) < ALPHA;
        never || Sorts::of(beyond.map(|(frame, _)| frame)).spares_single()
    }

    /// How long it takes until all of it has come back.
    pub(crate) fn depth_s(&self) -> f64 {
        self.limit.bytes * 8.0 / self.rate_bps
    }
}

fn by_likelihood(a: &Bucket, b: &Bucket) -> std::cmp::Ordering {
    let of = |bucket: &Bucket| bucket.limit.likelihood();
    of(a).total_cmp(&of(b))
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

/// Frames, and those of them that were lost.
pub(crate) fn part<'a>(frames: impl IntoIterator<Item = &'a Left>) -> Part {
    let sum = |sum: Part, frame: &Left| sum.and(Part::one(frame.lost));
    frames.into_iter().fold(Part::default(), sum)
}

/// The rate of what passed between the first and the last loss: that of a bucket which is empty all the time, where a rate
/// that is a little off adds up to more than the bucket holds.
fn rate_of_passed(frames: &[Left]) -> Option<f64> {
    let first = frames.iter().position(|frame| frame.lost)?;
    let last = frames.iter().rposition(|frame| frame.lost)?;
    let between = frames.get(first..=last)?;
    let passed = between.iter().filter(|frame| !frame.lost).map(wire_bytes);
    let ns = frames[last].ns - frames[first].ns;
    (ns > 0)
        .then(|| passed.sum::<f64>() * 8e9 / ns as f64)
        .filter(|rate| *rate > 0.0)
}

/// Likelihood of one share of loss for single frames, and another one for merged ones.
fn shares(frames: &[Left]) -> f64 {
    let Sorts { merged, single } = Sorts::of(frames);
    merged.own_likelihood() + single.own_likelihood()
}

fn wire_bytes(frame: &Left) -> f64 {
    f64::from(frame.bytes) + HEADERS
}

/// What has been taken when each frame comes, with its own length. Only frames that passed take anything.
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
        Need::of(frame, need as u64)
    };
    frames.iter().map(need).collect()
}

#[cfg(test)]
pub(crate) mod tests;
