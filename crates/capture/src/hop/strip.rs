//! What became of frames over time, in as many slots as a line of text can use.

use super::outcome::{Judged, Outcome};
use crate::facts::hop::{Slot, Strip};

/// Slots of a strip: in a long capture at least about half of them are used, so that several make up each column of a
/// line.
const SLOTS: usize = 256;
/// The first slots last 2^10 ns, about a microsecond.
const FIRST_SHIFT: u32 = 10;
/// Slots of 2^54 ns: 256 of them are all the time that there is.
const LAST_SHIFT: u32 = 54;

/// One direction of a hop, over all its connections. Its slots become longer as the capture does.
#[derive(Debug)]
pub(crate) struct Slots {
    begin_ns: i64,
    /// A slot lasts 2^shift ns.
    shift: u32,
    /// None before the first frame.
    slots: Vec<Slot>,
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            begin_ns: 0,
            shift: FIRST_SHIFT,
            slots: Vec::new(),
        }
    }
}

impl Slots {
    /// Takes a frame; `multi` says whether it carried several segments.
    pub(super) fn add(&mut self, judged: &Judged, multi: bool) {
        if matches!(judged.outcome, Outcome::Missed | Outcome::NotJudged) {
            return;
        }
        let slot = self.at(judged.time_ns);
        let count = match (judged.outcome, multi) {
            (Outcome::Lost, true) => &mut slot.merged_lost,
            (Outcome::Lost | Outcome::PartlyLost, _) => &mut slot.other_lost,
            (_, true) => &mut slot.merged_arrived,
            (_, false) => &mut slot.single_arrived,
        };
        *count = count.saturating_add(1);
    }

    fn at(&mut self, time_ns: i64) -> &mut Slot {
        if self.slots.is_empty() {
            self.begin_ns = time_ns;
            self.slots = vec![Slot::default(); SLOTS];
        }
        while self.place(time_ns).is_none() && self.shift < LAST_SHIFT {
            self.widen(time_ns < self.begin_ns);
        }
        let place = self.place(time_ns).unwrap_or(0);
        &mut self.slots[place]
    }

    fn place(&self, time_ns: i64) -> Option<usize> {
        let since_ns = time_ns.checked_sub(self.begin_ns)?;
        usize::try_from(since_ns >> self.shift)
            .ok()
            .filter(|&place| place < SLOTS)
    }

    /// Makes slots twice as long, which leaves room before the first one or after the last.
    fn widen(&mut self, before: bool) {
        let mut slots = vec![Slot::default(); SLOTS];
        let moved = if before { SLOTS / 2 } else { 0 };
        for (place, slot) in self.slots.iter().enumerate() {
            slots[moved + place / 2].add(slot);
        }
        if before {
            let room_ns = (SLOTS as i64) << self.shift;
            self.begin_ns = self.begin_ns.saturating_sub(room_ns);
        }
        self.slots = slots;
        self.shift += 1;
    }

    /// From the first slot that is used to the last.
    pub(super) fn strip(&self) -> Strip {
        let is_used = |slot: &Slot| *slot != Slot::default();
        let first = self.slots.iter().position(is_used).unwrap_or(0);
        let end = self
            .slots
            .iter()
            .rposition(is_used)
            .map_or(0, |last| last + 1);
        Strip {
            slot_s: (1_u64 << self.shift) as f64 / 1e9,
            slots: self.slots[first..end].to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(time_ns: i64, outcome: Outcome) -> Judged {
        Judged {
            connection: 0,
            len: 100,
            ahead: 0,
            number: 1,
            turn: 1,
            lone: false,
            behind_hole: false,
            pause_ns: 0,
            time_ns,
            own_ns: time_ns,
            outcome,
        }
    }

    fn all(strip: &Strip) -> Slot {
        let mut all = Slot::default();
        strip.slots.iter().for_each(|slot| all.add(slot));
        all
    }

    #[test]
    fn no_frame_is_forgotten_however_long_it_takes_and_in_whatever_order() {
        let times = [
            1_000_000_000,
            1_000_000_100,
            3_600_000_000_000,
            999,
            i64::MAX,
            0,
        ];
        let mut slots = Slots::default();
        for time_ns in times {
            slots.add(&frame(time_ns, Outcome::Lost), true);
        }
        assert_eq!(all(&slots.strip()).merged_lost, times.len() as u32);
    }

    #[test]
    fn slots_are_as_short_as_the_time_allows() {
        let mut slots = Slots::default();
        for ms in 0..1000 {
            slots.add(&frame(ms * 1_000_000, Outcome::Arrived), false);
        }
        let strip = slots.strip();
        assert!(strip.slots.len() > SLOTS / 2 && strip.slots.len() <= SLOTS);
        let spanned_s = strip.slot_s * strip.slots.len() as f64;
        assert!((1.0..1.01).contains(&spanned_s), "{spanned_s}");
        assert!(strip.slots.iter().all(|slot| slot.single_arrived > 0));
    }

    #[test]
    fn each_sort_is_counted_as_what_it_is() {
        let mut slots = Slots::default();
        for (outcome, multi) in [
            (Outcome::Lost, true),
            (Outcome::PartlyLost, true),
            (Outcome::Lost, false),
            (Outcome::Resplit, true),
            (Outcome::Fragmented, false),
            (Outcome::Missed, true),
            (Outcome::NotJudged, false),
        ] {
            slots.add(&frame(5, outcome), multi);
        }
        let expected = Slot {
            merged_lost: 1,
            other_lost: 2,
            merged_arrived: 1,
            single_arrived: 1,
        };
        assert_eq!(slots.strip().slots, [expected]);
    }

    #[test]
    fn without_frames_there_is_nothing() {
        assert!(Slots::default().strip().slots.is_empty());
    }
}
