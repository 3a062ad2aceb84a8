//! Where traffic is captured, and the files of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Result, Write};

use crate::capture::{Frame, Lost};
use crate::connection::End;

/// What a frame takes from a point to the next.
const DELAY_NS: u64 = 5_000;
/// The middle one of the points on a path, and the last one.
const MIDDLE: u64 = 1;
const LAST: u64 = 2;
/// Public addresses of clients, and what makes them private ones, of 172.16.0.0/10.
const CLIENTS: std::ops::Range<u32> = 0x0a00_0000..0x0a80_0000;
const PRIVATE: u32 = 0x0a00_0000 ^ 0xac10_0000;

/// A point.
pub(crate) struct Point {
    /// How many points lie between it and the servers.
    place: u64,
    is_alone: bool,
    files: Files,
    /// Bytes kept of a frame.
    snap: usize,
    /// Frames that others may still come before, by time.
    waiting: BinaryHeap<Reverse<Waiting>>,
    added: u64,
}

/// Time, number, record.
type Waiting = (u64, u64, Vec<u8>);

/// The only point.
pub(crate) fn alone(path: &str, snap: usize) -> Result<Point> {
    let file = create(path, snap)?;
    Ok(Point::new(MIDDLE, true, Files::One(file), snap))
}

/// Three points, whose files are in a folder, so many frames in each.
pub(crate) fn on_a_path(folder: &str, frames: u64, snap: usize) -> Result<Vec<Point>> {
    std::fs::create_dir_all(folder)?;
    let point = |(place, name)| {
        let files = Rotated {
            name: format!("{folder}/{name}"),
            frames,
            written: 0,
            out: None,
        };
        Point::new(place, false, Files::Rotated(files), snap)
    };
    let names = ["SERVERS", "MIDDLE", "CLIENTS"];
    Ok((0..).zip(names).map(point).collect())
}

impl Point {
    fn new(place: u64, is_alone: bool, files: Files, snap: usize) -> Self {
        Self {
            place,
            is_alone,
            files,
            snap,
            waiting: BinaryHeap::new(),
            added: 0,
        }
    }

    /// Whether a frame comes here.
    pub(crate) fn shows(&self, frame: &Frame) -> bool {
        match frame.lost {
            None => true,
            Some(Lost::Before) => self.place < MIDDLE,
            Some(Lost::Behind) => self.place <= MIDDLE,
        }
    }

    /// An end, as it is known here.
    pub(crate) fn seen(&self, end: &End) -> End {
        let mut seen = *end;
        if self.place == LAST && CLIENTS.contains(&end.address) {
            seen.address ^= PRIVATE;
        }
        seen
    }

    /// What is left of a frame's life.
    pub(crate) fn ttl(&self, frame: &Frame) -> u8 {
        64 - if self.is_alone {
            0
        } else {
            self.behind(frame) as u8
        }
    }

    /// Points that a frame has passed.
    fn behind(&self, frame: &Frame) -> u64 {
        match frame.from_server {
            true => self.place,
            false => LAST - self.place,
        }
    }

    /// Takes a frame in that its sender sent at a time.
    pub(crate) fn add(
        &mut self,
        sent_ns: u64,
        frame: &Frame,
        header: &[u8],
        payload: &[u8],
    ) -> Result<()> {
        if self.is_alone {
            let record = self.record(sent_ns, header, payload);
            return self.files.write(&record, self.snap);
        }
        // What a client sends, it sends when the frame that caused it has come.
        let way = u64::from(!frame.from_server) * LAST + self.behind(frame);
        let time_ns = sent_ns + way * DELAY_NS;
        let record = self.record(time_ns, header, payload);
        self.waiting.push(Reverse((time_ns, self.added, record)));
        self.added += 1;
        self.write_until(sent_ns)
    }

    /// Nothing that is sent from now on comes before that.
    fn write_until(&mut self, until_ns: u64) -> Result<()> {
        while self
            .waiting
            .peek()
            .is_some_and(|Reverse((time_ns, ..))| *time_ns <= until_ns)
        {
            if let Some(Reverse((.., record))) = self.waiting.pop() {
                self.files.write(&record, self.snap)?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        self.write_until(u64::MAX)?;
        self.files.flush()
    }

    fn record(&self, time_ns: u64, header: &[u8], payload: &[u8]) -> Vec<u8> {
        let wire = header.len() + payload.len();
        let kept = wire.min(self.snap);
        let (seconds, micros) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000 / 1000);
        let mut record = Vec::with_capacity(16 + kept);
        for value in [seconds, micros, kept as u64, wire as u64] {
            record.extend_from_slice(&(value as u32).to_le_bytes());
        }
        let shown = kept.min(header.len());
        record.extend_from_slice(&header[..shown]);
        record.extend_from_slice(&payload[..kept - shown]);
        record
    }
}

type Out = BufWriter<File>;

enum Files {
    One(Out),
    Rotated(Rotated),
}

/// Files of so many frames, as `tcpdump -G` leaves them.
struct Rotated {
    name: String,
    frames: u64,
    written: u64,
    out: Option<Out>,
}

impl Files {
    fn write(&mut self, record: &[u8], snap: usize) -> Result<()> {
        match self {
            Self::One(out) => out.write_all(record),
            Self::Rotated(files) => files.next(snap)?.write_all(record),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Self::One(out) => out.flush(),
            Self::Rotated(files) => files.out.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}

impl Rotated {
    /// The file that the next frame goes into.
    fn next(&mut self, snap: usize) -> Result<&mut Out> {
        let number = self.written / self.frames;
        if self.written.is_multiple_of(self.frames) {
            if let Some(mut full) = self.out.take() {
                full.flush()?;
            }
            let path = format!("{}_{number:05}.pcap", self.name);
            self.out = Some(create(&path, snap)?);
        }
        self.written += 1;
        self.out
            .as_mut()
            .ok_or_else(|| std::io::Error::other("no file"))
    }
}

/// A file of pcap 2.4: microseconds, Ethernet.
fn create(path: &str, snap: usize) -> Result<Out> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for word in [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, snap as u32, 1] {
        out.write_all(&u32::to_le_bytes(word))?;
    }
    Ok(out)
}
