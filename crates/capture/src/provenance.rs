//! What a file of packets is: its size, hash and times, so that a report can be matched to its file, and what of the
//! file could not be read.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

use crate::file::{OpenError, Source};

/// Bytes hashed at a time, and frames read, between two looks at whether to stop.
const AT_ONCE: usize = 256 * 1024;
const FRAMES_AT_ONCE: u64 = 64 * 1024;

/// A file of packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Size of the file on disk, packed as it is.
    pub size_bytes: u64,
    /// SHA-256 of these bytes, in hexadecimal digits.
    pub sha256: String,
    /// Frames in it.
    pub frames: u64,
    /// Earliest and latest time of a frame, in nanoseconds since 1970.
    pub times_ns: Option<(i64, i64)>,
    /// Most bytes of a frame that were recorded, by interfaces that carried frames: smallest and largest; 0 is no limit.
    pub snap_len_bytes: Option<(u32, u32)>,
    /// Frames of which less was recorded than passed.
    pub cut_frames: u64,
    /// Bytes that could not be read.
    pub unreadable_bytes: u64,
}

/// The size of a file and its SHA-256. `None` if told to stop.
///
/// # Errors
///
/// If it cannot be read.
pub fn digest(reader: &mut dyn Read, stop: &AtomicBool) -> io::Result<Option<(u64, String)>> {
    let mut hash = Sha256::new();
    let mut size = 0;
    let mut buffer = vec![0; AT_ONCE];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(Some((size, hexadecimal(&hash.finalize())))),
            Ok(n) => {
                hash.update(&buffer[..n]);
                size += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

/// Reads a file twice, from its first byte to its last: for its hash, and for its frames. `None` if told to stop.
///
/// # Errors
///
/// If it cannot be read, or is no capture.
pub fn describe(
    name: &str,
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read + Send>>,
    stop: &AtomicBool,
) -> Result<Option<FileFacts>, OpenError> {
    let failed = |source| OpenError::Read {
        name: name.to_owned(),
        source,
    };
    let mut reader = open().map_err(failed)?;
    let Some((size_bytes, sha256)) = digest(&mut reader, stop).map_err(failed)? else {
        return Ok(None);
    };
    let mut facts = FileFacts {
        size_bytes,
        sha256,
        ..FileFacts::default()
    };
    let reader = open().map_err(failed)?;
    let source = Source::from_reader(name, reader, Some(facts.size_bytes))?;
    Ok(facts.look(source, stop).then_some(facts))
}

impl FileFacts {
    /// Goes through the frames; true if through all of them.
    fn look(&mut self, mut source: Source, stop: &AtomicBool) -> bool {
        let mut carried = Vec::new();
        while let Some(frame) = source.next() {
            self.frames += 1;
            self.cut_frames += u64::from((frame.data.len() as u64) < u64::from(frame.original_len));
            let (first, last) = self.times_ns.unwrap_or((frame.time_ns, frame.time_ns));
            self.times_ns = Some((first.min(frame.time_ns), last.max(frame.time_ns)));
            if carried.last() != Some(&frame.interface) && !carried.contains(&frame.interface) {
                carried.push(frame.interface);
            }
            if self.frames.is_multiple_of(FRAMES_AT_ONCE) && stop.load(Ordering::Relaxed) {
                return false;
            }
        }
        self.unreadable_bytes = source.unreadable_bytes();
        self.snap_len_bytes = limits(&source, &carried);
        true
    }
}

/// The smallest and the largest snap length of these interfaces; 0 (no limit) counts as the largest.
fn limits(source: &Source, carried: &[u32]) -> Option<(u32, u32)> {
    let known = carried
        .iter()
        .filter_map(|index| source.interfaces().get(*index as usize));
    let limits: Vec<u32> = known.map(|interface| interface.snap_len).collect();
    let order = |limit: &u32| limit.wrapping_sub(1);
    let (low, high) = (
        limits.iter().copied().min_by_key(order),
        limits.iter().copied().max_by_key(order),
    );
    low.zip(high)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a String does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A pcap of Ethernet, each frame with its second, its recorded and its whole length.
    fn capture(snap_len: u32, frames: &[(u32, u32, u32)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, snap_len, 1] {
            bytes.extend(u32::to_le_bytes(word));
        }
        for (second, recorded, whole) in frames {
            for word in [*second, 0, *recorded, *whole] {
                bytes.extend(u32::to_le_bytes(word));
            }
            bytes.resize(bytes.len() + *recorded as usize, 0);
        }
        bytes
    }

    fn described(bytes: &[u8], stop: bool) -> Result<Option<FileFacts>, OpenError> {
        let stop = AtomicBool::new(stop);
        let mut open = || Ok(Box::new(Cursor::new(bytes.to_vec())) as Box<dyn Read + Send>);
        describe("x.pcap", &mut open, &stop)
    }

    #[test]
    fn what_a_file_holds_is_told() {
        let mut bytes = capture(96, &[(20, 60, 60), (10, 96, 1514)]);
        let facts = described(&bytes, false).unwrap().unwrap();
        assert_eq!(facts.size_bytes, bytes.len() as u64);
        assert_eq!((facts.frames, facts.cut_frames), (2, 1));
        assert_eq!(facts.times_ns, Some((10_000_000_000, 20_000_000_000)));
        assert_eq!(facts.snap_len_bytes, Some((96, 96)));
        assert_eq!(facts.unreadable_bytes, 0);
        bytes.truncate(bytes.len() - 6);
        let cut = described(&bytes, false).unwrap().unwrap();
        assert_eq!(cut.frames, 1);
        assert!(cut.unreadable_bytes > 0);
        assert_ne!(cut.sha256, facts.sha256);
    }

    /// The empty message and "abc" (FIPS 180-4's examples, as NIST publishes them).
    #[test]
    fn the_hash_is_that_of_the_standard() {
        let hash = |bytes: &[u8]| {
            let mut reader = Cursor::new(bytes.to_vec());
            let digest = digest(&mut reader, &AtomicBool::new(false));
            digest.unwrap().unwrap().1
        };
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!([hash(b""), hash(b"abc")], [empty, abc]);
    }

    #[test]
    fn what_is_no_capture_and_what_is_stopped_is_not_described() {
        assert!(described(b"not a capture at all", false).is_err());
        assert_eq!(described(&capture(0, &[(1, 60, 60)]), true).unwrap(), None);
    }
}
