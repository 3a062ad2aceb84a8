//! Capture files: classic pcap and pcapng, as the IETF drafts describe them
//! (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).

use crate::path::{Format, Point};

/// Bytes in front of a classic capture's first record.
const HEADER: usize = 24;
/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;

/// A captured frame.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Nanoseconds since 1970 by the point's own clock.
    pub(crate) at: u64,
    /// Length before the snap length was applied.
    pub(crate) original: u32,
    pub(crate) bytes: Vec<u8>,
    /// Frame came in to the host whose capture this is, or went out; unknown between hosts.
    pub(crate) inbound: Option<bool>,
}

/// The file of one point, in the format that it asks for.
pub(crate) fn file(point: &Point, records: &[Record]) -> Vec<u8> {
    match point.format {
        Format::Pcap { nanos, big_endian } => classic(point, records, nanos, big_endian),
        Format::Pcapng => pcapng(&[(point, records)]),
    }
}

/// A classic capture (little-endian) as a host writes that begins a new file now and then: cut between the records that
/// stand at these parts of it, each piece with a header.
#[must_use]
pub fn rotated(capture: &[u8], cuts: &[f64]) -> Vec<Vec<u8>> {
    let (header, _) = capture.split_at(HEADER);
    let mut ends = vec![HEADER];
    let mut at = HEADER;
    while let Some(length) = capture.get(at + 8..).and_then(|rest| rest.first_chunk()) {
        at += 16 + u32::from_le_bytes(*length) as usize;
        ends.push(at);
    }
    let place = |cut: &f64| ends[(cut * (ends.len() - 1) as f64) as usize];
    let mut places: Vec<usize> = cuts.iter().map(place).collect();
    places.extend([HEADER, capture.len()]);
    places.sort_unstable();
    let piece = |ends: &[usize]| [header, &capture[ends[0]..ends[1]]].concat();
    places.windows(2).map(piece).collect()
}

struct Writer {
    out: Vec<u8>,
    big_endian: bool,
}

impl Writer {
    fn half(&mut self, value: u16) {
        let bytes = if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        self.out.extend_from_slice(&bytes);
    }

    fn word(&mut self, value: u32) {
        let bytes = if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        self.out.extend_from_slice(&bytes);
    }

    /// Bytes, and zeros up to the next multiple of four.
    fn padded(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        let rest = bytes.len().next_multiple_of(4) - bytes.len();
        self.out.extend_from_slice(&[0; 4][..rest]);
    }

    /// A block with its length in front and behind.
    fn block(&mut self, kind: u32, body: &[u8]) {
        let len = body.len() as u32 + 12;
        self.word(kind);
        self.word(len);
        self.out.extend_from_slice(body);
        self.word(len);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.half(code);
        self.half(value.len() as u16);
        self.padded(value);
    }
}

fn classic(point: &Point, records: &[Record], nanos: bool, big_endian: bool) -> Vec<u8> {
    let out = Vec::new();
    let mut writer = Writer { out, big_endian };
    writer.word(if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 });
    writer.half(2);
    writer.half(4);
    for value in [0, 0, point.snap, u32::from(ETHERNET)] {
        writer.word(value);
    }
    let unit = if nanos { 1 } else { 1_000 };
    for record in records {
        writer.word((record.at / 1_000_000_000) as u32);
        writer.word((record.at % 1_000_000_000 / unit) as u32);
        writer.word(record.bytes.len() as u32);
        writer.word(record.original);
        writer.out.extend_from_slice(&record.bytes);
    }
    writer.out
}

fn little() -> Writer {
    let out = Vec::new();
    Writer {
        out,
        big_endian: false,
    }
}

/// One file with an interface for each point. Records come in order of their time stamps.
pub(crate) fn pcapng(points: &[(&Point, &[Record])]) -> Vec<u8> {
    let mut writer = little();
    writer.block(0x0a0d_0d0a, &section());
    for (point, _) in points {
        writer.block(1, &interface(point));
    }
    let numbered = points.iter().enumerate();
    let mut all: Vec<_> = numbered
        .flat_map(|(index, (_, records))| records.iter().map(move |record| (index as u32, record)))
        .collect();
    all.sort_by_key(|(_, record)| record.at);
    for (index, record) in all {
        writer.block(6, &enhanced_packet(index, record));
    }
    writer.out
}

/// Byte-order magic, version 1.0, length not given.
fn section() -> Vec<u8> {
    let mut body = little();
    body.word(0x1a2b_3c4d);
    body.half(1);
    body.half(0);
    body.word(u32::MAX);
    body.word(u32::MAX);
    body.out
}

/// With if_name (2) and if_tsresol (9): nanoseconds.
fn interface(point: &Point) -> Vec<u8> {
    let mut body = little();
    body.half(ETHERNET);
    body.half(0);
    body.word(point.snap);
    body.option(2, point.name.as_bytes());
    body.option(9, &[9]);
    body.option(0, &[]);
    body.out
}

fn enhanced_packet(interface: u32, record: &Record) -> Vec<u8> {
    let mut body = little();
    body.word(interface);
    body.word((record.at >> 32) as u32);
    body.word(record.at as u32);
    body.word(record.bytes.len() as u32);
    body.word(record.original);
    body.padded(&record.bytes);
    if let Some(inbound) = record.inbound {
        // epb_flags: 1 is inbound, 2 outbound.
        let flags: u32 = if inbound { 1 } else { 2 };
        body.option(2, &flags.to_le_bytes());
        body.option(0, &[]);
    }
    body.out
}
