//! tun-rs: `GROTable::apply_gro`, which appends to the first frame's buffer.

use std::io;

use tun_rs::{ExpandBuffer, GROTable};

use crate::clock::{now, since};
use crate::engine::{Engine, Rule, Sample};
use crate::frames::{Frames, IP_AND_TCP, Layout, Load, PAYLOAD};
use crate::id::Id;

/// Room for the virtio-net header, which the engine writes.
const HEADROOM: usize = 16;
const BATCH: usize = 128;

/// Each buffer can become a whole merged frame.
const LAYOUT: Layout = Layout {
    link: 0,
    headroom: HEADROOM,
    stride: (HEADROOM + 65_535).next_multiple_of(64),
};

/// A buffer that grows within its slot.
struct Buffer<'a> {
    slot: &'a mut [u8],
    len: usize,
}

impl AsRef<[u8]> for Buffer<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.slot[..self.len]
    }
}

impl AsMut<[u8]> for Buffer<'_> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.slot[..self.len]
    }
}

impl ExpandBuffer for Buffer<'_> {
    fn buf_capacity(&self) -> usize {
        self.slot.len()
    }

    fn buf_resize(&mut self, len: usize, value: u8) {
        if len > self.len {
            self.slot[self.len..len].fill(value);
        }
        self.len = len;
    }

    fn buf_extend_from_slice(&mut self, bytes: &[u8]) {
        self.slot[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

/// The engine with its buffers.
pub(crate) struct TunRs {
    frames: Frames,
    table: GROTable,
    packets: usize,
}

impl TunRs {
    /// The one that `Cargo.toml` asks for.
    pub(crate) const VERSION: &str = "2.8.16";

    pub(crate) fn new(most: usize) -> io::Result<Self> {
        Ok(Self {
            frames: Frames::new(LAYOUT, most)?,
            table: GROTable::new(),
            packets: 0,
        })
    }

    /// One pass, and the nanoseconds it took.
    fn run(&mut self) -> io::Result<Sample> {
        self.frames.restore();
        let len = HEADROOM + IP_AND_TCP + PAYLOAD;
        let slots = self.frames.slots().take(self.packets);
        let mut buffers: Vec<_> = slots.map(|slot| Buffer { slot, len }).collect();
        for buffer in &mut buffers {
            buffer.slot[..HEADROOM].fill(0);
        }
        let begin = now();
        for batch in buffers.chunks_mut(BATCH) {
            self.table.apply_gro(batch, HEADROOM, true)?;
        }
        let ns = since(begin);
        // A frame that was merged away keeps its length; those that grew tell how many were.
        let merged: usize = buffers
            .iter()
            .map(|buffer| (buffer.len - len) / PAYLOAD)
            .sum();
        Ok(Sample {
            ns,
            out: self.packets - merged,
        })
    }
}

impl Engine for TunRs {
    fn id(&self) -> Id {
        Id::TunRs
    }

    fn load(&mut self, load: &Load) -> io::Result<()> {
        self.packets = load.packets;
        self.frames.load(load);
        Ok(())
    }

    fn pass(&mut self, loops: u32) -> io::Result<Sample> {
        let (mut ns, mut out) = (0, 0);
        for _ in 0..loops {
            let sample = self.run()?;
            (ns, out) = (ns + sample.ns, sample.out);
        }
        Ok(Sample { ns, out })
    }

    fn rule(&self, _: &Load) -> Option<Rule> {
        Some(Rule {
            hold: BATCH,
            segments: (65_535 - IP_AND_TCP) / PAYLOAD,
        })
    }
}
