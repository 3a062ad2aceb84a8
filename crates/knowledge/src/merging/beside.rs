//! What becomes of frames as long on other connections: a box on the way of one of them only loses none of the others', and one on
//! the way of all loses all. What loses a part of them is a rate limit or a queue, and one connection has been unlucky.

use std::cell::RefCell;
use std::collections::BTreeMap;

use coalescope_capture::facts::{Connection, Hop, Length, Lengths};

use crate::by_size::Step;
use crate::part::Part;
use crate::thresholds::{A_FEW, NEARLY_ALL, TENTH};

/// Frames of several segments, by connection and direction.
pub(super) struct Beside<'a> {
    lengths: Vec<(&'static str, &'a Lengths)>,
    /// Answers that were given. Of many connections that lose long frames most have one of a few steps.
    known: RefCell<BTreeMap<(&'static str, Option<u32>), bool>>,
}

impl<'a> Beside<'a> {
    pub(super) fn of_hop(hop: &'a Hop) -> Self {
        let all = hop.connections.iter();
        Self::of(all.map(|seen| (seen.direction, &seen.by_length)))
    }

    /// Of connections of a point that lost frames of several segments.
    pub(super) fn of_suspects(suspects: &'a [Connection]) -> Self {
        let ways = |connection: &'a Connection| {
            [
                ("to_client", &connection.to_client.by_length),
                ("to_server", &connection.to_server.by_length),
            ]
        };
        Self::of(suspects.iter().flat_map(ways))
    }

    fn of(lengths: impl Iterator<Item = (&'static str, &'a Lengths)>) -> Self {
        Self {
            lengths: lengths.collect(),
            known: RefCell::default(),
        }
    }

    /// Whether connections lost a part of what is longer than a step of one of them, and half as many frames at least as those
    /// lost that lost all of it.
    pub(super) fn loses_a_part(&self, direction: &'static str, step: &Step) -> bool {
        let mut known = self.known.borrow_mut();
        let answer = known.entry((direction, step.carried));
        *answer.or_insert_with(|| self.find(direction, step.carried))
    }

    fn find(&self, direction: &str, carried: Option<u32>) -> bool {
        let is_longer = |length: &&Length| carried.is_none_or(|least| length.bytes > least);
        let ways = self.lengths.iter().filter(|(way, _)| *way == direction);
        let longer = ways.map(|(_, lengths)| Part::of(lengths.iter().filter(is_longer)));
        let (all, some): (Vec<Part>, Vec<Part>) =
            longer.partition(|part| part.share() >= NEARLY_ALL);
        let [all, some] =
            [all, some].map(|parts| parts.into_iter().fold(Part::default(), and_lossy));
        some.lost >= A_FEW && some.share() >= TENTH && 2 * some.lost >= all.lost
    }
}

/// Adds what a connection lost, unless that is next to nothing.
fn and_lossy(sum: Part, part: Part) -> Part {
    if part.share() >= TENTH {
        sum.and(part)
    } else {
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 8 and more segments of 1,448 bytes are lost, all of this connection's.
    #[test]
    fn others_that_lose_a_part_of_frames_as_long_excuse_no_box() {
        let lengths = |shorter: (u32, u32), longer: (u32, u32)| {
            let mut lengths = Lengths::default();
            lengths.add(4 * 1448, shorter.0, shorter.1);
            lengths.add(8 * 1448, longer.0, longer.1);
            lengths
        };
        let own = lengths((300, 0), (0, 12));
        let step = |carried| Step {
            carried,
            longer: Part { lost: 12, all: 12 },
            shorter: Part { lost: 0, all: 300 },
            p: 1e-12,
        };
        let carried = own.iter().next().map(|shorter| shorter.bytes);
        let is_part = |carried, others: &[Lengths]| {
            let back = lengths((0, 0), (20, 20));
            let others = others.iter().map(|lengths| ("to_client", lengths));
            let all = others.chain([("to_client", &own), ("to_server", &back)]);
            Beside::of(all).loses_a_part("to_client", &step(carried))
        };
        assert!(is_part(carried, &[lengths((500, 0), (17, 15))]));
        assert!(is_part(None, &[lengths((30, 10), (0, 0))]));
        // None, next to none, or all of the others' are lost, or shorter ones are.
        for (shorter, longer) in [
            ((500, 0), (30, 0)),
            ((500, 0), (30, 1)),
            ((500, 0), (0, 20)),
            ((500, 100), (30, 0)),
        ] {
            assert!(!is_part(carried, &[lengths(shorter, longer)]), "{longer:?}");
        }
        // Some connections pass the box, some do not, and one is unlucky.
        let some = [(40, 0), (0, 20), (0, 18), (6, 2)].map(|longer| lengths((50, 0), longer));
        assert!(!is_part(carried, &some));
    }
}
