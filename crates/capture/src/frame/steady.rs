//! Times that go on where a clock was set back while a capture ran.
//!
//! Frames of one interface are written in the order in which they came. If a frame's time lies before the last one's by
//! more than the queues of a capturing host can cause, somebody set the clock, and all times from there on are too
//! early by that much: later frames would seem to have come earlier.

use crate::file::{LATEST_NS, RawFrame};

/// Disorder from several queues and processors of one host stays far below this: they pass on what one poll took, some
/// milliseconds at most. Programs that keep the time slew clocks, and step them for no less than 128 ms (ntpd: its step
/// threshold; chrony steps only if configured to).
pub(crate) const SET_BACK_NS: i64 = 10_000_000;
/// If a time fits the clock before the step within this many frames, only the frames in between were out of order.
const STRAYS: u8 = 2;
/// A file with more steps than this was put together from files in any order.
const MOST: u32 = 8;

/// Interfaces from this number on count as one: rows keep no higher number, and what is said of rows and of files is the same.
const TOLD_APART: u32 = u8::MAX as u32;

/// One interface's clock. Followed where a point stands alone: beside others, which show by how much it was set
/// ([`crate::hop::clock`]), times stay as they are.
#[derive(Debug, Default)]
pub(super) struct Steady {
    is_followed: bool,
    /// The latest time returned.
    latest_ns: i64,
    /// Nanoseconds added to times.
    added_ns: i64,
    interface: u32,
    /// Several interfaces in one file may have a clock each, and are not written in order.
    is_mixed: bool,
    /// How often it was set back.
    times: u32,
    /// What was added before the last step, and the frames since.
    before: (i64, u8),
}

impl Steady {
    /// A clock that is followed.
    pub(super) fn followed() -> Self {
        Self {
            is_followed: true,
            ..Self::default()
        }
    }

    /// The time of a frame, unless the frame lies so far back that it may be an earlier one.
    #[inline(always)]
    pub(super) fn time_ns(&mut self, raw: &RawFrame<'_>) -> Option<i64> {
        self.goes_on(raw)
            .or_else(|| (!self.is_behind(raw.time_ns)).then(|| self.any(raw)))
    }

    /// The time of a frame that is no earlier one.
    #[inline(always)]
    pub(super) fn time_of_new_ns(&mut self, raw: &RawFrame<'_>) -> i64 {
        self.goes_on(raw).unwrap_or_else(|| self.any(raw))
    }

    /// Whether a frame's time lies farther back than disorder explains.
    #[inline(always)]
    pub(super) fn is_behind(&self, time_ns: i64) -> bool {
        time_ns.saturating_add(self.added_ns) < self.latest_ns - SET_BACK_NS
    }

    /// The latest time, as the file has it.
    pub(super) fn latest_ns(&self) -> i64 {
        self.latest_ns - self.added_ns
    }

    /// The time of a frame that is not earlier than the one before.
    #[inline(always)]
    fn goes_on(&mut self, raw: &RawFrame<'_>) -> Option<i64> {
        let interface = raw.interface.min(TOLD_APART);
        // Where nothing was added there is no step to be taken back.
        let goes_on = raw.time_ns >= self.latest_ns && self.added_ns == 0;
        (goes_on && interface == self.interface).then(|| {
            self.latest_ns = raw.time_ns;
            raw.time_ns
        })
    }

    #[inline(never)]
    fn any(&mut self, raw: &RawFrame<'_>) -> i64 {
        let raw = &RawFrame {
            interface: raw.interface.min(TOLD_APART),
            ..*raw
        };
        let time_ns = steady(raw, self.added_ns);
        let is_usual = raw.interface == self.interface
            && time_ns >= self.latest_ns - SET_BACK_NS
            && self.before.1 == 0;
        if is_usual {
            self.latest_ns = self.latest_ns.max(time_ns);
            return time_ns;
        }
        self.unusual(raw)
    }

    #[cold]
    #[inline(never)]
    fn unusual(&mut self, raw: &RawFrame<'_>) -> i64 {
        if self.latest_ns == 0 {
            self.interface = raw.interface;
        }
        self.is_mixed |= raw.interface != self.interface;
        self.watch(raw);
        let time_ns = steady(raw, self.added_ns);
        if self.is_set_back(time_ns) {
            self.before = (self.added_ns, STRAYS);
            self.added_ns += self.latest_ns - time_ns;
            self.times += 1;
        }
        let time_ns = steady(raw, self.added_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
        time_ns
    }

    fn is_set_back(&self, time_ns: i64) -> bool {
        let may_be = self.is_followed && !self.is_mixed && self.times < MOST;
        may_be && time_ns < self.latest_ns - SET_BACK_NS
    }

    /// Undoes a step if the clock goes on as before the step: then some frames were out of order.
    fn watch(&mut self, raw: &RawFrame<'_>) {
        let (added_ns, left) = self.before;
        if left == 0 {
            return;
        }
        self.before.1 -= 1;
        if steady(raw, added_ns) >= self.latest_ns - SET_BACK_NS {
            (self.added_ns, self.before.1) = (added_ns, 0);
            self.times -= 1;
        }
    }

    /// By how much it was set back in all, if it was.
    pub(super) fn set_back_ns(&self) -> Option<i64> {
        (self.times > 0).then_some(self.added_ns)
    }
}

/// The time of a frame with what was added, at most the latest that there is.
#[inline(always)]
fn steady(raw: &RawFrame<'_>, added_ns: i64) -> i64 {
    (raw.time_ns + added_ns).min(LATEST_NS)
}

#[cfg(test)]
mod tests {
    use coalescope_wire::LinkType;

    use super::*;

    const MS: i64 = 1_000_000;

    fn times(raw: &[(i64, u32)]) -> (Vec<i64>, Option<i64>) {
        let mut steady = Steady::followed();
        let times = raw.iter().map(|(ms, interface)| {
            let raw = RawFrame {
                number: 1,
                time_ns: ms * MS,
                interface: *interface,
                link: LinkType::Ethernet,
                original_len: 0,
                data: &[],
                direction: crate::file::Direction::Unknown,
            };
            steady.time_of_new_ns(&raw) / MS
        });
        let times = times.collect();
        (times, steady.set_back_ns().map(|ns| ns / MS))
    }

    fn of_one(ms: &[i64]) -> (Vec<i64>, Option<i64>) {
        times(&ms.iter().map(|ms| (*ms, 0)).collect::<Vec<_>>())
    }

    #[test]
    fn times_go_on_where_a_clock_was_set_back() {
        let raw = [1_000, 1_010, 1_020, 530, 535, 540, 545, 550, 1_100];
        let wanted = [
            1_000, 1_010, 1_020, 1_020, 1_025, 1_030, 1_035, 1_040, 1_590,
        ];
        assert_eq!(of_one(&raw), (wanted.to_vec(), Some(490)));
    }

    #[test]
    fn a_frame_out_of_order_sets_no_clock() {
        let raw = [1_000, 1_050, 1_020, 1_060, 1_070];
        assert_eq!(
            of_one(&raw),
            (vec![1_000, 1_050, 1_050, 1_060, 1_070], None)
        );
        let raw = [1_000, 1_005, 998, 1_006];
        assert_eq!(of_one(&raw), (raw.to_vec(), None));
    }

    /// Interfaces of one file need not be written in order.
    #[test]
    fn interfaces_side_by_side_are_left_alone() {
        let raw = [(1_000, 0), (700, 1), (1_001, 0), (701, 1), (650, 1)];
        let (given, set_back) = times(&raw);
        assert_eq!(given, [1_000, 700, 1_001, 701, 650]);
        assert_eq!(set_back, None);
    }

    /// A row has a byte for the interface.
    #[test]
    fn interfaces_beyond_those_that_rows_tell_apart_count_as_one() {
        let frames = |other: u32| {
            [
                (1_000, 255),
                (1_001, other),
                (700, 255),
                (701, other),
                (702, 255),
            ]
        };
        assert_eq!(times(&frames(300)), times(&frames(255)));
        assert_eq!(times(&frames(300)).1, Some(301));
        assert_eq!(times(&frames(254)).1, None);
    }
}
