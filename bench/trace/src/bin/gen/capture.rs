//! Frames, as each point shows them.

use std::io::Result;

use crate::Chance;
use crate::connection::End;
use crate::point::Point;

/// Payload of a segment: MTU 1500 less the headers with timestamps.
pub(crate) const SEGMENT: usize = 1448;
pub(crate) const REQUEST: usize = 200;
/// A line of 10 Gbit/s, and what the sniffer takes for each frame.
const NANOS_PER_BYTE: f64 = 0.8;
const NANOS_PER_FRAME: u64 = 200;
const EPOCH_NS: u64 = 1_767_225_600_000_000_000;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const PSH: u8 = 8;
pub(crate) const ACK: u8 = 16;

/// Where a frame is lost: seen from the capture, or from the middle one of three.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    Before,
    Behind,
}

/// What one frame says.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) from_server: bool,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    pub(crate) payload: usize,
    pub(crate) sack: Option<(u32, u32)>,
    pub(crate) lost: Option<Lost>,
}

/// All points.
pub(crate) struct Capture {
    points: Vec<Point>,
    now_ns: u64,
    pub(crate) frames: u64,
    pub(crate) wire_bytes: u64,
    payload: Vec<u8>,
    sums: [u32; 2],
}

impl Capture {
    pub(crate) fn new(points: Vec<Point>, chance: &mut Chance) -> Self {
        let payload: Vec<u8> = (0..SEGMENT).map(|_| chance.next() as u8).collect();
        Self {
            points,
            now_ns: EPOCH_NS,
            frames: 0,
            wire_bytes: 0,
            sums: [sum(&payload[..REQUEST]), sum(&payload)],
            payload,
        }
    }

    /// Whether there is a point in front of all losses.
    pub(crate) fn shows_all(&self) -> bool {
        self.points.len() > 1
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        self.points.iter_mut().try_for_each(Point::finish)
    }

    pub(crate) fn write(&mut self, from: &End, to: &End, frame: &Frame) -> Result<()> {
        let mut options = [1_u8; 40];
        let options = self.options(frame, &mut options);
        let wire = 54 + options.len() + frame.payload;
        self.now_ns += NANOS_PER_FRAME + (wire as f64 * NANOS_PER_BYTE) as u64;
        if frame.lost != Some(Lost::Before) {
            self.frames += 1;
            self.wire_bytes += wire as u64;
        }
        let payload = match frame.payload {
            0 => 0,
            REQUEST => self.sums[0],
            _ => self.sums[1],
        };
        for point in self.points.iter_mut().filter(|point| point.shows(frame)) {
            let mut header = [0_u8; 14 + 20 + 60];
            let header = &mut header[..54 + options.len()];
            let [from, to] = [from, to].map(|end| point.seen(end));
            fill(header, (&from, &to), frame, point.ttl(frame));
            finish(header, options, frame.payload, payload);
            point.add(self.now_ns, frame, header, &self.payload[..frame.payload])?;
        }
        Ok(())
    }

    fn options<'a>(&self, frame: &Frame, bytes: &'a mut [u8; 40]) -> &'a [u8] {
        let stamp = ((self.now_ns / 1_000_000) as u32).to_be_bytes();
        if frame.flags & SYN != 0 {
            bytes[..4].copy_from_slice(&[2, 4, 5, 180]); // MSS 1460
            bytes[4..8].copy_from_slice(&[4, 2, 8, 10]); // SACK permitted, timestamps
            bytes[8..12].copy_from_slice(&stamp);
            bytes[12..16].fill(0);
            bytes[16..20].copy_from_slice(&[1, 3, 3, 7]); // window scale
            return &bytes[..20];
        }
        bytes[2..4].copy_from_slice(&[8, 10]);
        bytes[4..8].copy_from_slice(&stamp);
        bytes[8..12].copy_from_slice(&stamp);
        let Some((left, right)) = frame.sack else {
            return &bytes[..12];
        };
        bytes[14..16].copy_from_slice(&[5, 10]);
        bytes[16..20].copy_from_slice(&left.to_be_bytes());
        bytes[20..24].copy_from_slice(&right.to_be_bytes());
        &bytes[..24]
    }
}

/// Headers but for what depends on the options.
fn fill(header: &mut [u8], (from, to): (&End, &End), frame: &Frame, ttl: u8) {
    let (near, far) = if frame.from_server { (1, 2) } else { (2, 1) };
    header[..14].copy_from_slice(&[2, 0, 0, 0, 0, far, 2, 0, 0, 0, 0, near, 8, 0]);
    let ip = &mut header[14..34];
    ip[0] = 0x45;
    ip[4..6].copy_from_slice(&from.ip_id.to_be_bytes());
    ip[6] = 0x40; // Don't Fragment
    ip[8] = ttl;
    ip[9] = 6;
    ip[12..16].copy_from_slice(&from.address.to_be_bytes());
    ip[16..20].copy_from_slice(&to.address.to_be_bytes());
    let tcp = &mut header[34..];
    tcp[..2].copy_from_slice(&from.port.to_be_bytes());
    tcp[2..4].copy_from_slice(&to.port.to_be_bytes());
    tcp[4..8].copy_from_slice(&frame.seq.to_be_bytes());
    tcp[8..12].copy_from_slice(&frame.ack.to_be_bytes());
    tcp[13] = frame.flags;
    tcp[14..16].copy_from_slice(&0xfff0_u16.to_be_bytes());
}

/// Options, lengths and checksums.
fn finish(header: &mut [u8], options: &[u8], payload: usize, payload_sum: u32) {
    let tcp_len = 20 + options.len() + payload;
    let ip = &mut header[14..34];
    ip[2..4].copy_from_slice(&(20 + tcp_len as u16).to_be_bytes());
    let addresses = sum(&ip[12..20]);
    let check = fold(sum(ip));
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    let tcp = &mut header[34..];
    tcp[12] = ((20 + options.len()) as u8 / 4) << 4;
    tcp[20..].copy_from_slice(options);
    let check = fold(addresses + 6 + tcp_len as u32 + sum(tcp) + payload_sum);
    tcp[16..18].copy_from_slice(&check.to_be_bytes());
}

/// Sum of 16-bit words; all lengths here are even.
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks_exact(2);
    words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum()
}

/// RFC 1071.
fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
