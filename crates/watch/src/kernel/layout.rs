//! The layout of the maps, as in `bpf/watch.bpf.c`.

use std::ops::{Add, AddAssign};

use crate::facts::{Forwarded, Frames, Queued, Received, Sent};

/// Words of `struct counters`.
pub(crate) const COUNTER_WORDS: usize = 22;
/// Half words of `struct dropped`.
pub(crate) const WHERE_WORDS: usize = 8;
/// Words of `struct drops`.
pub(crate) const DROP_WORDS: usize = 4;
/// Half words of `struct flow`.
pub(crate) const FLOW_WORDS: usize = 11;
/// Words of `struct fate`.
pub(crate) const FATE_WORDS: usize = 13;
/// `HEADERS`: bytes of a frame in a sample.
const HEADERS: usize = 96;
/// `struct sample` up to the headers.
const SAMPLE_HEAD: usize = 8 + 4 * WHERE_WORDS + 4 * 4 + 2 * 2 + 4;

/// An interface: the inode of its network namespace, and its ifindex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) space: u32,
    /// The namespace's random number, since the kernel gives inodes of namespaces that are gone to the next ones; 0 where
    /// nobody says.
    pub(crate) mix: u32,
    pub(crate) interface: u32,
}

/// Counters of an interface, of one processor or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted(pub(crate) Frames);

impl Counted {
    /// A sum that changes with each of the counters.
    pub(crate) fn all(&self) -> u64 {
        let (received, queued, sent) = (&self.0.received, &self.0.queued, &self.0.sent);
        received.frames + queued.frames + sent.frames
    }

    /// The place that uses the slot, and its counters; none if the slot is free.
    pub(crate) fn read(words: &[u64; COUNTER_WORDS]) -> Option<(Place, Self)> {
        let [place, more, rest @ ..] = words;
        let [space, interface] = halves(*place);
        let [mix, _] = halves(*more);
        let place = Place {
            space,
            mix,
            interface,
        };
        // The last word is used only by the program.
        let [
            received @ ..,
            out_frames,
            out_segments,
            out_merged,
            out_long,
            forwarded,
            forwarded_merged,
            sent,
            sent_merged,
            cut,
            cut_ns,
            _,
        ] = *rest;
        let frames = Frames {
            received: self::received(received),
            queued: Queued {
                frames: out_frames,
                segments: out_segments,
                merged_frames: out_merged,
                long_frames: out_long,
            },
            forwarded: Forwarded {
                frames: forwarded,
                merged_frames: forwarded_merged,
            },
            sent: Sent {
                frames: sent,
                merged_frames: sent_merged,
                cut_frames: cut,
                cut_ns: Some(cut_ns),
            },
        };
        (interface != 0).then_some((place, Self(frames)))
    }
}

fn received(words: [u64; 9]) -> Received {
    let [
        frames,
        bytes,
        segments,
        merged_frames,
        long_frames,
        looked,
        tcp,
        tcp_merged,
        tcp_segments,
    ] = words;
    Received {
        frames,
        bytes,
        segments,
        merged_frames,
        long_frames,
        looked_frames: looked,
        looked_tcp_frames: tcp,
        looked_tcp_merged_frames: tcp_merged,
        looked_tcp_segments: tcp_segments,
    }
}

impl AddAssign for Counted {
    fn add_assign(&mut self, other: Self) {
        let (sum, more) = (&mut self.0, other.0);
        sum.received.frames += more.received.frames;
        sum.received.bytes += more.received.bytes;
        sum.received.segments += more.received.segments;
        sum.received.merged_frames += more.received.merged_frames;
        sum.received.long_frames += more.received.long_frames;
        sum.received.looked_frames += more.received.looked_frames;
        sum.received.looked_tcp_frames += more.received.looked_tcp_frames;
        sum.received.looked_tcp_merged_frames += more.received.looked_tcp_merged_frames;
        sum.received.looked_tcp_segments += more.received.looked_tcp_segments;
        sum.queued.frames += more.queued.frames;
        sum.queued.segments += more.queued.segments;
        sum.queued.merged_frames += more.queued.merged_frames;
        sum.queued.long_frames += more.queued.long_frames;
        sum.forwarded.frames += more.forwarded.frames;
        sum.forwarded.merged_frames += more.forwarded.merged_frames;
        sum.sent.frames += more.sent.frames;
        sum.sent.merged_frames += more.sent.merged_frames;
        sum.sent.cut_frames += more.sent.cut_frames;
        sum.sent.cut_ns = [sum.sent.cut_ns, more.sent.cut_ns]
            .into_iter()
            .flatten()
            .reduce(u64::add);
    }
}

/// What is known of a dropped frame's merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Single,
    Merged,
    Long,
}

/// Where and why frames were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Where {
    /// None if the frame had no interface.
    pub(crate) place: Option<Place>,
    /// Ifindex of the interface that the frame came in by; 0 if there is none.
    pub(crate) from: u32,
    pub(crate) reason: u32,
    /// Address of the kernel's instruction that dropped the frame.
    pub(crate) location: u64,
}

impl Where {
    pub(crate) fn read(words: &[u32; WHERE_WORDS]) -> (Self, Shape) {
        let [space, interface, from, reason, first, second, shape, mix] = *words;
        let place = Place {
            space,
            mix,
            interface,
        };
        let at = Self {
            place: (interface != 0).then_some(place),
            from,
            reason,
            location: whole([first, second]),
        };
        let shape = match shape {
            1 => Shape::Merged,
            2 => Shape::Long,
            _ => Shape::Single,
        };
        (at, shape)
    }
}

/// What became of a flow since a merged frame of it was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// Where.
    pub(crate) at: Where,
    /// Nanoseconds from the first merged frame that was dropped there to the last one.
    pub(crate) lasted_ns: u64,
    pub(crate) died: Shapes,
    pub(crate) came: Shapes,
    pub(crate) went: Shapes,
}

/// Merged frames, and single ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shapes {
    pub(crate) merged: u64,
    pub(crate) single: u64,
}

impl Fate {
    pub(crate) fn read(words: &[u64; FATE_WORDS]) -> Self {
        let [first, last, counts @ ..] = *words;
        let [
            died,
            single_died,
            came,
            single_came,
            went,
            single_went,
            dropped @ ..,
        ] = counts;
        let [a, b, c, d, _] = dropped.map(halves);
        let shapes = |merged, single| Shapes { merged, single };
        Self {
            at: Where::read(&[a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]).0,
            lasted_ns: last.saturating_sub(first),
            died: shapes(died, single_died),
            came: shapes(came, single_came),
            went: shapes(went, single_went),
        }
    }
}

/// A dropped frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawSample {
    /// By the monotonic clock.
    pub(crate) time_ns: u64,
    pub(crate) at: Where,
    pub(crate) bytes: u32,
    pub(crate) segment_bytes: u32,
    pub(crate) segments: u32,
    pub(crate) headers: Vec<u8>,
}

impl RawSample {
    /// None if the length is wrong.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (head, headers) = bytes.split_at_checked(SAMPLE_HEAD)?;
        let headers = headers.get(..HEADERS)?;
        let word = |at: usize| Some(u32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let mut place = [0; WHERE_WORDS];
        for (n, half) in place.iter_mut().enumerate() {
            *half = word(8 + 4 * n)?;
        }
        let after = 8 + 4 * WHERE_WORDS;
        let kept = u16::from_ne_bytes(head.get(after + 18..after + 20)?.try_into().ok()?);
        Some(Self {
            time_ns: whole([word(0)?, word(4)?]),
            at: Where::read(&place).0,
            bytes: word(after)?,
            segment_bytes: word(after + 4)?,
            segments: word(after + 8)?,
            headers: headers.get(..usize::from(kept))?.to_vec(),
        })
    }
}

/// Two consecutive half words as one word.
fn whole([first, second]: [u32; 2]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&first.to_ne_bytes());
    bytes[4..].copy_from_slice(&second.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

fn halves(word: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    [[a, b, c, d], [e, f, g, h]].map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_counters_are_those_of_the_program() {
        let mut words = [0; COUNTER_WORDS];
        assert_eq!(Counted::read(&words), None, "a free slot");
        for (n, word) in words.iter_mut().enumerate() {
            *word = n as u64;
        }
        words[0] = whole([7, 3]);
        words[1] = whole([8, 0]);
        let (place, Counted(frames)) = Counted::read(&words).unwrap();
        assert_eq!((place.space, place.mix, place.interface), (7, 8, 3));
        let received = frames.received;
        let first = [received.frames, received.bytes, received.segments];
        assert_eq!(first, [2, 3, 4]);
        assert_eq!(received.looked_tcp_segments, 10);
        assert_eq!([frames.queued.frames, frames.queued.long_frames], [11, 14]);
        assert_eq!(frames.forwarded.merged_frames, 16);
        assert_eq!([frames.sent.frames, frames.sent.merged_frames], [17, 18]);
        assert_eq!((frames.sent.cut_frames, frames.sent.cut_ns), (19, Some(20)));
        let mut both = Counted(frames);
        both += Counted(frames);
        assert_eq!((both.0.sent.cut_frames, both.0.sent.cut_ns), (38, Some(40)));
    }

    #[test]
    fn words_of_a_fate_are_those_of_the_program() {
        let mut words = [0; FATE_WORDS];
        for (n, word) in words.iter_mut().enumerate() {
            *word = n as u64;
        }
        words[1] = 9;
        words[8] = whole([7, 3]);
        words[9] = whole([4, 5]);
        words[11] = whole([1, 6]);
        let fate = Fate::read(&words);
        let place = Place {
            space: 7,
            mix: 6,
            interface: 3,
        };
        assert_eq!((fate.at.place, fate.at.from), (Some(place), 4));
        assert_eq!((fate.at.reason, fate.at.location), (5, 10));
        assert_eq!(fate.lasted_ns, 9);
        let shapes = [fate.died, fate.came, fate.went].map(|one| (one.merged, one.single));
        assert_eq!(shapes, [(2, 3), (4, 5), (6, 7)]);
    }

    #[test]
    fn a_sample_that_is_too_short_is_none() {
        let mut bytes = vec![0; SAMPLE_HEAD + HEADERS];
        bytes[8 + 4 * WHERE_WORDS + 18..][..2].copy_from_slice(&96_u16.to_ne_bytes());
        assert_eq!(RawSample::read(&bytes).unwrap().headers.len(), HEADERS);
        assert_eq!(RawSample::read(&bytes[..SAMPLE_HEAD + HEADERS - 1]), None);
        bytes[8 + 4 * WHERE_WORDS + 18..][..2].copy_from_slice(&97_u16.to_ne_bytes());
        assert_eq!(RawSample::read(&bytes), None, "it says that it has more");
    }
}
