//! Facts of the simulator's truth about a case, besides the fate of merged frames.

use coalescope_simulate::{DropTruth, Element, Hop, LaneTruth, Outcome, SECOND, Side, Truth};

use crate::case::{Case, Played};

/// Fewer lost frames than this are too few to demand a verdict: with five of each sort even a perfect
/// table is one of 252.
pub(crate) const FEW: u64 = 5;
/// Segments that arrived.
pub(super) fn segments_received(outcome: &Outcome, toward: Side) -> u64 {
    let lanes = outcome
        .truth
        .connections
        .iter()
        .map(|c| &c.toward[toward.index()]);
    lanes
        .map(|lane| lane.bytes / u64::from(lane.segment_size.max(1)))
        .sum()
}
/// Losses that may be named though the family is about something else: an initial window of them.
pub(super) const SOME: u64 = 3;
/// A path that is used to this share carries about all that it can.
pub(super) const FILLED: f64 = 0.7;
/// A cause that leaves at least this share of the rate need not be named.
const HARDLY: f64 = 0.75;
/// A cause that leaves less than this share must be named.
pub(super) const PLAINLY: f64 = 0.55;

/// Facts about the data that went to the receiving side.
pub(super) struct Facts {
    /// Data frames dropped.
    pub(super) lost: u64,
    /// Segments that arrived.
    pub(super) segments: u64,
    /// Share of the segments that were dropped.
    pub(super) lost_share: f64,
    /// Share of the slowest link's rate that was used.
    pub(super) utilised: f64,
    /// Share of the time in which the sender of most had nothing to send.
    pub(super) idle: f64,
    /// Share of the time in which only the receiver's window held the sender back.
    pub(super) window: f64,
    /// Share of the rate without the cause that is left with it; 0 where that is not known.
    pub(super) left: f64,
}

impl Facts {
    /// Ids that are right besides "nothing is wrong".
    pub(super) fn also_healthy(&self) -> &'static [&'static str] {
        if self.utilised > FILLED && self.lost >= SOME {
            &["path-bandwidth", "loss-not-merging"]
        } else if self.utilised > FILLED {
            &["path-bandwidth"]
        } else if self.lost >= SOME {
            &["loss-not-merging"]
        } else if self.idle > 0.3 {
            &["sender-idle"]
        } else if self.window > 0.3 {
            &["receiver-window"]
        } else {
            &[]
        }
    }

    /// What besides "the path carries all that it can" may be said: a transfer that fills its path is as fast as
    /// that lets it be, and of two to compare neither need be told so.
    pub(super) fn also_filled(&self, compared: bool) -> &'static [&'static str] {
        match (compared || self.utilised < FILLED, self.lost >= SOME) {
            (true, true) => &["healthy", "loss-not-merging"],
            (true, false) => &["healthy"],
            (false, true) => &["loss-not-merging"],
            (false, false) => &[],
        }
    }

    /// Ids that are right besides "frames are lost": losses that hardly cost anything need not be named.
    pub(super) fn also_lossy(&self) -> &'static [&'static str] {
        let hardly = self.lost < FEW || self.left > HARDLY;
        if hardly && self.idle > 0.3 {
            &["healthy", "path-bandwidth", "sender-idle"]
        } else if hardly {
            &["healthy", "path-bandwidth"]
        } else if self.left > PLAINLY || self.left > 0.0 && self.utilised > FILLED {
            &["path-bandwidth"]
        } else {
            &[]
        }
    }

    /// Ids that are right besides a cause that hardly costs anything, or leaves the path full.
    pub(super) fn also_slower(&self) -> &'static [&'static str] {
        if self.segments == 0 {
            &["none"]
        } else if self.left > PLAINLY || self.utilised > FILLED {
            &["healthy", "path-bandwidth", "receiver-window"]
        } else {
            &[]
        }
    }

    /// Of two transfers the second is the one in question.
    pub(super) fn of(case: &Case, played: &Played) -> Self {
        Self::of_run(case, played, played.outcomes.len() - 1)
    }

    pub(super) fn of_run(case: &Case, played: &Played, number: usize) -> Self {
        let toward = case.receiver;
        let (run, outcome) = (&case.runs[number], &played.outcomes[number]);
        let truth = &outcome.truth;
        let drops = truth.drops.iter().filter(|drop| drop.toward == toward);
        let lost: u64 = drops.clone().map(DropTruth::total).sum();
        let lost_segments: u64 = drops.map(|drop| drop.segments).sum();
        let lanes = || truth.connections.iter().map(|c| &c.toward[toward.index()]);
        let arrived = segments_received(outcome, toward);
        let rates = run.path.iter().filter_map(|element| rate(element, toward));
        let bps = truth.throughput_bps(toward);
        let largest = lanes().max_by_key(|lane| lane.bytes);
        let main = main_lanes(truth, toward);
        let began = main.iter().map(|main| main.began).min().unwrap_or(0);
        let main: Vec<_> = main.into_iter().map(|main| main.lane).collect();
        let share = |of: fn(&LaneTruth) -> u64| {
            largest.map_or(0.0, |lane| {
                of(lane) as f64 / lane.end.saturating_sub(lane.begin).max(1) as f64
            })
        };
        let twin = played.twin.as_ref();
        Self {
            lost,
            segments: arrived,
            lost_share: lost_segments as f64 / (arrived + lost_segments).max(1) as f64,
            utilised: utilised(&main, began, rtt(truth), rates.min().unwrap_or(u64::MAX)),
            idle: share(|lane| lane.idle),
            window: share(|lane| lane.window_limited),
            left: twin.map_or(0.0, |twin| bps / twin.truth.throughput_bps(toward)),
        }
    }
}

/// Share of the slowest link's rate that was used once slow start had opened the window: from the initial window to the
/// data in flight at that rate each doubling takes a round trip (RFC 5681, 3.1; RFC 6928), and the request takes one
/// more. From then on a queue stands.
fn utilised(lanes: &[&LaneTruth], begin: u64, rtt: Option<u64>, rate_bps: u64) -> f64 {
    let bytes: u64 = lanes.iter().map(|lane| lane.bytes).sum();
    let end = lanes.iter().map(|lane| lane.end).max().unwrap_or(0);
    let took_s = end.saturating_sub(begin).max(1) as f64 / SECOND as f64;
    let bps = bytes as f64 * 8.0 / took_s;
    let Some(rtt) = rtt else {
        return bps / rate_bps as f64;
    };
    let segment = lanes.iter().map(|lane| lane.segment_size).max();
    let rtt_s = rtt as f64 / SECOND as f64;
    let under_way = (rate_bps as f64 / 8.0 * rtt_s).min(bytes as f64);
    let first = f64::from(10 * segment.unwrap_or(0).max(1)) * lanes.len() as f64;
    let opening_s = rtt_s * (1.0 + (under_way / first).max(1.0).log2());
    let left_s = took_s - opening_s;
    let left = (bytes as f64 - under_way) * 8.0 / left_s.max(1e-9);
    (left / rate_bps as f64).max(bps / rate_bps as f64).min(1.0)
}

/// A lane that fills a path, and when it could begin to.
struct MainLane<'a> {
    lane: &'a LaneTruth,
    began: u64,
}

/// The lanes that fill a path: bystanders, which carry next to nothing, may take much longer. Where the other side
/// has much to say, too, it spoke first.
fn main_lanes(truth: &Truth, toward: Side) -> Vec<MainLane<'_>> {
    let lanes = || {
        truth.connections.iter().map(|connection| {
            let lane = &connection.toward[toward.index()];
            let other = &connection.toward[toward.other().index()];
            let waited = 20 * other.bytes >= lane.bytes && other.end < lane.end;
            let began = if waited { other.end } else { lane.begin };
            MainLane { lane, began }
        })
    };
    let most = lanes().map(|main| main.lane.bytes).max().unwrap_or(0);
    lanes()
        .filter(|main| 20 * main.lane.bytes >= most)
        .collect()
}

fn rtt(truth: &Truth) -> Option<u64> {
    truth
        .connections
        .iter()
        .find_map(|connection| connection.rtt)
}

fn rate(element: &Element, toward: Side) -> Option<u64> {
    match element {
        Element::Bond(lanes) => Some(lanes.iter().map(|lane| lane.rate_bps).sum()),
        Element::Link(link) => Some(link.toward[toward.index()].rate_bps),
        Element::Hop(Hop::TokenBucket { rate_bps, .. }) => Some(*rate_bps),
        _ => None,
    }
}
