//! What lies between the two ends.

mod bond;
mod bucket;
mod hop;
mod link;
mod merge;
mod since;
mod split;
mod thin;
mod window;

use crate::packet::Packet;
use crate::path::Element;
use crate::scenario::Scenario;
use crate::schedule::Nanos;

pub(crate) use hop::{pass_router, real_server, translated};
pub(crate) use split::cut;

use bond::BondState;
use bucket::Bucket;
use hop::HopState;
use link::LinkState;
use merge::MergeState;
use since::Since;
use thin::Thin;
use window::WindowCheck;

/// The packets that come out of an element: each at some time, onward or back.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Goes on to the next element.
    pub(crate) onward: Vec<(Nanos, Packet)>,
    /// Packets that return to the side that they came from.
    pub(crate) back: Vec<(Nanos, Packet)>,
    /// Dropped packets, with the reason.
    pub(crate) dropped: Vec<(Packet, Why)>,
    /// When the element must be woken.
    pub(crate) wake: Option<Nanos>,
}

/// Why an element drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// For being merged.
    Merged,
    /// The IP packet is longer than this many bytes, which the element never carries.
    Longer(usize),
    /// A queue is full, or a bucket empty.
    Full,
    /// Chance, whatever the packet is.
    Chance,
}

/// An element with its state.
#[derive(Debug)]
pub(crate) enum State {
    /// A point, by its index among the points.
    Point(usize),
    Link(Box<LinkState>),
    Bond(BondState),
    Cut(crate::path::Cut),
    Merge(MergeState),
    Hop(HopState),
    Bucket(Bucket),
    Thin(Thin),
    WindowCheck(WindowCheck),
    OfSome(usize, Box<State>),
    Since(Since, Box<State>),
}

impl State {
    /// The state that an element of a scenario starts with. `number` is its place in the path.
    pub(crate) fn new(
        element: &Element,
        number: usize,
        points: &mut usize,
        scenario: &Scenario,
    ) -> Self {
        let seed = scenario.seed;
        let stream = 1_000 + number as u64;
        match element {
            Element::Point(_) => {
                *points += 1;
                Self::Point(*points - 1)
            }
            Element::Link(link) => Self::Link(Box::new(LinkState::new(link, seed, stream))),
            Element::Bond(lanes) => Self::Bond(BondState::new(lanes, seed, stream)),
            Element::Cut(cut) => Self::Cut(*cut),
            Element::Merge(merge) => Self::Merge(MergeState::new(*merge, seed, stream)),
            Element::Hop(crate::path::Hop::TokenBucket {
                toward,
                rate_bps,
                burst,
                queue,
            }) => Self::Bucket(Bucket::new(*toward, *rate_bps, *burst, *queue)),
            Element::Hop(crate::path::Hop::ThinAcks { toward, every }) => {
                Self::Thin(Thin::new(*toward, *every))
            }
            Element::Hop(crate::path::Hop::WindowCheck { toward, bytes }) => {
                Self::WindowCheck(WindowCheck::new(*toward, *bytes))
            }
            Element::Hop(hop) => Self::Hop(HopState::new(hop, scenario, stream)),
            Element::OfSome { every, element } => {
                let state = Self::new(element, number, points, scenario);
                Self::OfSome(*every, Box::new(state))
            }
            Element::Since { begin, element } => {
                let state = Self::new(element, number, points, scenario);
                Self::Since(Since::new(*begin), Box::new(state))
            }
        }
    }

    /// A packet arrives.
    pub(crate) fn handle(&mut self, packet: Packet, now: Nanos) -> Outbox {
        let mut out = Outbox::default();
        match self {
            Self::Link(link) => link.handle(packet, now, &mut out),
            Self::Bond(bond) => bond.handle(packet, now, &mut out),
            Self::Cut(cut) if packet.toward == cut.toward && packet.can_be_cut() => {
                out.onward
                    .extend(split::cut(&packet).into_iter().map(|packet| (now, packet)));
            }
            Self::OfSome(every, state) if packet.flow.is_multiple_of(*every) => {
                return state.handle(packet, now);
            }
            Self::Since(since, state) => {
                if since.has_begun(&packet, now) {
                    return state.handle(packet, now);
                }
                out.onward.push((now, packet));
            }
            Self::Point(_) | Self::Cut(_) | Self::OfSome(..) => out.onward.push((now, packet)),
            Self::Merge(merge) => merge.handle(packet, now, &mut out),
            Self::Hop(hop) => hop.handle(packet, now, &mut out),
            Self::Bucket(bucket) => bucket.handle(packet, now, &mut out),
            Self::Thin(thin) => thin.handle(packet, now, &mut out),
            Self::WindowCheck(check) => check.handle(packet, now, &mut out),
        }
        out
    }

    /// Called at the time that the element asked for.
    pub(crate) fn wake(&mut self, now: Nanos) -> Outbox {
        let mut out = Outbox::default();
        match self {
            Self::Merge(merge) => merge.wake(now, &mut out),
            Self::Thin(thin) => thin.wake(now, &mut out),
            Self::OfSome(_, state) | Self::Since(_, state) => return state.wake(now),
            _ => {}
        }
        out
    }
}
