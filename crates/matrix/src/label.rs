//! What the right verdict on a case is, by the simulator's own truth.
//!
//! The definitions, none of which knows the analysis's own thresholds:
//!
//! - Merging harms where an element dropped merged frames each of whose segments would have passed
//!   ([`DropTruth::for_merging`]). The right verdict then is `merged-frames-lost` (or `-rejected`, where a
//!   router said so); and where captures on both sides of that element are given, between these two.
//! - "Not enough evidence" is right only where fewer than [`FEW`] of the dropped frames are in a given
//!   capture as merged frames, or fewer than [`FEW`] single frames passed there to compare them with.
//! - Everywhere else a finding that accuses merging, whatever its place in the list, is a false
//!   accusation; right is what the family says, as far as the truth bears it out.

use coalescope_simulate::{DropTruth, Element, Outcome, Scenario, Side};

use crate::case::{Case, Played};

/// Fewer lost frames than this are too few to demand a verdict: with five of each sort even a perfect
/// table is one of 252.
pub(crate) const FEW: u64 = 5;

/// What the main finding must be where merging harms nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// Nothing is wrong.
    Healthy,
    /// Frames are lost.
    Loss,
    /// The receiver's window.
    Window,
    /// The sender has nothing to send.
    Idle,
    /// A link or a shaper.
    Bandwidth,
    /// Frames overtake each other.
    Reordering,
    /// Of two transfers the slow one arrives unmerged since merged frames were lost on its way.
    Unmerged,
}

/// The right verdict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    /// Merging harms, and this is where.
    pub(crate) guilt: Option<Guilt>,
    /// Ids of which the main finding must be one.
    pub(crate) accepted: Vec<&'static str>,
    /// "Not enough evidence" is right, too.
    pub(crate) little: bool,
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
        match worst.filter(|drop| drop.for_merging > 0) {
            Some(drop) => guilty(run, outcome, drop),
            None => innocent(case, outcome),
        }
    }
}

fn guilty(run: &Scenario, outcome: &Outcome, drop: &DropTruth) -> Label {
    let (from, to) = around(run, drop);
    let point = |name: &String| outcome.truth.point(name);
    let upstream = from.as_ref().and_then(point);
    let shown = upstream.map_or(0, |point| point.lost_for_merging[drop.toward.index()]);
    let singles = upstream.map_or(0, |point| singles(point, drop.toward));
    let little = shown < FEW || singles < FEW;
    let mut accepted = ACCUSATIONS.to_vec();
    if shown < FEW && drop.for_merging < FEW {
        // So little happened that nothing may have come of it.
        accepted.extend(["healthy", "path-bandwidth", "sender-idle"]);
    }
    Label {
        guilt: Some(Guilt {
            hop: from.zip(to).filter(|_| shown > 0),
            lost: drop.for_merging,
            shown,
        }),
        accepted,
        little,
    }
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

fn innocent(case: &Case, outcome: &Outcome) -> Label {
    Label {
        guilt: None,
        accepted: accepted(case, outcome),
        little: false,
    }
}

/// What the family says, and what the truth says besides.
fn accepted(case: &Case, outcome: &Outcome) -> Vec<&'static str> {
    let facts = Facts::of(case, outcome);
    let mut accepted = match case.otherwise {
        Otherwise::Healthy | Otherwise::Unmerged => vec!["healthy"],
        Otherwise::Loss => vec!["loss-not-merging"],
        Otherwise::Window => vec!["receiver-window"],
        Otherwise::Idle => vec!["sender-idle"],
        Otherwise::Bandwidth => vec!["path-bandwidth"],
        Otherwise::Reordering => vec!["reordered-before-merge"],
    };
    let healthy = case.otherwise == Otherwise::Healthy;
    if facts.utilised > 0.7
        && (healthy || case.otherwise == Otherwise::Loss && facts.lost_share < 0.01)
    {
        accepted.push("path-bandwidth");
    }
    if case.otherwise == Otherwise::Loss && (facts.lost < FEW || facts.lost_share < 0.002) {
        accepted.extend(["healthy", "path-bandwidth"]);
    }
    if case.otherwise != Otherwise::Loss && facts.lost >= FEW {
        accepted.push("loss-not-merging");
    }
    accepted
}

/// What the truth says of the data that went to the receiving side.
struct Facts {
    /// Data frames dropped.
    lost: u64,
    /// Of those sent.
    lost_share: f64,
    /// Share of the slowest link's rate that was used.
    utilised: f64,
}

impl Facts {
    fn of(case: &Case, outcome: &Outcome) -> Self {
        let toward = case.receiver;
        let truth = &outcome.truth;
        let drops = truth.drops.iter().filter(|drop| drop.toward == toward);
        let lost: u64 = drops.map(DropTruth::total).sum();
        let lanes = truth.connections.iter().map(|c| &c.toward[toward.index()]);
        let segments: u64 = lanes
            .map(|lane| lane.bytes / u64::from(lane.segment_size.max(1)))
            .sum();
        let rates = case.runs[0]
            .path
            .iter()
            .filter_map(|element| rate(element, toward));
        let rate = rates.min().unwrap_or(u64::MAX) as f64;
        Self {
            lost,
            lost_share: lost as f64 / segments.max(1) as f64,
            utilised: truth.throughput_bps(toward) / rate,
        }
    }
}

fn rate(element: &Element, toward: Side) -> Option<u64> {
    match element {
        Element::Link(link) => Some(link.toward[toward.index()].rate_bps),
        Element::Hop(coalescope_simulate::Hop::TokenBucket { rate_bps, .. }) => Some(*rate_bps),
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
        return Label {
            guilt: None,
            accepted: accepted(case, &played.outcomes[1]),
            little: false,
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
        }),
        accepted,
        little: lost < FEW,
    }
}

/// A transfer that takes less than a quarter longer may be called as fast.
const SLOWER: f64 = 1.25;
