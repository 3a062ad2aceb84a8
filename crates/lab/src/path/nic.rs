//! A network card, or a driver, that merges what it receives.

use super::frame::segments;
use super::{DropReason, Element, Error, Follow, Followed, Frame, Nanos, Onward, Side, cut, nanos};
use coalescope_wire::LinkType;
use gro::profile::{Padding, Profile};
use gro::{
    ByteSink, Checksums, CopyingCoalescer, OutgoingBytes, Settings, Verification, VirtioNetHeader,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Default time between polls: 4,000 interrupts a second, as Intel's drivers throttle bulk traffic
/// (Documentation/networking/device_drivers/ethernet/intel/e1000.rst, InterruptThrottleRate).
const INTERVAL: Duration = Duration::from_micros(250);
/// Frames after which a poll ends early: NAPI's budget.
const FRAMES: usize = 64;

/// The feature that turns an emulated card's merging on.
///
/// Of the features that merge, a TAP has only GRO; its `rx-lro` is fixed. So `rx-gro` stands for LRO too.
const MERGES: &str = "rx-gro";

/// A card that merges frames on their way toward one side, by the rules of a profile. Frames of the
/// other direction are segmented as on a wire.
///
/// The card merges while the feature `rx-gro` of the interface at that end of the wire is on.
#[derive(Debug)]
pub struct Nic {
    name: String,
    toward: Side,
    merges: Arc<AtomicBool>,
    profile: Profile,
    engine: CopyingCoalescer,
    keeps_segment_size: bool,
    interval: Nanos,
    frames: usize,
    waits: bool,
    /// When the held frames will be polled.
    poll: Option<Nanos>,
    last_poll: Option<Nanos>,
    held: usize,
}

impl Nic {
    /// A card that keeps the gso_size, as GRO does. It interrupts every 250 us at most, and a poll
    /// ends after 64 frames.
    #[must_use]
    pub fn new(name: &str, toward: Side, profile: Profile) -> Self {
        Self {
            name: name.to_owned(),
            toward,
            merges: Arc::new(AtomicBool::new(true)),
            engine: engine(&profile, true),
            profile,
            keeps_segment_size: true,
            interval: nanos(INTERVAL),
            frames: FRAMES,
            waits: false,
            poll: None,
            last_poll: None,
            held: 0,
        }
    }

    /// Drops the gso_size, as LRO does: a forwarder sees a merged frame as one long packet with a right checksum.
    #[must_use]
    pub fn losing_segment_size(mut self) -> Self {
        self.keeps_segment_size = false;
        self.engine = engine(&self.profile, false);
        self
    }

    /// Throttles interrupts: polls are at least `interval` apart, unless `frames` frames arrive
    /// earlier. A frame after a silence is polled at once and alone; frames within the interval
    /// behind it are polled together. Cards whose `rx-usecs` is an interrupt throttling rate
    /// (Intel's) work like this. On a path that drops all merged frames, such a card still lets the
    /// first segment through.
    #[must_use]
    pub fn polling(mut self, interval: Duration, frames: usize) -> Self {
        self.interval = nanos(interval);
        self.frames = frames;
        self.waits = false;
        self
    }

    /// Delays interrupts: a poll takes all frames within `interval` after its first frame, or `frames` frames.
    #[must_use]
    pub fn waiting(self, interval: Duration, frames: usize) -> Self {
        Self {
            waits: true,
            ..self.polling(interval, frames)
        }
    }

    fn receive(&mut self, frame: &Frame, at: Nanos, out: &mut Onward<'_>) {
        let due = self.due(at);
        self.poll.get_or_insert(due);
        let mut up = Up::of(self.toward, self.keeps_segment_size, out);
        self.engine.push(frame.bytes(), at, &mut up);
        self.held += 1;
        if self.held >= self.frames {
            self.end_poll(at, out);
        }
    }

    /// When a frame that arrives now would be polled if no other is held.
    fn due(&self, at: Nanos) -> Nanos {
        let from = if self.waits { Some(at) } else { self.last_poll };
        from.map_or(at, |from| at.max(from.saturating_add(self.interval)))
    }

    fn end_poll(&mut self, at: Nanos, out: &mut Onward<'_>) {
        let mut up = Up::of(self.toward, self.keeps_segment_size, out);
        self.engine.flush(&mut up);
        (self.poll, self.last_poll, self.held) = (None, Some(at), 0);
    }
}

/// The merging engine. The card verifies checksums; a frame that loses its gso_size has a complete
/// checksum, as with LRO. The card cuts Ethernet padding, and this element ends the polls.
fn engine(profile: &Profile, keeps_segment_size: bool) -> CopyingCoalescer {
    let mut profile = *profile;
    profile.link.padding = Padding::Trim;
    profile.table.budget = 0;
    let settings = Settings {
        verification: Verification::Verify,
        checksums: if keeps_segment_size {
            Checksums::Partial
        } else {
            Checksums::Complete
        },
        ..Settings::default()
    };
    CopyingCoalescer::new(&profile, settings)
}

impl Element for Nic {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, frame: Frame, toward: Side, at: Nanos, out: &mut Onward<'_>) {
        let merges = toward == self.toward && self.merges.load(Ordering::Relaxed);
        if !merges && toward == self.toward && self.poll.is_some() {
            self.end_poll(at, out);
        }
        let mut up = |single: Frame| match merges {
            true => self.receive(&single, at, out),
            false => out.pass(single, toward),
        };
        if let Err(why) = cut(frame, &mut up) {
            out.drop_frame(toward, why);
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        self.poll
    }

    fn tick(&mut self, at: Nanos, out: &mut Onward<'_>) {
        self.end_poll(at, out);
    }

    fn follows(&self) -> Vec<Follow> {
        vec![Follow {
            end: self.toward,
            what: Followed::Feature(MERGES, Arc::clone(&self.merges)),
        }]
    }

    fn check(&self) -> Result<(), Error> {
        match self.frames {
            0 => Err(Error::Value {
                element: self.name.clone(),
                what: "frames a poll",
                value: "0".to_owned(),
                range: "1 or more",
            }),
            _ => Ok(()),
        }
    }
}

/// Takes the frames of the engine and passes them on to the host.
struct Up<'o, 'a> {
    toward: Side,
    keeps_segment_size: bool,
    out: &'o mut Onward<'a>,
}

impl<'o, 'a> Up<'o, 'a> {
    fn of(toward: Side, keeps_segment_size: bool, out: &'o mut Onward<'a>) -> Self {
        Self {
            toward,
            keeps_segment_size,
            out,
        }
    }

    fn pass(
        &mut self,
        header: &VirtioNetHeader,
        outgoing: &OutgoingBytes<'_>,
        segments: Option<u16>,
    ) {
        if let Some(segments) = segments {
            self.out.merged(self.toward, segments);
        }
        let frame = Frame::new(header, outgoing.bytes).merged_of(segments.unwrap_or(1));
        self.out.pass(frame, self.toward);
    }

    /// Segments a merged frame that a virtio-net header cannot describe (accurate ECN, IP in IP): a
    /// driver would not have merged it.
    fn resegment(&mut self, bytes: &[u8], gso: gro::Gso) {
        let (out, toward) = (&mut *self.out, self.toward);
        if let Err(why) = segments(bytes, gso, &mut |segment| out.pass(segment, toward)) {
            self.out.drop_frame(self.toward, why);
        }
    }
}

impl ByteSink for Up<'_, '_> {
    /// A frame that is not merged is passed on without a checksum flag: the kernel verifies its
    /// checksum, and so detects damage.
    fn take(&mut self, outgoing: OutgoingBytes<'_>) {
        let gso = outgoing.about.gso.filter(|gso| gso.segments > 1);
        let header = match gso {
            Some(gso) if self.keeps_segment_size => {
                VirtioNetHeader::for_merged(LinkType::Ethernet, outgoing.bytes, &gso)
            }
            // The engine may have replaced the checksum of a frame that it held alone by the pseudo-header's sum.
            None if self.keeps_segment_size => single(&outgoing),
            None => Ok(VirtioNetHeader::default()),
            Some(_) => Ok(VirtioNetHeader::verified()),
        };
        match (header, gso) {
            (Ok(header), _) => self.pass(&header, &outgoing, gso.map(|gso| gso.segments)),
            (Err(_), Some(gso)) => self.resegment(outgoing.bytes, gso),
            (Err(_), None) => self.out.drop_frame(self.toward, DropReason::Malformed),
        }
    }
}

/// The header of a frame that is not merged.
fn single(outgoing: &OutgoingBytes<'_>) -> Result<VirtioNetHeader, gro::VirtioError> {
    match outgoing.about.gso {
        Some(gso) => VirtioNetHeader::for_merged(LinkType::Ethernet, outgoing.bytes, &gso),
        None => Ok(VirtioNetHeader::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::testing::Bench;
    use super::*;
    use crate::craft::{Ipv4, Segment};

    const FOREVER: Nanos = u64::MAX;

    /// Segments of 1,000 bytes, in sequence, single on the wire.
    fn segments(count: u32) -> Vec<Frame> {
        let mut segment = Segment::v4(Ipv4::default());
        segment.payload = vec![7; 1000];
        let frames = (0..count).map(|number| {
            if let Some(tcp) = segment.tcp_mut() {
                tcp.seq = 1000 * number;
            }
            Frame::new(&VirtioNetHeader::default(), &segment.frame())
        });
        frames.collect()
    }

    /// Sends frames so many nanoseconds apart; gives when each came out, and how many segments
    /// it is made of.
    fn through(mut nic: Nic, frames: &[Frame], apart: Nanos) -> (Bench, Vec<(Nanos, Frame)>) {
        let (mut bench, mut all) = (Bench::default(), Vec::new());
        for (frame, at) in frames.iter().zip((0..).step_by(apart as usize)) {
            all.extend(bench.wait(&mut nic, at));
            let now = bench.frame(&mut nic, frame.clone(), Side::Client, at);
            all.extend(now.into_iter().map(|(side, frame)| (at, side, frame)));
        }
        all.extend(bench.wait(&mut nic, FOREVER));
        let all = all.into_iter().map(|(at, _, frame)| (at, frame));
        let all = all.collect();
        (bench, all)
    }

    fn shape(out: &[(Nanos, Frame)]) -> Vec<(Nanos, u16)> {
        out.iter()
            .map(|(at, frame)| (*at, frame.merged()))
            .collect()
    }

    fn nic() -> Nic {
        Nic::new("nic", Side::Client, Profile::linux_gro())
    }

    #[test]
    fn a_throttled_card_polls_the_first_at_once_and_then_in_batches() {
        let throttled = nic().polling(Duration::from_nanos(100), 64);
        let (bench, out) = through(throttled, &segments(6), 40);
        // Polls at 0, 100 (frames of 40 and 80), 200 (120 and 160; at 200 the poll is first).
        assert_eq!(shape(&out), [(0, 1), (100, 2), (200, 2), (300, 1)]);
        let counts = bench.counts(Side::Client);
        assert_eq!((counts.merged, counts.segments), (2, 4));
    }

    #[test]
    fn a_card_that_waits_counts_from_the_first_frame_or_takes_so_many() {
        let waiting = nic().waiting(Duration::from_nanos(100), 64);
        let (_, out) = through(waiting, &segments(5), 40);
        assert_eq!(shape(&out), [(100, 3), (220, 2)]);
        let few = nic().waiting(Duration::from_nanos(1000), 2);
        let (_, out) = through(few, &segments(5), 40);
        assert_eq!(shape(&out), [(40, 2), (120, 2), (1160, 1)]);
    }

    #[test]
    fn the_segment_size_is_handed_on_or_lost() {
        let waiting = |nic: Nic| nic.waiting(Duration::from_nanos(100), 64);
        let (_, kept) = through(waiting(nic()), &segments(3), 10);
        let [(_, kept)] = kept.try_into().expect("one frame");
        assert_eq!(kept.header().gso_size, 1000);
        assert_eq!(kept.longest_packet(), 1040);
        let losing = waiting(nic().losing_segment_size());
        let (_, lost) = through(losing, &segments(3), 10);
        let [(_, lost)] = lost.try_into().expect("one frame");
        assert_eq!(lost.header(), VirtioNetHeader::verified());
        assert_eq!((lost.longest_packet(), lost.merged()), (3040, 3));
        let bytes = lost.bytes();
        let length = ((bytes.len() - 34) as u16).to_be_bytes();
        let sum =
            crate::checksum::internet_checksum(&[&bytes[26..34], &[0, 6], &length, &bytes[34..]]);
        assert_eq!(sum, 0, "the checksum is complete and right");
    }

    #[test]
    fn a_damaged_frame_goes_up_alone_and_unverified() {
        let mut frames = segments(3);
        frames[1].bytes_mut()[60] ^= 1;
        let waiting = nic().waiting(Duration::from_nanos(100), 64);
        let (_, out) = through(waiting, &frames, 10);
        assert!(out.iter().all(|(_, frame)| frame.merged() == 1));
        let bad = out
            .iter()
            .find(|(_, frame)| frame.bytes() == frames[1].bytes());
        let (_, bad) = bad.expect("it goes up");
        assert_eq!(bad.header(), VirtioNetHeader::default());
    }

    #[test]
    fn switched_off_it_lets_go_and_merges_nothing() {
        let (mut bench, mut nic) = (Bench::default(), nic());
        let frames = segments(4);
        let send = |bench: &mut Bench, nic: &mut Nic, frame: &Frame, at| {
            bench.frame(nic, frame.clone(), Side::Client, at).len()
        };
        assert_eq!(send(&mut bench, &mut nic, &frames[0], 0), 0);
        assert_eq!(bench.wait(&mut nic, 0).len(), 1);
        assert_eq!(send(&mut bench, &mut nic, &frames[1], 1), 0);
        for follow in nic.follows() {
            assert_eq!(follow.end, Side::Client);
            if let Followed::Feature("rx-gro", on) = follow.what {
                on.store(false, Ordering::Relaxed);
            }
        }
        assert_eq!(send(&mut bench, &mut nic, &frames[2], 2), 2);
        assert_eq!(send(&mut bench, &mut nic, &frames[3], 3), 1);
        assert_eq!(
            (nic.deadline(), bench.counts(Side::Client).merged),
            (None, 0)
        );
    }
}
