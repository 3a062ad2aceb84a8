//! Merged frames that are lost for a time: over the whole of a capture few of them may be, and nearly all while it lasts.

use coalescope_capture::facts::{Hop, Slot};

use crate::judged::is_unjudged;
use crate::odds::{Table, fisher};
use crate::thresholds::{A_FEW, DOUBT, HANDFUL, NEARLY_ALL, SPARED_BESIDE};

/// What was lost from the first merged frame that was lost to the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) table: Table,
    /// Seconds after the first frame.
    pub(super) from_s: f64,
    pub(super) to_s: f64,
}

/// The time in which nearly all merged frames of a hop are lost and nearly no single one, if it is not all of the time. A
/// burst of losses is over at once: losses, and single frames that pass among them, are in several slots.
pub(super) fn of_loss(hop: &Hop) -> Option<Span> {
    let lacks_merged = hop.merged.lacks() || is_unjudged(&hop.merged, &hop.single);
    if hop.merged.lost < HANDFUL || hop.tso.seen > 0 || lacks_merged {
        return None;
    }
    let slots = &hop.strip.slots;
    let loses = |slot: &Slot| slot.merged_lost > 0;
    let (first, last) = (
        slots.iter().position(loses)?,
        slots.iter().rposition(loses)?,
    );
    // In its first and last slot other merged frames may have arrived before it began, or after its end.
    let spans = [(0, 0), (1, 0), (0, 1), (1, 1)]
        .map(|(late, early)| (first + late, (last + 1).saturating_sub(early)));
    let found = |(from, to): (usize, usize)| {
        let within = slots
            .get(from..to)
            .filter(|within| within.len() < slots.len())?;
        let table = loses_merged(within, spans.len())?;
        Some(Span {
            table,
            from_s: from as f64 * hop.strip.slot_s,
            to_s: to as f64 * hop.strip.slot_s,
        })
    };
    spans.into_iter().find_map(found)
}

/// What was lost in these slots, if it is nearly all that was merged, and nearly nothing else, in several of them; `looks` is
/// the number of spans that are looked at.
fn loses_merged(within: &[Slot], looks: usize) -> Option<Table> {
    let several =
        |is: fn(&Slot) -> bool| within.iter().filter(|slot| is(slot)).count() as u64 > A_FEW;
    let table = table_of(within);
    let is_all = table.merged_share() >= NEARLY_ALL && table.single_share() <= SPARED_BESIDE;
    let lasts = several(|slot| slot.merged_lost > 0) && several(|slot| slot.single_arrived > 0);
    let by_chance = || fisher(&table).is_none_or(|p| p >= DOUBT / looks as f64);
    (is_all && table.merged_lost >= HANDFUL && lasts && !by_chance()).then_some(table)
}

fn table_of(slots: &[Slot]) -> Table {
    let sum = |of: fn(&Slot) -> u32| slots.iter().map(|slot| u64::from(of(slot))).sum();
    let (merged_lost, single_lost) = (sum(|slot| slot.merged_lost), sum(|slot| slot.other_lost));
    let (merged, single): (u64, u64) = (
        sum(|slot| slot.merged_arrived),
        sum(|slot| slot.single_arrived),
    );
    Table {
        merged_lost,
        merged: merged + merged_lost,
        single_lost,
        single: single + single_lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merged frames lost and arrived, single ones arrived and lost, by slot of a tenth of a second.
    fn hop(slots: &[(u32, u32, u32, u32)]) -> Hop {
        let mut hop = Hop::default();
        hop.strip.slot_s = 0.1;
        for (merged_lost, merged_arrived, single_arrived, other_lost) in slots.iter().copied() {
            hop.merged.lost += u64::from(merged_lost);
            hop.strip.slots.push(Slot {
                merged_lost,
                other_lost,
                merged_arrived,
                single_arrived,
            });
        }
        hop
    }

    #[test]
    fn merged_frames_are_lost_up_to_some_time() {
        let mut slots = vec![(3, 0, 4, 0), (2, 0, 3, 0), (0, 0, 2, 0), (3, 0, 2, 0)];
        slots.extend([(0, 20, 1, 0); 12]);
        let span = of_loss(&hop(&slots)).unwrap();
        assert_eq!((span.table.merged_lost, span.table.merged), (8, 8));
        assert_eq!((span.table.single_lost, span.table.single), (0, 11));
        assert_eq!((span.from_s, span.to_s), (0.0, 0.4));
    }

    /// The slots in which it begins and ends saw merged frames arrive, too.
    #[test]
    fn merged_frames_are_lost_from_some_time_to_another() {
        let mut slots = vec![(0, 20, 1, 0), (2, 18, 1, 0)];
        slots.extend([(3, 0, 3, 0), (0, 0, 4, 0), (2, 0, 5, 0), (4, 0, 4, 0)]);
        slots.extend([(1, 9, 2, 0), (0, 30, 3, 0)]);
        let span = of_loss(&hop(&slots)).unwrap();
        assert_eq!((span.table.merged_lost, span.table.merged), (9, 9));
        assert_eq!((span.from_s, span.to_s), (0.2, 6.0 * 0.1));
    }

    #[test]
    fn an_outage_and_a_burst_are_no_such_time() {
        let mut outage = vec![(0, 0, 30, 0), (3, 0, 1, 3), (2, 0, 1, 3), (3, 0, 1, 2)];
        outage.extend([(0, 20, 1, 0); 12]);
        assert!(of_loss(&hop(&outage)).is_none());
        let burst = [(0, 9, 9, 0), (12, 0, 12, 0), (0, 9, 9, 0)];
        assert!(of_loss(&hop(&burst)).is_none());
        let scattered = [
            (1, 9, 9, 0),
            (2, 9, 9, 0),
            (0, 5, 9, 0),
            (2, 9, 9, 0),
            (0, 9, 9, 0),
        ];
        assert!(of_loss(&hop(&scattered)).is_none());
    }
}
