//! Loss for want of room: a queue or a bucket has room for frames up to some length always, and for longer ones the more
//! seldom, the longer they are.

use coalescope_capture::facts::{Length, Lengths};

use crate::odds::Table;
use crate::part::Part;
use crate::thresholds::{SEGMENT, STRAY};

/// Frames of a length, and what became of them.
#[derive(Clone, Copy, Debug)]
struct Row {
    bytes: f64,
    part: Part,
}

/// How much likelier, as a natural logarithm, loss for each byte beyond those that always have room is than one share of
/// loss for single frames and another one for all that is merged. Either has two parameters.
pub(super) fn likelier(table: &Table, lengths: &Lengths) -> f64 {
    let single = single_row(table, lengths);
    let merged: Vec<Row> = lengths.iter().map(Row::from).collect();
    let all: Vec<Row> = std::iter::once(single).chain(merged).collect();
    let alike = single.part.own_likelihood() + Part::of(lengths.iter()).own_likelihood();
    for_want_of_room(&all) - alike
}

/// Whether merged frames are lost no more often than loss for each byte makes them, at the rate of single ones.
pub(super) fn is_as_by_the_byte(table: &Table, lengths: &Lengths) -> bool {
    let single = single_row(table, lengths);
    let rate = -(1.0 - table.single_share()).ln() / single.bytes;
    let lost = |row: Row| row.part.all as f64 * -(-rate * row.bytes).exp_m1();
    let expected: f64 = lengths.iter().map(Row::from).map(lost).sum();
    table.merged_lost as f64 <= expected
}

fn single_row(table: &Table, lengths: &Lengths) -> Row {
    let shortest = lengths
        .iter()
        .next()
        .map_or(SEGMENT, |length| length.bytes / 2);
    Row {
        bytes: f64::from(shortest.min(SEGMENT)),
        part: Part {
            lost: table.single_lost,
            all: table.single,
        },
    }
}

impl From<&Length> for Row {
    fn from(length: &Length) -> Self {
        Self {
            bytes: f64::from(length.bytes),
            part: Part::of(std::iter::once(length)),
        }
    }
}

/// The likelihood if each byte beyond some length is lost with one probability, with the likeliest of either.
fn for_want_of_room(rows: &[Row]) -> f64 {
    // From a byte in ten million to a byte in ten, in steps of an eighth.
    let rates = || (0..118).map(|i| 1e-7 * 1.125_f64.powi(i));
    let with = |room: f64, rate: f64| -> f64 {
        let lost = |row: &Row| -(-rate * (row.bytes - room).max(0.0)).exp_m1();
        let of = |row: &Row| row.part.likelihood(lost(row).clamp(STRAY, 1.0 - STRAY));
        rows.iter().map(of).sum()
    };
    let all = rooms(rows).flat_map(|room| rates().map(move |rate| (room, rate)));
    all.map(|(room, rate)| with(room, rate))
        .fold(f64::NEG_INFINITY, f64::max)
}

/// Rooms from none to the longest frame, at least as far apart as lengths that are counted together.
fn rooms(rows: &[Row]) -> impl Iterator<Item = f64> {
    let longest = rows.last().map_or(0.0, |row| row.bytes);
    let step = (longest / 64.0).max(256.0);
    (0..64)
        .map(move |i| f64::from(i) * step)
        .take_while(move |room| *room < longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_size::counted;
    use crate::thresholds::SURELY;

    /// Single frames and merged ones by segments: how many there were, and how many of them were lost.
    fn explained(single: (u64, u64), merged: &[(u32, u32, u32)]) -> bool {
        let (table, lengths) = counted(single, merged);
        likelier(&table, &lengths) >= SURELY
    }

    /// Counts of simulated policers and short queues behind a card that merges.
    #[test]
    fn want_of_room_hits_the_longest() {
        assert!(explained((787, 0), &[(2, 428, 3), (3, 237, 13)]));
        assert!(explained(
            (90, 0),
            &[(2, 68, 1), (3, 38, 7), (4, 46, 18), (5, 27, 16)]
        ));
        let queue = [
            (2, 115, 0),
            (3, 57, 1),
            (4, 40, 5),
            (5, 81, 26),
            (6, 86, 43),
        ];
        assert!(explained((680, 1), &queue));
        assert!(explained(
            (277, 1),
            &[
                (3, 48, 0),
                (5, 25, 5),
                (8, 25, 7),
                (10, 25, 5),
                (11, 38, 14)
            ]
        ));
    }

    /// Every second merged frame, whatever its length, or all of them from some time on.
    #[test]
    fn what_does_not_grow_is_not_explained() {
        assert!(!explained(
            (370, 0),
            &[(2, 80, 41), (3, 60, 29), (5, 40, 19), (8, 29, 14)]
        ));
        assert!(!explained((245, 0), &[(2, 560, 250), (3, 162, 55)]));
        assert!(!explained((100, 0), &[(2, 40, 20)]));
        assert!(!explained((100, 1), &[(2, 40, 36), (4, 40, 35)]));
    }
}
