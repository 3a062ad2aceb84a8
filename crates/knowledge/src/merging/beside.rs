//! What becomes of frames as long on other connections: a box on the way of one of them only loses none of the others', and one on
//! the way of all loses all. What loses a part of them is a rate limit or a queue, and one connection has been unlucky.

use std::collections::BTreeMap;

use coalescope_capture::facts::{Hop, Lengths, Point};

use crate::by_size::Step;
use crate::part::Part;
use crate::thresholds::{A_FEW, NEARLY_ALL, TENTH};

/// Frames of several segments of all connections, by direction.
#[derive(Default)]
pub(super) struct Beside(BTreeMap<&'static str, Lengths>);

impl Beside {
    pub(super) fn of_hop(hop: &Hop) -> Self {
        let mut all = Self::default();
        for seen in &hop.connections {
            all.add(seen.direction, &seen.by_length);
        }
        all
    }

    pub(super) fn of_point(point: &Point) -> Self {
        let mut all = Self::default();
        for connection in point.connections.iter() {
            all.add("to_client", &connection.to_client.by_length);
            all.add("to_server", &connection.to_server.by_length);
        }
        all
    }

    fn add(&mut self, direction: &'static str, lengths: &Lengths) {
        self.0.entry(direction).or_default().add_all(lengths);
    }

    /// Whether other connections than one with these frames lost a part of what is longer than its step.
    pub(super) fn loses_a_part(&self, direction: &str, own: &Lengths, step: &Step) -> bool {
        let longer = |lengths: &Lengths| {
            let all = lengths.iter();
            Part::of(all.filter(|length| step.carried.is_none_or(|carried| length.bytes > carried)))
        };
        let all = self.0.get(direction).map(longer).unwrap_or_default();
        let others = all.without(longer(own));
        others.lost >= A_FEW && (TENTH..NEARLY_ALL).contains(&others.share())
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
        let is_part = |carried, others: Lengths| {
            let mut all = Beside::default();
            all.add("to_client", &own);
            all.add("to_client", &others);
            all.add("to_server", &lengths((0, 0), (20, 20)));
            all.loses_a_part("to_client", &own, &step(carried))
        };
        let carried = own.iter().next().map(|shorter| shorter.bytes);
        assert!(is_part(carried, lengths((500, 0), (17, 15))));
        assert!(is_part(None, lengths((30, 10), (0, 0))));
        // None, next to none, or all of the others' are lost; or shorter ones are.
        for (shorter, longer) in [
            ((500, 0), (30, 0)),
            ((500, 0), (30, 1)),
            ((500, 0), (0, 20)),
            ((500, 100), (30, 0)),
        ] {
            assert!(!is_part(carried, lengths(shorter, longer)), "{longer:?}");
        }
    }
}
