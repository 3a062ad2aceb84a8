//! The right verdict on a case, by the simulator's own truth.
//!
//! The definitions, none of which knows the analysis's own thresholds:
//!
//! - Merging harms where an element dropped merged frames each of whose segments would have passed
//!   ([`DropTruth::for_merging`]). The right verdict then is `merged-frames-lost` (or `-rejected`, where a
//!   router said so); and where captures on both sides of that element are given, between these two.
//! - "Not enough evidence" is right only where fewer than [`FEW`] of the dropped frames are in a given
//!   capture as merged frames, or fewer than [`FEW`] single frames passed there to compare them with.
//!   It is right as well where an element drops some merged frames and passes others of their length.
//! - Where no connection has frames in two of the captures, "not enough evidence" is right besides: nothing can be compared.
//! - "No frame was merged" is wrong where a given capture has [`FEW`] merged frames.
//! - Where no element dropped a frame for being merged, but the same transfer is about twice as fast unmerged, merging harms
//!   as well, and may be accused; nobody has to.
//! - Everywhere else a finding that accuses merging, whatever its place in the list, is a false
//!   accusation; right is what the family says, as far as the truth bears it out.

mod facts;

use coalescope_knowledge::Reason;
use coalescope_simulate::{DropTruth, Element, Hop, Outcome, PointTruth, Scenario, Side};

pub(crate) use self::facts::FEW;
use self::facts::{FILLED, Facts, PLAINLY, segments_received};

use crate::case::{Case, Played};
use crate::drawn::Otherwise;
use crate::reasons::{hides_acks, loses_acks, reasons};

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

const ACCUSATIONS: [&str; 3] = [
    "merged-frames-lost",
    "merged-frames-rejected",
    "merged-datagrams-lost",
];

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
    // Damaged frames travel on, and are dropped by the host that they go to.
    let is_damage = matches!(
        run.path.get(drop.element),
        Some(Element::Hop(Hop::DamageMerged { .. }))
    );
    let upstream = from.as_ref().and_then(point);
    let shown = upstream.map_or(0, |point| point.lost_for_merging[drop.toward.index()]);
    let singles = upstream.map_or(0, |point| singles(point, drop.toward));
    // Where some merged frames pass, and some are lost, nothing tells for certain what they are lost for.
    let is_some = matches!(
        run.path.get(drop.element),
        Some(Element::Hop(
            Hop::DropSomeMerged { .. } | Hop::CutShort { .. }
        ))
    );
    let little = shown < FEW || singles < FEW || is_some;
    let mut accepted = ACCUSATIONS.to_vec();
    if shown < FEW && drop.for_merging < FEW {
        // So little was lost that it may have had no effect.
        accepted.extend(["healthy", "path-bandwidth", "sender-idle"]);
    }
    if is_some && (shown < FEW || drop.for_merging < 2 * FEW) {
        // Others like them passed, so that chance explains it as well.
        accepted.push("loss-not-merging");
    }
    let all = drop.segments + segments_received(outcome, drop.toward);
    if shown < FEW && (drop.segments as f64) < 2.0 * MANY * all as f64 {
        // Seen from behind, a few losses are just losses.
        accepted.push("loss-not-merging");
    }
    Label {
        guilt: Some(Guilt {
            hop: from
                .zip(to)
                .filter(|_| shown > u64::from(is_some) * FEW && !is_damage),
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
fn merged(point: &PointTruth) -> u64 {
    let flows = point.flows.iter().flatten();
    flows.map(|flow| flow.merged_frames).sum()
}

/// Single data frames that a point captured.
fn singles(point: &PointTruth, toward: Side) -> u64 {
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
    if loses_acks(&case.runs[0], case.receiver) {
        // A SYN may be among what was lost, or many in a row.
        accepted.push("loss-not-merging");
    }
    let drops = &outcome.truth.drops;
    let worst = drops.iter().max_by_key(|drop| drop.total());
    let behind = worst.is_some_and(|drop| around(&case.runs[0], drop).0.is_none());
    let is_silence = |drop: &DropTruth| {
        let element = case.runs[0].path.get(drop.element);
        drop.too_long * 2 > drop.total() || element.is_some_and(fails)
    };
    if behind && worst.is_some_and(is_silence) {
        // Behind a black hole no frames come, and none come behind a line that fails for a while.
        accepted.extend(["healthy", "sender-idle", "path-bandwidth", "none"]);
    }
    let is_known = case.otherwise == Otherwise::NotMerging && facts.left > 0.0;
    let costs = is_known && facts.left < PLAINLY;
    accepted.extend(ACCUSATIONS.into_iter().filter(|_| costs));
    Label {
        guilt: None,
        accepted,
        costs,
        little: hides_acks(&case.runs[0], case.receiver)
            || [
                Otherwise::Unlinked,
                Otherwise::Unseen,
                Otherwise::NotMerging,
            ]
            .contains(&case.otherwise)
            || share_nothing(&outcome.truth.points)
            || facts.lost_share > MANY
                && worst.is_some_and(|drop| hides(&case.runs[0], outcome, drop)),
        merged: 0,
        reasons: Some(reasons(&case.runs[0], outcome, case.receiver)),
    }
}

/// Whether no connection has frames in two of the captures, as where one ended before any frame came that it takes: nothing can be
/// compared then, whoever says so is right.
fn share_nothing(points: &[PointTruth]) -> bool {
    let shows = |point: &PointTruth, number: usize| {
        let flow = point.flows.get(number);
        flow.is_some_and(|both| both.iter().any(|one| one.frames > 0))
    };
    let connections = points.first().map_or(0, |point| point.flows.len());
    let shown = |number| points.iter().filter(|point| shows(point, number)).count();
    points.len() > 1 && (0..connections).all(|number| shown(number) < 2)
}

/// A line that carries nothing for a while.
fn fails(element: &Element) -> bool {
    let Element::Link(link) = element else {
        return false;
    };
    link.toward.iter().any(|lane| lane.outage.is_some())
}

/// Whether the given points do not show what an element dropped: there are no points on both sides of it, and none in
/// front of it that merged frames passed. Then frames look single that are merged farther on, and lost.
fn hides(run: &Scenario, outcome: &Outcome, drop: &DropTruth) -> bool {
    let (from, to) = around(run, drop);
    let point = from.as_ref().and_then(|name| outcome.truth.point(name));
    let shown = point.map_or(0, merged);
    to.is_none() && shown < FEW || from.is_none()
}

/// From behind the place where this share of the segments is lost, merged frames might be what was lost: that
/// may be called unclear, and twice as much has to be.
const MANY: f64 = 0.05;
/// So few segments are over before anything can be said to hold them back.
const SHORT: u64 = 100;

/// The ids that the family asks for, and those that the truth allows besides.
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
        Otherwise::Unseen => also(&["none"]),
        Otherwise::Loss => also(facts.also_lossy()),
        Otherwise::LostAcks => also(facts.also_slower()),
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
            Self::Unlinked | Self::Unseen => "not-enough-evidence",
            Self::Loss | Self::LostAcks | Self::NotMerging => "loss-not-merging",
            Self::Window => "receiver-window",
            Self::Idle => "sender-idle",
            Self::Bandwidth | Self::HiddenQueue => "path-bandwidth",
            Self::Reordering => "reordered-before-merge",
        }
    }
}

/// The label of a comparison: the transfer whose merged frames were lost takes longer, and the difference decides.
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
            // The limit of the first transfer is right as well.
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
