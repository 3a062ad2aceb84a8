//! The same scenario with its sides exchanged: the client sends what the server sent.

use coalescope_simulate::{Begin, Cut, Element, Hop, Merge, Point, Scenario, Side};

/// Exchanges the sides of everything, except for the side that connects.
pub(crate) fn flip(scenario: &mut Scenario) {
    std::mem::swap(&mut scenario.client, &mut scenario.server);
    scenario.path.reverse();
    for element in &mut scenario.path {
        flip_element(element);
    }
    for other in &mut scenario.others {
        std::mem::swap(&mut other.client, &mut other.server);
    }
    let others = scenario.others.iter_mut().map(|other| &mut other.turns);
    for turn in others.chain([&mut scenario.turns]).flatten() {
        turn.from = turn.from.other();
    }
}

fn flip_element(element: &mut Element) {
    match element {
        Element::Point(Point { own, only, .. }) => {
            *own = own.map(Side::other);
            *only = only.map(Side::other);
        }
        Element::Link(link) => link.toward.reverse(),
        Element::Cut(Cut { toward }) | Element::Merge(Merge { toward, .. }) => {
            *toward = toward.other();
        }
        Element::Hop(hop) => flip_hop(hop),
        Element::OfSome { element, .. } => flip_element(element),
        Element::Since { begin, element } => {
            if let Begin::Bytes(toward, _) = begin {
                *toward = toward.other();
            }
            flip_element(element);
        }
        _ => {}
    }
}

fn flip_hop(hop: &mut Hop) {
    match hop {
        Hop::Forward { mtu } => mtu.reverse(),
        Hop::DropMerged { toward }
        | Hop::DropMergedIfMtuOver { guest: toward, .. }
        | Hop::DropLargerThan { toward, .. }
        | Hop::DropMergedOver { toward, .. }
        | Hop::DropSomeMerged { toward, .. }
        | Hop::CutShort { toward, .. }
        | Hop::Damage { toward, .. }
        | Hop::DamageMerged { toward }
        | Hop::Repeat { toward, .. }
        | Hop::ClampMss { toward, .. }
        | Hop::ThinAcks { toward, .. }
        | Hop::Wrap { inner: toward, .. }
        | Hop::Splitter { toward, .. }
        | Hop::WindowCheck { toward, .. }
        | Hop::TokenBucket { toward, .. } => *toward = toward.other(),
        _ => {}
    }
}
