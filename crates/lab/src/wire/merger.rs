//! A middlebox that merges like a receive offload.

use super::{Middlebox, Outgoing};
use gro::profile::{Padding, Profile};
use gro::{Checksums, CopyingCoalescer, Counters, OutgoingBytes, Settings};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Default limit of how long a frame is held.
///
/// A network card or a kernel merges frames within some ten to some hundred microseconds
/// (`gro_flush_timeout` of the kernel's selftest: 200 us). A program needs longer: between two frames
/// of a burst its sender may lose the processor for a scheduler's slice, about 3 ms (Linux,
/// `sysctl_sched_base_slice`). A lone data frame is delayed by the whole limit.
pub const DEFAULT_HOLD: Duration = Duration::from_millis(5);

/// Merges frames by the rules of a profile. Merged frames leave when the rules say so, or after a set time.
///
/// Checksums of merged frames are complete, so that any interface takes them. Frames that are not
/// merged leave unchanged, with their padding.
#[derive(Debug)]
pub struct Merger {
    engine: CopyingCoalescer,
    hold_ns: u64,
}

impl Merger {
    /// A merger that holds a frame for `hold` at most. With zero, frames that one system call
    /// received are merged, up to 64.
    ///
    /// Two values of the profile do not apply to a wire. Ethernet padding is cut before merging, as
    /// drivers and bridges cut it before GRO. There are no polls, so that no budget ends one.
    pub fn new(profile: &Profile, hold: Duration) -> Self {
        let mut profile = *profile;
        profile.link.padding = Padding::Trim;
        profile.table.budget = 0;
        let settings = Settings {
            checksums: Checksums::Complete,
            seed: RandomState::new().hash_one(()),
            ..Settings::default()
        };
        Self {
            engine: CopyingCoalescer::new(&profile, settings),
            hold_ns: u64::try_from(hold.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// Counters of the engine so far.
    pub fn counters(&self) -> &Counters {
        self.engine.counters()
    }
}

impl Middlebox for Merger {
    fn frame(&mut self, frame: &[u8], now_ns: u64, out: &mut Outgoing) {
        let mut out = OutgoingBytes::each(|merged| out.push(merged.bytes));
        self.engine.push(frame, now_ns, &mut out);
    }

    fn deadline(&self) -> Option<u64> {
        let oldest = self.engine.oldest()?;
        Some(oldest.saturating_add(self.hold_ns))
    }

    fn tick(&mut self, now_ns: u64, out: &mut Outgoing) {
        let mut out = OutgoingBytes::each(|merged| out.push(merged.bytes));
        if now_ns == u64::MAX {
            self.engine.flush(&mut out);
        } else if let Some(latest) = now_ns.checked_sub(self.hold_ns) {
            self.engine.flush_before(latest.saturating_add(1), &mut out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::{Ipv4, Segment};
    use gro::Reason;

    /// Segments of 100 bytes, in sequence.
    fn segments(count: u32) -> Vec<Vec<u8>> {
        let mut segment = Segment::v4(Ipv4::default());
        segment.payload = vec![7; 100];
        let frames = (0..count).map(|number| {
            if let Some(tcp) = segment.tcp_mut() {
                tcp.seq = 1000 + 100 * number;
            }
            segment.frame()
        });
        frames.collect()
    }

    fn lengths(out: &mut Outgoing) -> Vec<usize> {
        let lengths = out.frames().iter().map(|frame| frame.len() - 54).collect();
        out.clear();
        lengths
    }

    #[test]
    fn what_is_held_leaves_after_its_time_counted_from_its_first_frame() {
        let mut merger = Merger::new(&Profile::linux_gro(), Duration::from_nanos(100));
        let mut out = Outgoing::default();
        assert_eq!(merger.deadline(), None);
        for (frame, now) in segments(2).iter().zip([1000, 1099]) {
            merger.frame(frame, now, &mut out);
        }
        assert_eq!(merger.deadline(), Some(1100));
        merger.tick(1099, &mut out);
        assert_eq!(lengths(&mut out), [0_usize; 0]);
        merger.tick(1100, &mut out);
        assert_eq!(lengths(&mut out), [200]);
        assert_eq!(merger.deadline(), None);
        assert_eq!(merger.counters().flushed(Reason::Age), 1);
    }

    #[test]
    fn more_frames_than_a_poll_takes_are_merged_and_the_end_lets_all_go() {
        let mut merger = Merger::new(&Profile::linux_gro(), Duration::MAX);
        let mut out = Outgoing::default();
        for frame in &segments(100) {
            merger.frame(frame, 7, &mut out);
        }
        assert_eq!(merger.deadline(), Some(u64::MAX));
        assert_eq!(lengths(&mut out), [0_usize; 0]);
        merger.tick(u64::MAX, &mut out);
        assert_eq!(lengths(&mut out), [10_000]);
    }

    #[test]
    fn padding_is_cut_from_what_is_merged_and_stays_on_what_is_not() {
        let mut merger = Merger::new(&Profile::linux_gro(), Duration::ZERO);
        let mut out = Outgoing::default();
        let [first, second]: [Vec<u8>; 2] = segments(2).try_into().expect("two");
        let padded = [&second[..], &[0; 5]].concat();
        merger.frame(&first, 0, &mut out);
        merger.frame(&padded, 0, &mut out);
        merger.tick(0, &mut out);
        assert_eq!(lengths(&mut out), [200]);
        merger.frame(&padded, 1, &mut out);
        merger.tick(1, &mut out);
        assert_eq!(lengths(&mut out), [105]);
    }
}
