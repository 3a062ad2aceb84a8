//! A merging NIC: what arrives between two interrupts is one batch, and within a batch the
//! segments of a flow that follow each other become one frame.
//!
//! The rules are those of Linux's `tcp_gro_receive` and `inet_gro_receive` as far as the model has
//! the fields; LRO and RSC let acknowledgement and timestamps advance.

use super::Outbox;
use crate::chance::Chance;
use crate::packet::{CWR, Checksum, FIN, Origin, PSH, Packet, RST, SYN, Tcp};
use crate::path::{Merge, MergeKind, Timing};
use crate::schedule::Nanos;

/// An IP packet's longest.
const LONGEST: usize = 65_535;

/// A merging NIC with the current batch.
#[derive(Debug)]
pub(crate) struct MergeState {
    merge: Merge,
    /// When the first interrupt of the grid is.
    phase: Nanos,
    batch: Vec<Held>,
    /// Frames that the batch was made of.
    frames: usize,
    /// When the batch ends.
    due: Option<Nanos>,
    last: Option<Nanos>,
}

#[derive(Debug)]
struct Held {
    packet: Packet,
    segment_size: usize,
    /// No segment may be added any more.
    closed: bool,
}

impl MergeState {
    /// A NIC that has received nothing.
    pub(crate) fn new(merge: Merge, seed: u64, stream: u64) -> Self {
        Self {
            merge,
            phase: Chance::new(seed, stream).below(merge.interval),
            batch: Vec::new(),
            frames: 0,
            due: None,
            last: None,
        }
    }

    /// A packet arrives.
    pub(crate) fn handle(&mut self, packet: Packet, now: Nanos, out: &mut Outbox) {
        if packet.toward != self.merge.toward {
            out.onward.push((now, packet));
            return;
        }
        self.take(packet);
        self.frames += 1;
        if self.merge.frames > 0 && self.frames >= self.merge.frames {
            self.flush(now, out);
        } else if self.due.is_none() {
            self.due = Some(self.next_interrupt(now));
            out.wake = self.due;
        }
    }

    fn next_interrupt(&self, now: Nanos) -> Nanos {
        let interval = self.merge.interval.max(1);
        match self.merge.timing {
            Timing::Grid => now + interval - (now + interval - self.phase) % interval,
            Timing::Throttled => self.last.map_or(now, |last| now.max(last + interval)),
            Timing::Delayed => now + interval,
        }
    }

    /// Called at the time asked for; the batch may have ended before.
    pub(crate) fn wake(&mut self, now: Nanos, out: &mut Outbox) {
        if self.due.is_some_and(|due| due <= now) {
            self.flush(now, out);
        }
    }

    fn take(&mut self, packet: Packet) {
        let merge = self.merge;
        let same_flow = |held: &&mut Held| held.packet.flow == packet.flow;
        if let Some(held) = self.batch.iter_mut().rev().find(same_flow) {
            if !held.closed && may_join(held, &packet, &merge) {
                held.join(&packet, &merge);
                return;
            }
            held.closed = true;
        }
        self.batch.push(Held::new(packet));
    }

    /// The interrupt: the batch goes on.
    fn flush(&mut self, now: Nanos, out: &mut Outbox) {
        (self.due, self.last, self.frames) = (None, Some(now), 0);
        let batch = self.batch.drain(..);
        out.onward.extend(batch.map(|held| (now, held.packet)));
    }
}

impl Held {
    fn new(packet: Packet) -> Self {
        let tcp = packet.tcp();
        let segment_size = tcp.map_or(0, Tcp::len);
        // Frames with these flags pass unmerged, and so do those without payload.
        let closed = packet.damaged
            || tcp
                .is_none_or(|tcp| tcp.flags & (SYN | FIN | PSH | RST | CWR) != 0 || tcp.len() == 0);
        Self {
            packet,
            segment_size,
            closed,
        }
    }

    fn join(&mut self, packet: &Packet, merge: &Merge) {
        let (Some(held), Some(new)) = (self.packet.tcp_mut(), packet.tcp()) else {
            return;
        };
        held.pieces.extend_from_slice(&new.pieces);
        held.flags |= new.flags & PSH;
        held.origin = Origin::Merged;
        held.reversible = merge.reversible;
        held.checksum = Checksum::Partial;
        if merge.kind != MergeKind::Gro {
            held.checksum = Checksum::Full;
            held.ack = new.ack;
            held.window = new.window;
            held.options = new.options.clone();
        }
        // A push or a short segment is the last of its frame.
        self.closed = new.flags & PSH != 0 || new.len() < self.segment_size;
    }
}

fn may_join(held: &Held, packet: &Packet, merge: &Merge) -> bool {
    let (Some(old), Some(new)) = (held.packet.tcp(), packet.tcp()) else {
        return false;
    };
    let fits = held.packet.ip_len() + new.len() <= LONGEST;
    let below_limit = merge.max_segments == 0 || old.pieces.len() < merge.max_segments;
    let follows = old.seq.wrapping_add(old.len() as u32) == new.seq;
    let size = new.len() > 0 && new.len() <= held.segment_size;
    let whole = packet.fragment.is_none() && !packet.damaged;
    let plain = new.flags & (SYN | FIN | RST | CWR) == 0 && whole && !new.is_merged();
    let same_path = held.packet.ttl == packet.ttl
        && held.packet.ecn == packet.ecn
        && held.packet.wrap == packet.wrap;
    fits && below_limit
        && follows
        && size
        && plain
        && same_path
        && same_headers(held, packet, merge)
}

fn same_headers(held: &Held, packet: &Packet, merge: &Merge) -> bool {
    let (Some(old), Some(new)) = (held.packet.tcp(), packet.tcp()) else {
        return false;
    };
    let both_sack_free = old.options.sacks.is_empty() && new.options.sacks.is_empty();
    if merge.kind != MergeKind::Gro {
        return both_sack_free;
    }
    let next_id = held.packet.ip_id.wrapping_add(old.pieces.len() as u16);
    let follows = packet.ip_id == next_id || held.packet.ip_id == 0 && packet.ip_id == 0;
    let id_follows = follows || !packet.source.0.is_ipv4();
    old.ack == new.ack && old.options == new.options && old.window == new.window && id_follows
}
