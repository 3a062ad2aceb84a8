//! What is settled of pairs at the latest when memory gets short, or at the end.

use super::Hop;
use super::pair::Pair;
use super::sides::Ends;
use crate::point::Point;

impl Hop {
    /// Adds the evidence of all pairs for the sides of hosts, unsettled pairs included.
    pub(crate) fn weigh_all(&mut self, points: [&Point; 2]) {
        let all = 0..self.pairs.len() as u32;
        self.place(all.clone(), |_| true);
        self.weigh(points, all, |_| true);
    }

    fn weigh(
        &mut self,
        points: [&Point; 2],
        numbers: impl IntoIterator<Item = u32>,
        is_due: impl Fn(&Pair) -> bool,
    ) {
        for number in numbers {
            let pair = &mut self.pairs[number as usize];
            if !pair.is_counted && is_due(pair) {
                pair.is_counted = true;
                self.sides
                    .add(&Ends::of(pair, points[0]), pair.weight(points));
            }
        }
    }

    /// Settles for pairs which point comes first, where the decision cannot wait: by the evidence of each pair, and
    /// then by that of the others.
    pub(super) fn settle(&mut self, points: [&Point; 2], at_end: bool, numbers: &[u32]) {
        let is_due = |pair: &Pair| at_end || pair.is_overdue();
        let all = || numbers.iter().copied();
        self.place(all(), is_due);
        self.weigh(points, all(), |pair| pair.is_settled() || is_due(pair));
        for number in all() {
            let pair = &mut self.pairs[number as usize];
            if !pair.is_settled() && is_due(pair) {
                let ends = Ends::of(pair, points[0]);
                let weight = self.sides.weigh(&ends, pair.weight(points));
                pair.settle_without_proof(weight, &mut self.clock);
            }
        }
    }

    /// Places what waits for its place, where it cannot wait any longer.
    fn place(&mut self, numbers: impl IntoIterator<Item = u32>, is_due: impl Fn(&Pair) -> bool) {
        let resolution_ns = self.resolution_ns();
        for number in numbers {
            let pair = &mut self.pairs[number as usize];
            if is_due(pair) {
                pair.place_all(resolution_ns, &mut self.clock);
            }
        }
    }
}
