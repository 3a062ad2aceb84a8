//! True reasons of a loss, by the drops of the simulator's elements.

use coalescope_knowledge::Reason;
use coalescope_simulate::{DropTruth, Element, Hop, Lane, Outcome, Scenario, Side};

/// An element counts if it made this share of all drops.
const PART: f64 = 0.2;

/// The reasons that a verdict may give for the losses of a run; it need give none.
pub(crate) fn reasons(run: &Scenario, outcome: &Outcome, receiver: Side) -> Vec<Reason> {
    let drops = &outcome.truth.drops;
    let all: u64 = drops.iter().map(DropTruth::total).sum();
    let counts = |dropped: u64| dropped > 0 && dropped as f64 >= PART * all as f64;
    let mut reasons = Vec::new();
    for drop in drops {
        let element = run.path.get(drop.element);
        if counts(drop.full) {
            reasons.extend(element.map(of_full));
        }
        if counts(drop.too_long) {
            reasons.extend([Reason::PathMtu, Reason::Length]);
        }
        if counts(drop.by_chance) && element.is_some_and(fails_for_good) {
            // What never got through was longer than what got through before, as behind a small MTU.
            reasons.extend([Reason::PathMtu, Reason::Length]);
        }
        if counts(drop.by_chance) && element.is_some_and(checks_window) {
            reasons.push(Reason::Window);
        }
        if counts(drop.by_chance) && element.is_some_and(spoils_bits) {
            reasons.push(Reason::Corruption);
        }
    }
    if loses_acks(run, receiver) {
        reasons.push(Reason::LostAcks);
    }
    reasons
}

/// Whether acknowledgments are lost on their way back from the side that gets most data.
pub(crate) fn loses_acks(run: &Scenario, receiver: Side) -> bool {
    run.path
        .iter()
        .any(|element| is_lossy_back(element, receiver))
}

/// Whether acknowledgments are lost before any given point sees them: then frames look lost that arrived.
pub(crate) fn hides_acks(run: &Scenario, receiver: Side) -> bool {
    let is_lossy = |element: &Element| is_lossy_back(element, receiver);
    let Some(place) = run.path.iter().position(is_lossy) else {
        return false;
    };
    let (nearer_client, nearer_server) = run.path.split_at(place);
    let passed = if receiver == Side::Client {
        nearer_client
    } else {
        nearer_server
    };
    let is_point = |element: &Element| matches!(element, Element::Point(_));
    !passed.iter().any(is_point)
}

fn is_lossy_back(element: &Element, receiver: Side) -> bool {
    let Element::Link(link) = element else {
        return false;
    };
    let back = &link.toward[receiver.other().index()];
    back.loss > 0.0 || back.outage.is_some()
}

/// A full element delays the packets that it keeps, unless it has no queue.
fn of_full(element: &Element) -> Reason {
    match element {
        Element::Hop(Hop::TokenBucket { queue: 0, .. }) => Reason::Policer,
        Element::OfSome { element, .. } | Element::Since { element, .. } => of_full(element),
        _ => Reason::Queue,
    }
}

fn fails_for_good(element: &Element) -> bool {
    let Element::Link(link) = element else {
        return false;
    };
    let ends = |lane: &Lane| lane.outage.map(|(_, ends)| ends);
    link.toward.iter().any(|lane| ends(lane) == Some(u64::MAX))
}

fn checks_window(element: &Element) -> bool {
    match element {
        Element::Hop(Hop::WindowCheck { .. }) => true,
        Element::OfSome { element, .. } | Element::Since { element, .. } => checks_window(element),
        _ => false,
    }
}

fn spoils_bits(element: &Element) -> bool {
    match element {
        Element::Link(link) => link.toward.iter().any(|lane| lane.bit_errors > 0.0),
        Element::Hop(Hop::Damage { .. }) => true,
        Element::OfSome { element, .. } | Element::Since { element, .. } => spoils_bits(element),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use coalescope_simulate::run;

    use super::*;
    use crate::case::Case;
    use crate::disturb::Disturb;
    use crate::families;

    /// Of some draws together.
    fn of(family: &str) -> Vec<Reason> {
        let all = families();
        let family = all.iter().find(|one| one.name == family).expect("a family");
        let draw = |seed| {
            let case = Case::draw(family, seed, &Disturb::Not);
            reasons(&case.runs[0], &run(&case.runs[0]), case.receiver)
        };
        let mut found = Vec::new();
        for reason in (1..6).flat_map(draw) {
            if !found.contains(&reason) {
                found.push(reason);
            }
        }
        found
    }

    #[test]
    fn elements_tell_what_frames_were_lost_for() {
        assert_eq!(of("policer-behind"), [Reason::Policer]);
        assert_eq!(of("queue-in-front"), [Reason::Queue]);
        assert_eq!(of("bit-errors-behind"), [Reason::Corruption]);
        assert_eq!(of("black-hole"), [Reason::PathMtu, Reason::Length]);
        assert_eq!(of("random-loss"), []);
        assert_eq!(of("no-way-back"), [Reason::LostAcks]);
    }
}
