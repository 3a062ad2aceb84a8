//! The frames that all engines get: packet `i` belongs to flow `(i / run) % flows`.
//!
//! The harnesses of the peers build the same headers; what the engines make of them is compared.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use memmap2::{Advice, MmapMut};

use crate::clock::{now, since};
use crate::engine::Sample;

pub(crate) const PAYLOAD: usize = 1448;
/// IPv4 without options, TCP with timestamps.
pub(crate) const IP_AND_TCP: usize = 20 + 32;
pub(crate) const ETHERNET: usize = 14;
/// Distance of frames in memory: that of DPDK's mbufs with 2 KiB of room. Not a power of two, so
/// that headers do not share a few sets of the cache.
pub(crate) const STRIDE: usize = 2368;

/// What the engines are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) flows: usize,
    /// Successive packets of one flow: 1 is round robin.
    pub(crate) run: usize,
    pub(crate) packets: usize,
    /// Passes that are one measurement: many where a pass is short.
    pub(crate) loops: u32,
}

/// Where frames lie in their memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Length of the link header: 14 or 0.
    pub(crate) link: usize,
    /// Room in front of each frame.
    pub(crate) headroom: usize,
    pub(crate) stride: usize,
}

impl Layout {
    pub(crate) fn header_len(self) -> usize {
        self.link + IP_AND_TCP
    }

    pub(crate) fn frame_len(self) -> usize {
        self.header_len() + PAYLOAD
    }
}

/// Frames in one area of memory, in huge pages if the kernel has any, as DPDK's are.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) layout: Layout,
    pub(crate) packets: usize,
    memory: MmapMut,
    /// Headers as they were, to undo what an engine did to them.
    headers: Vec<u8>,
    load: Option<Load>,
}

impl Frames {
    pub(crate) fn new(layout: Layout, most: usize) -> io::Result<Self> {
        let memory = MmapMut::map_anon(layout.stride * most)?;
        // Without huge pages it is slower for all.
        let _ = memory.advise(Advice::HugePage);
        Ok(Self {
            layout,
            packets: 0,
            memory,
            headers: Vec::new(),
            load: None,
        })
    }

    /// Makes the frames, unless they are those already.
    pub(crate) fn load(&mut self, load: &Load) {
        if self.load.replace(*load) == Some(*load) {
            return;
        }
        self.headers = headers(load, self.layout.link);
        let payload = payload();
        let Layout {
            headroom, stride, ..
        } = self.layout;
        let at = headroom + self.layout.header_len();
        let slots = self.memory.chunks_exact_mut(stride);
        for slot in slots.take(load.packets) {
            slot[at..at + PAYLOAD].copy_from_slice(&payload);
        }
        self.packets = load.packets;
        self.restore();
    }

    /// Writes all headers anew: frames that were just received.
    pub(crate) fn restore(&mut self) {
        let Layout {
            headroom, stride, ..
        } = self.layout;
        let len = self.layout.header_len();
        let slots = self.memory.chunks_exact_mut(stride);
        for (slot, header) in slots.zip(self.headers.chunks_exact(len)) {
            slot[headroom..headroom + len].copy_from_slice(header);
        }
    }

    /// The frames as an engine gets them; made off the clock, as the peers' buffers are.
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        let bytes = self.layout.headroom..self.layout.headroom + self.layout.frame_len();
        let slots = self.memory.chunks_exact(self.layout.stride);
        slots
            .take(self.packets)
            .map(|slot| &slot[bytes.clone()])
            .collect()
    }

    /// For an engine that changes frames where they are.
    pub(crate) fn slots(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.memory.chunks_exact_mut(self.layout.stride)
    }
}

/// Passes of an engine over frames that were just received, and how many came out of the last. On the
/// clock is what `run` does with them.
#[inline(always)]
pub(crate) fn passes(
    frames: &Rc<RefCell<Frames>>,
    loops: u32,
    mut run: impl FnMut(&[&[u8]]) -> usize,
) -> Sample {
    let (mut ns, mut out) = (0, 0);
    for _ in 0..loops {
        frames.borrow_mut().restore();
        let frames = frames.borrow();
        let slices = frames.slices();
        let begin = now();
        out = run(&slices);
        ns += since(begin);
    }
    Sample { ns, out }
}

pub(crate) fn payload() -> Vec<u8> {
    (0..PAYLOAD).map(|at| (at * 7 + (at >> 8)) as u8).collect()
}

/// The headers of all packets, one behind the other.
pub(crate) fn headers(load: &Load, link: usize) -> Vec<u8> {
    let payload_sum = sum(&payload(), 0);
    let mut sent = vec![0_u32; load.flows];
    let mut headers = Vec::with_capacity(load.packets * (link + IP_AND_TCP));
    for packet in 0..load.packets {
        let flow = packet / load.run % load.flows;
        let number = sent[flow];
        sent[flow] += 1;
        headers.extend_from_slice(&b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0"[..link]);
        headers.extend_from_slice(&ip_and_tcp(flow as u32, number, payload_sum));
    }
    headers
}

fn ip_and_tcp(flow: u32, number: u32, payload_sum: u32) -> [u8; IP_AND_TCP] {
    let mut bytes = [0; IP_AND_TCP];
    let (ip, tcp) = bytes.split_at_mut(20);
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&((IP_AND_TCP + PAYLOAD) as u16).to_be_bytes());
    ip[4..6].copy_from_slice(&(number as u16).to_be_bytes());
    // Don't Fragment; 64 hops; TCP.
    (ip[6], ip[8], ip[9]) = (0x40, 64, 6);
    ip[12..16].copy_from_slice(&(0x0a00_0000 + (flow >> 8)).to_be_bytes());
    ip[16..20].copy_from_slice(&[10, 128, 0, 1]);
    let check = !sum(ip, 0) as u16;
    ip[10..12].copy_from_slice(&check.to_be_bytes());

    tcp[0..2].copy_from_slice(&(10_000 + (flow & 0xff) as u16).to_be_bytes());
    tcp[2..4].copy_from_slice(&443_u16.to_be_bytes());
    tcp[4..8].copy_from_slice(
        &number
            .wrapping_mul(PAYLOAD as u32)
            .wrapping_add(1)
            .to_be_bytes(),
    );
    tcp[8..12].copy_from_slice(&(777 + flow).to_be_bytes());
    // Eight words of header; ACK; the window.
    (tcp[12], tcp[13], tcp[14]) = (0x80, 0x10, 0x10);
    tcp[20..].copy_from_slice(&[1, 1, 8, 10, 0, 0, 0, 16, 0, 0, 0, 32]);
    let pseudo = sum(&ip[12..], 6 + (32 + PAYLOAD) as u32);
    let check = !sum(tcp, pseudo + payload_sum) as u16;
    tcp[16..18].copy_from_slice(&check.to_be_bytes());
    bytes
}

/// The Internet checksum's sum, folded. Not the library's: that is what is being tested.
fn sum(bytes: &[u8], start: u32) -> u32 {
    let words = bytes.chunks_exact(2);
    let sum = words.fold(start, |sum, word| {
        sum + u32::from(u16::from_be_bytes([word[0], word[1]]))
    });
    let sum = (sum & 0xffff) + (sum >> 16);
    (sum & 0xffff) + (sum >> 16)
}
