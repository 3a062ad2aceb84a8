//! How far apart the positions of one direction are at two points.
//!
//! Firewalls rewrite sequence numbers, those of each direction by a constant of its own (Cisco ASA, pf's `modulate
//! state`), and SYN proxies those of one direction. What shows the constant: the numbers of a SYN that both points show; else
//! frames that are the same by what such a box leaves alone, their IP identifications and timestamps, if they are all
//! equally far apart. Until it is known, what the second point shows has no place among the first one's, and waits.

use super::event::{Event, Side};
use super::same_frames::SameFrames;

/// SYNs of one point that are remembered: each one that is sent again may have another timestamp.
const SYNS: usize = 8;

/// The second point's positions less the first's.
#[derive(Debug)]
pub(super) enum Shift {
    /// Not 0 where numbers are rewritten, or one capture began after they had wrapped.
    Known(i64),
    Open(Box<Open>),
}

/// What is known meanwhile.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Holds where both points show the direction, but not both its SYN.
    assumed: Option<i64>,
    /// Number and mark of each SYN, at each point.
    syns: [Vec<(u32, u32)>; 2],
    /// Each point has shown something of the direction, and data.
    has_shown: [bool; 2],
    has_data: [bool; 2],
    frames: SameFrames,
    /// Events of the second point, by its own numbers.
    waiting: Vec<Event>,
}

impl Default for Shift {
    fn default() -> Self {
        Self::Known(0)
    }
}

impl Shift {
    /// One that is to be found, or this one if SYNs do not say otherwise.
    pub(super) fn open(assumed: Option<i64>) -> Self {
        Self::Open(Box::new(Open {
            assumed,
            ..Open::default()
        }))
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Events that wait.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Known(_) => 0,
            Self::Open(open) => open.waiting.len(),
        }
    }

    /// Learns from an event; returns what waited until now, by the first point's numbers.
    #[inline]
    pub(super) fn learn(&mut self, side: Side, event: &Event) -> Vec<Event> {
        match self {
            Self::Known(_) => Vec::new(),
            Self::Open(open) => match open.learn(side, event) {
                Some(apart) => self.become_known(apart),
                None => Vec::new(),
            },
        }
    }

    /// The event by the first point's numbers; `None` if it waits from now on.
    #[inline]
    pub(super) fn place(&mut self, side: Side, event: Event) -> Option<Event> {
        match (side, self) {
            (Side::First, _) => Some(event),
            (Side::Second, Self::Known(apart)) => Some(in_first_terms(event, *apart)),
            (Side::Second, Self::Open(open)) => {
                open.waiting.push(event);
                None
            }
        }
    }

    /// Gives up; returns what waited, and whether it can be compared with what the first point shows.
    pub(super) fn give_up(&mut self) -> (Vec<Event>, bool) {
        let Self::Open(open) = self else {
            return (Vec::new(), true);
        };
        // Where one point has no data, all was lost or none was captured, whatever the numbers are.
        let is_told = open.assumed.is_some() || open.has_data.contains(&false);
        let apart = open.assumed.unwrap_or(0);
        (self.become_known(apart), is_told)
    }

    /// Forgets what waits, when memory is short.
    pub(super) fn forget(&mut self) {
        if let Self::Open(open) = self {
            open.waiting.clear();
        }
    }

    fn become_known(&mut self, apart: i64) -> Vec<Event> {
        let waited = match std::mem::replace(self, Self::Known(apart)) {
            Self::Known(_) => Vec::new(),
            Self::Open(open) => open.waiting,
        };
        let placed = waited.into_iter().map(|event| in_first_terms(event, apart));
        placed.collect()
    }
}

impl Open {
    fn learn(&mut self, side: Side, event: &Event) -> Option<i64> {
        let at = side as usize;
        match event {
            Event::Syn { number, sighting } => self.note_syn(at, (*number, sighting.mark)),
            Event::Data(seen) => {
                self.has_data[at] = true;
                self.frames.add(at, seen);
            }
            Event::Ack { .. } => {}
            // It has no number of this direction.
            Event::Reset { .. } => return None,
        }
        self.has_shown[at] = true;
        let assumed = || self.assumed.filter(|_| self.lacks_a_syn());
        let by_handshake = self.by_handshake().or_else(assumed);
        by_handshake.or_else(|| self.frames.apart())
    }

    fn note_syn(&mut self, at: usize, syn: (u32, u32)) {
        let syns = &mut self.syns[at];
        if syns.len() < SYNS && !syns.contains(&syn) {
            syns.push(syn);
        }
    }

    /// Both points show the direction, and one of them not its SYN.
    fn lacks_a_syn(&self) -> bool {
        let have_shown = !self.has_shown.contains(&false);
        have_shown && self.syns.iter().any(Vec::is_empty)
    }

    /// By a SYN that both points show: one with the same number, or with the same mark. A server that was asked twice may answer
    /// with another number.
    fn by_handshake(&self) -> Option<i64> {
        let [first, second] = &self.syns;
        let numbers =
            |syns: &[(u32, u32)]| syns.iter().map(|(number, _)| *number).collect::<Vec<_>>();
        let second_numbers = numbers(second);
        if numbers(first)
            .iter()
            .any(|number| second_numbers.contains(number))
        {
            return Some(0);
        }
        first.iter().find_map(|(number, mark)| {
            let (other, _) = second.iter().find(|(_, other)| other == mark)?;
            // Positions begin with the number behind the SYN's.
            let [first, second] = [number, other].map(|syn| i64::from(syn.wrapping_add(1)));
            Some(second - first)
        })
    }
}

fn in_first_terms(event: Event, apart: i64) -> Event {
    let first = |position: u64| position.wrapping_add_signed(-apart);
    match event {
        Event::Data(mut seen) => {
            seen.start = first(seen.start);
            Event::Data(seen)
        }
        Event::Ack { position, sighting } => Event::Ack {
            position: first(position),
            sighting,
        },
        Event::Syn { number, sighting } => Event::Syn {
            number: number.wrapping_sub(apart as u32),
            sighting,
        },
        other @ Event::Reset { .. } => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Sighting;
    use super::super::outcome::Seen;
    use super::*;

    fn sighting(mark: u32) -> Sighting {
        Sighting {
            time_ns: 0,
            mark,
            ttl: 64,
            fragmented: false,
        }
    }

    fn syn(number: u32, mark: u32) -> Event {
        let sighting = sighting(mark);
        Event::Syn { number, sighting }
    }

    fn data(start: u64, id: u16) -> Event {
        Event::Data(Seen {
            start,
            len: 100,
            time_ns: 0,
            own_ns: 0,
            pause_ns: 0,
            number: 0,
            turn: 0,
            tsval: 0,
            id,
            ttl: 64,
            fragmented: false,
        })
    }

    /// What is placed, by the first point's numbers, once these events were seen.
    fn placed(shift: &mut Shift, events: impl IntoIterator<Item = (Side, Event)>) -> Vec<u64> {
        let mut all = Vec::new();
        for (side, event) in events {
            all.extend(shift.learn(side, &event));
            all.extend(shift.place(side, event).filter(|_| side == Side::Second));
        }
        let start = |event: Event| match event {
            Event::Data(seen) => Some(seen.start),
            _ => None,
        };
        all.into_iter().filter_map(start).collect()
    }

    const BEGIN: u64 = 1 << 32;

    /// In whatever order captures are read: clocks may show anything.
    #[test]
    fn a_syn_that_both_show_tells_how_far_apart_positions_are() {
        let (first, second) = (u32::MAX, 700);
        let came = [
            (Side::Second, syn(second, 9)),
            (Side::Second, data(BEGIN + 801, 0)),
        ];
        for at in 0..=came.len() {
            let mut events = came.to_vec();
            events.insert(at, (Side::First, syn(first, 9)));
            let mut shift = Shift::open(None);
            assert_eq!(placed(&mut shift, events), [BEGIN + 100], "{at}");
            assert!(!shift.is_open());
        }
    }

    /// One capture shows the answer to the first SYN, the other one that to the second.
    #[test]
    fn syns_with_other_numbers_and_other_stamps_are_no_rewritten_ones() {
        let mut shift = Shift::open(Some(0));
        let events = [
            (Side::First, syn(5, 9)),
            (Side::Second, syn(800, 10)),
            (Side::Second, data(7, 0)),
        ];
        assert!(placed(&mut shift, events).is_empty());
        let (waited, is_told) = shift.give_up();
        assert!(is_told && waited.len() == 2);
    }

    #[test]
    fn what_is_assumed_holds_once_both_show_the_direction() {
        let mut shift = Shift::open(Some(4));
        assert!(placed(&mut shift, [(Side::Second, data(14, 0))]).is_empty());
        assert_eq!(placed(&mut shift, [(Side::First, data(10, 0))]), [10]);
    }

    #[test]
    fn frames_of_one_identification_that_are_equally_far_apart_tell_it() {
        let mut shift = Shift::open(None);
        let both = |i: u64| {
            let id = 100 + i as u16;
            [
                (Side::First, data(100 * i, id)),
                (Side::Second, data(100 * i + 5_000, id)),
            ]
        };
        assert_eq!(placed(&mut shift, (0..9).flat_map(both)).len(), 9);
        assert!(!shift.is_open());
    }

    #[test]
    fn frames_that_nothing_tells_apart_are_not_compared() {
        let mut shift = Shift::open(None);
        let both = |i: u64| [(Side::First, data(i, 0)), (Side::Second, data(i, 0))];
        assert!(placed(&mut shift, (0..9).flat_map(both)).is_empty());
        assert!(!shift.give_up().1);
        let mut lost = Shift::open(None);
        placed(&mut lost, (0..9).map(|i| (Side::First, data(i, 0))));
        assert!(lost.give_up().1);
    }
}
