//! The example `pcap`: a capture made here goes through it.

#[path = "../../examples/pcap/merge.rs"]
mod merge;

use crate::build::{Streams, data};
use merge::merge;

const HEADERS: usize = 14 + 20 + 20;

/// A pcap file of Ethernet frames, with microseconds or nanoseconds, of either byte order.
struct Format {
    magic: u32,
    big: bool,
}

impl Format {
    fn words(&self, words: &[u32]) -> Vec<u8> {
        let bytes = |word: &u32| match self.big {
            true => word.to_be_bytes(),
            false => word.to_le_bytes(),
        };
        words.iter().flat_map(bytes).collect()
    }

    /// Segments of 1,000 bytes, at these times in units of the file behind second 7.
    fn file(&self, times: &[u32]) -> Vec<u8> {
        let version = if self.big { 2 << 16 | 4 } else { 2 | 4 << 16 };
        let mut file = self.words(&[self.magic, version, 0, 0, 65_535, 1]);
        let mut streams = Streams::default();
        for &time in times {
            let frame = streams.build(&data(1_000)).bytes;
            let len = frame.len() as u32;
            file.extend(self.words(&[7, time, len, len]));
            file.extend(frame);
        }
        file
    }
}

/// Time in nanoseconds and length of each frame of what the example writes.
fn frames(file: &[u8]) -> Vec<(u64, usize)> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four"));
    assert_eq!((word(0), word(4), word(20)), (0xa1b2_3c4d, 2 | 4 << 16, 1));
    let (mut at, mut frames) = (24, Vec::new());
    while at < file.len() {
        let time = u64::from(word(at)) * 1_000_000_000 + u64::from(word(at + 4));
        let len = word(at + 8) as usize;
        frames.push((time, len));
        at += 16 + len;
    }
    frames
}

#[test]
fn frames_of_a_capture_merge_while_the_next_comes_in_time() {
    let second = 7_000_000_000;
    for (magic, unit) in [(0xa1b2_c3d4, 1_000), (0xa1b2_3c4d, 1)] {
        for big in [false, true] {
            let times = [0, 100_000, 200_000, 500_000].map(|time| time / unit);
            let mut out = Vec::new();
            let counters =
                merge(&*Format { magic, big }.file(&times), &mut out).expect("a capture");
            // The third comes when the first was held for as long as may be, not longer.
            let three = (second + 500_000, HEADERS + 3_000);
            let one = (second + 500_000, HEADERS + 1_000);
            assert_eq!(frames(&out), [three, one]);
            assert_eq!((counters.frames_in, counters.merged_out), (4, 1));
        }
    }
}

#[test]
fn a_capture_that_ends_in_a_frame_is_an_error() {
    let format = Format {
        magic: 0xa1b2_c3d4,
        big: false,
    };
    let file = format.file(&[0, 1]);
    let cut = &file[..file.len() - 1];
    assert!(merge(cut, Vec::new()).is_err());
    assert!(merge(&b"no capture at all, but long enough"[..], Vec::new()).is_err());
}

#[test]
fn what_cannot_be_written_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let format = Format {
        magic: 0xa1b2_c3d4,
        big: false,
    };
    assert!(merge(&*format.file(&[0]), Full).is_err());
}
