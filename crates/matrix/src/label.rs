//! What the right verdict on a case is, by the simulator's own truth.
//!
//! The definitions, none of which knows the analysis's own thresholds:
//!
//! - Merging harms where an element dropped merged frames each of whose segments would have passed
//!   ([`DropTruth::for_merging`]). The right verdict then is `merged-frames-lost` (or `-rejected`, where a
//!   router said so); and where captures on both sides of that element are given, between these two.
//! - "Not enough evidence" is right only where fewer than [`FEW`] of the dropped frames are in a given
//!   capture as merged frames, or fewer than [`FEW`] single frames passed there to compare them with.
//! - "No frame was merged" is wrong where a given capture has [`FEW`] merged frames.
//! - Where no element dropped a frame for being merged, but the same transfer is about twice as fast unmerged, merging harms
//!   as well, and may be accused; nobody has to.
//! - Everywhere else a finding that accuses merging, whatever its place in the list, is a false
//!   accusation; right is what the family says, as far as the truth bears it out.

use coalescope_knowledge::Reason;
use coalescope_simulate::{
    DropTruth, Element, Hop, LaneTruth, Outcome, SECOND, Scenario, Side, Truth,
};

use crate::case::{Case, Played};
use crate::drawn::Otherwise;
use crate::reasons::reasons;

/// Fewer lost frames than this are too few to demand a verdict: with five of each sort even a perfect
/// table is one of 252.
pub(crate) const FEW: u64 = 5;

/// The right verdict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    /// Merging harms, and this is where.
    pub(crate) guilt: Option<Guilt>,
    /// Ids of which the main finding must be one.
    pub(crate) accepted: Vec<&'static str>,
    /// Merging may be accused though nothing was dropped for it: without it the transfer is faster.
    pub(crate) costs: bool,
    /// "Not enough evidence" is right, too.
    pub(crate) little: bool,
    /// Merged frames in the given capture that has most of them.
    pub(crate) merged: u64,
    /// Reasons for a loss that are true, where merging harms nothing.
    pub(crate) reasons: Option<Vec<Reason>>,
}

/// Where merged frames are lost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guilt {
    /// Given points right in front of and behind the place, if there are both.
    pub(crate) hop: Option<(String, String)>,
    /// Frames lost.
    pub(crate) lost: u64,
    /// Of these, in a capture that is given.
    pub(crate) shown: u64,
    /// Single frames in that capture.
    pub(crate) singles: u64,
}

const ACCUSATIONS: [&str; 2] = ["merged-frames-lost", "merged-frames-rejected"];

impl Label {
    /// The label of a case that was played.
    pub(crate) fn of(case: &Case, played: &Played) -> Self {
        if case.is_comparison() {
            return compared(case, played);
        }
        let (run, outcome) = (&case.runs[0], &played.outcomes[0]);
        let worst = outcome
            .truth
            .drops
            .iter()
            .max_by_key(|drop| drop.for_merging);
        let label = match worst.filter(|drop| drop.for_merging > 0) {
            Some(drop) => guilty(run, outcome, drop),
            None => innocent(case, played),
        };
        let points = outcome.truth.points.iter().map(merged);
        Self {
            merged: points.max().unwrap_or(0),
            ..label
        }
    }
}

fn guilty(run: &Scenario, outcome: &Outcome, drop: &DropTruth) -> Label {
    let (from, to) = around(run, drop);
    let point = |name: &String| outcome.truth.point(name);
    // What is damaged travels on, and is thrown away by the host that it goes to.
    let is_damage = matches!(
        run.path.get(drop.element),
        Some(Element::Hop(Hop::DamageMerged { .. }))
    );
    let upstream = from.as_ref().and_then(point);
    let shown = upstream.map_or(0, |point| point.lost_for_merging[drop.toward.index()]);
    let singles = upstream.map_or(0, |point| singles(point, drop.toward));
    let little = shown < FEW || singles < FEW;
    let mut accepted = ACCUSATIONS.to_vec();
    if shown < FEW && drop.for_merging < FEW {
        // So little happened that nothing may have come of it.
        accepted.extend(["healthy", "path-bandwidth", "sender-idle"]);
    }
    let all = drop.segments + segments_received(outcome, drop.toward);
    if shown < FEW && (drop.segments as f64) < 2.0 * MANY * all as f64 {
        // From behind a few losses are losses.
        accepted.push("loss-not-merging");
    }
    Label {
        guilt: Some(Guilt {
            hop: from.zip(to).filter(|_| shown > 0 && !is_damage),
            lost: drop.for_merging,
            shown,
            singles,
        }),
        accepted,
        costs: false,
        little,
        merged: 0,
        reasons: None,
    }
}

/// Merged frames that a point captured.
fn merged(point: &coalescope_simulate::PointTruth) -> u64 {
    let flows = point.flows.iter().flatten();
    flows.map(|flow| flow.merged_frames).sum()
}

/// Segments that arrived.
fn segments_received(outcome: &Outcome, toward: Side) -> u64 {
    let lanes = outcome
        .truth
        .connections
        .iter()
        .map(|c| &c.toward[toward.index()]);
    lanes
        .map(|lane| lane.bytes / u64::from(lane.segment_size.max(1)))
        .sum()
}

/// Single data frames that a point captured.
fn singles(point: &coalescope_simulate::PointTruth, toward: Side) -> u64 {
    let flows = point.flows.iter().map(|flow| &flow[toward.index()]);
    flows
        .map(|flow| flow.data_frames - flow.merged_frames - flow.tso_frames)
        .sum()
}

/// The given points right in front of an element and behind it, by the way of the frames.
fn around(run: &Scenario, drop: &DropTruth) -> (Option<String>, Option<String>) {
    let name = |element: &Element| match element {
        Element::Point(point) => Some(point.name.clone()),
        _ => None,
    };
    let (nearer_client, nearer_server) = run.path.split_at(drop.element);
    let low = nearer_client.iter().rev().find_map(name);
    let high = nearer_server.iter().find_map(name);
    if drop.toward == Side::Client {
        (high, low)
    } else {
        (low, high)
    }
}

fn innocent(case: &Case, played: &Played) -> Label {
    let outcome = &played.outcomes[0];
    let facts = Facts::of(case, played);
    let mut accepted = accepted(case, &facts);
    let drops = &outcome.truth.drops;
    let worst = drops.iter().max_by_key(|drop| drop.total());
    let behind = worst.is_some_and(|drop| around(&case.runs[0], drop).0.is_none());
    let is_silence = |drop: &DropTruth| {
        let element = case.runs[0].path.get(drop.element);
        drop.too_long * 2 > drop.total() || element.is_some_and(fails)
    };
    if behind && worst.is_some_and(is_silence) {
        // Behind a black hole there is only silence, and so there is behind a line that fails for a while.
        accepted.extend(["healthy", "sender-idle", "path-bandwidth", "none"]);
    }
    let is_known = case.otherwise == Otherwise::NotMerging && facts.left > 0.0;
    let costs = is_known && facts.left < PLAINLY;
    accepted.extend(ACCUSATIONS.into_iter().filter(|_| costs));
    Label {
        guilt: None,
        accepted,
        costs,
        little: [Otherwise::Unlinked, Otherwise::NotMerging].contains(&case.otherwise)
            || facts.lost_share > MANY
                && worst.is_some_and(|drop| hides(&case.runs[0], outcome, drop)),
        merged: 0,
        reasons: Some(reasons(&case.runs[0], outcome)),
    }
}

/// A line that carries nothing for a while.
fn fails(element: &Element) -> bool {
    let Element::Link(link) = element else {
        return false;
    };
    link.toward.iter().any(|lane| lane.outage.is_some())
}

/// Whether the given points do not show what an element dropped: there are none on both sides of it, and none in
/// front of it at which frames were merged that passed it. So single frames look that are merged
/// farther on, and lost.
fn hides(run: &Scenario, outcome: &Outcome, drop: &DropTruth) -> bool {
    let (from, to) = around(run, drop);
    let point = from.as_ref().and_then(|name| outcome.truth.point(name));
    let shown = point.map_or(0, merged);
    to.is_none() && shown < FEW || from.is_none()
}

/// From behind the place where this share of the segments is lost, merged frames might be what was lost: that
/// may be called unclear, and twice as much has to be.
const MANY: f64 = 0.05;
/// Losses that may be named though the family is about something else: an initial window of them.
const SOME: u64 = 3;
/// A path that is used to this share carries about all that it can.
const FILLED: f64 = 0.7;
/// So few segments are over before anything can be said to hold them back.
const SHORT: u64 = 100;
/// A cause that leaves this share of the rate without it, and more, need not be named.
const HARDLY: f64 = 0.75;
/// One that leaves less has to be.
const PLAINLY: f64 = 0.55;

/// What the family says, and what the truth says besides.
fn accepted(case: &Case, facts: &Facts) -> Vec<&'static str> {
    let mut accepted = vec![case.otherwise.id()];
    let mut also = |ids: &[&'static str]| accepted.extend(ids);
    match case.otherwise {
        Otherwise::Healthy | Otherwise::Unmerged => also(facts.also_healthy()),
        Otherwise::HiddenQueue => also(&["healthy", "loss-not-merging"]),
        Otherwise::NotMerging => also(&[
            "healthy",
            "path-bandwidth",
            "sender-idle",
            "receiver-window",
            "not-enough-evidence",
            "none",
        ]),
        Otherwise::Unseen => also(&["healthy", "path-bandwidth", "sender-idle"]),
        Otherwise::Loss => also(facts.also_lossy()),
        Otherwise::Window if facts.window < 0.5 => also(&["healthy", "path-bandwidth"]),
        Otherwise::Bandwidth => also(facts.also_filled(case.is_comparison())),
        Otherwise::Idle if facts.idle < 0.6 || facts.segments < SHORT => also(&["healthy"]),
        _ => {}
    }
    accepted
}

impl Otherwise {
    fn id(self) -> &'static str {
        match self {
            Self::Healthy | Self::Unmerged => "healthy",
            Self::Unseen => "none",
            Self::Unlinked => "not-enough-evidence",
            Self::Loss | Self::NotMerging => "loss-not-merging",
            Self::Window => "receiver-window",
            Self::Idle => "sender-idle",
            Self::Bandwidth | Self::HiddenQueue => "path-bandwidth",
            Self::Reordering => "reordered-before-merge",
        }
    }
}

/// What the truth says of the data that went to the receiving side.
struct Facts {
    /// Data frames dropped.
    lost: u64,
    /// Segments that arrived.
    segments: u64,
    /// Share of the segments that were dropped.
    lost_share: f64,
    /// Share of the slowest link's rate that was used.
    utilised: f64,
    /// Share of the time in which the sender of most had nothing to send.
    idle: f64,
    /// And in which only the receiver's window held it back.
    window: f64,
    /// Share of the rate without the cause that is left with it; 0 where that is not known.
    left: f64,
}

impl Facts {
    /// What besides "nothing is wrong" may be said.
    fn also_healthy(&self) -> &'static [&'static str] {
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
    fn also_filled(&self, compared: bool) -> &'static [&'static str] {
        match (compared || self.utilised < FILLED, self.lost >= SOME) {
            (true, true) => &["healthy", "loss-not-merging"],
            (true, false) => &["healthy"],
            (false, true) => &["loss-not-merging"],
            (false, false) => &[],
        }
    }

    /// What besides "frames are lost" may be said: of losses that hardly cost anything nothing has to be.
    fn also_lossy(&self) -> &'static [&'static str] {
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

    /// Of two transfers the second is the one in question.
    fn of(case: &Case, played: &Played) -> Self {
        Self::of_run(case, played, played.outcomes.len() - 1)
    }

    fn of_run(case: &Case, played: &Played, number: usize) -> Self {
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

/// Share of the slowest link's rate that was used once slow start had opened the window for it: from the initial
/// window to what is under way at that rate takes as many round trips as that doubles (RFC 5681, 3.1; RFC 6928),
/// and the request one more. A queue stands from then on.
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

/// Of two transfers the one whose merged frames were lost takes longer: by how much decides.
fn compared(case: &Case, played: &Played) -> Label {
    let rates = played
        .outcomes
        .iter()
        .map(|o| o.truth.throughput_bps(case.receiver));
    let rates: Vec<f64> = rates.collect();
    let lost: u64 = played
        .outcomes
        .iter()
        .map(|o| o.truth.dropped_for_merging())
        .sum();
    if lost == 0 {
        let mut accepted = accepted(case, &Facts::of(case, played));
        if Facts::of_run(case, played, 0).utilised > FILLED {
            // What is said of the first transfer is right as well.
            accepted.push("path-bandwidth");
        }
        return Label {
            guilt: None,
            accepted,
            costs: false,
            little: false,
            merged: 0,
            reasons: None,
        };
    }
    let slower = rates[0] / rates[1].max(1.0);
    let mut accepted = vec!["no-merging", ACCUSATIONS[0], ACCUSATIONS[1]];
    if slower < SLOWER || lost < FEW {
        accepted.extend(["healthy", "path-bandwidth", "sender-idle"]);
    }
    Label {
        guilt: Some(Guilt {
            hop: None,
            lost,
            shown: 0,
            singles: 0,
        }),
        accepted,
        costs: false,
        little: lost < FEW,
        merged: 0,
        reasons: None,
    }
}

/// A transfer that takes less than a quarter longer may be called as fast.
const SLOWER: f64 = 1.25;

#[cfg(test)]
mod tests {
    use super::{FEW, Label};
    use crate::case::Case;
    use crate::disturb::Disturb;
    use crate::families;

    fn labels(family: &crate::Family, seeds: std::ops::Range<u64>) -> Vec<Label> {
        let label = |seed| {
            let case = Case::draw(family, seed, &Disturb::Drawn);
            Label::of(&case, &case.play())
        };
        seeds.map(label).collect()
    }

    /// A family that says so loses merged frames, by the truth, and no other one does.
    #[test]
    fn families_are_what_they_say() {
        for family in families() {
            let guilty =
                |label: &Label| label.guilt.as_ref().is_some_and(|guilt| guilt.lost >= FEW);
            let labels = labels(family, 1..if family.harms { 4 } else { 3 });
            let found = labels.iter().filter(|label| label.guilt.is_some()).count();
            if family.harms {
                assert!(labels.iter().any(guilty), "{}", family.name);
            } else {
                assert_eq!(found, 0, "{}", family.name);
            }
        }
    }

    /// Whoever draws again gets the same.
    #[test]
    fn a_seed_is_a_scenario() {
        let family = families()[0];
        let twice = [1, 1, 2].map(|seed| Case::draw(family, seed, &Disturb::Drawn).play().captures);
        assert!(twice[0] == twice[1]);
        assert!(twice[0] != twice[2]);
    }
}
