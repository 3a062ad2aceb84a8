//! A capture point: what it notes about each frame, and what it writes to its file.

use crate::chance::Chance;
use crate::elements::{cut, pass_router};
use crate::packet::{ACK, Checksum, FIN, Origin, Packet, SYN, Tcp};
use crate::path::Point;
use crate::pcap::Record;
use crate::render;
use crate::schedule::Nanos;
use crate::side::Side;

/// 2024-01-01 00:00 UTC, when every run begins.
const BEGIN: u64 = 1_704_067_200_000_000_000;

/// What passed a point, for the ground truth.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    pub(crate) flow: usize,
    pub(crate) toward: Side,
    pub(crate) captured: bool,
    pub(crate) icmp: bool,
    pub(crate) start: u64,
    pub(crate) len: u64,
    pub(crate) pieces: Vec<u64>,
    pub(crate) longest_piece: u32,
    pub(crate) origin: Origin,
    pub(crate) fragment: bool,
    pub(crate) partial_checksum: bool,
    pub(crate) pure_ack: bool,
    pub(crate) zero_window: bool,
}

/// A point at work.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) point: Point,
    chance: Chance,
    order: Chance,
    misses: bool,
    pub(crate) records: Vec<Record>,
    pub(crate) sightings: Vec<Sighting>,
}

impl Watcher {
    /// A point that has seen nothing.
    pub(crate) fn new(point: &Point, seed: u64, stream: u64) -> Self {
        Self {
            point: point.clone(),
            chance: Chance::new(seed, stream),
            order: Chance::new(seed, 500 + stream),
            misses: false,
            records: Vec::new(),
            sightings: Vec::new(),
        }
    }

    /// A packet passes. `payload` is its part of its stream.
    pub(crate) fn see(&mut self, packet: &Packet, payload: &[u8], vlan: Option<u16>, now: Nanos) {
        let captured = self.is_on(packet, now) && !self.misses();
        self.sightings.push(sighting(packet, captured));
        if !captured {
            return;
        }
        if let Some(later) = self.point.doubled {
            self.see_again(packet, payload, vlan, now + later);
        }
        if let Some(later) = self.point.routed {
            let mut copy = packet.clone();
            pass_router(&mut copy);
            self.see_again(&copy, payload, vlan, now + later);
        }
        let record = self.record(packet, payload, vlan, now);
        self.records.push(record);
    }

    /// The packet passes a second time, whole or in segments.
    fn see_again(&mut self, packet: &Packet, payload: &[u8], vlan: Option<u16>, now: Nanos) {
        let copies = if self.point.recut {
            cut(packet)
        } else {
            vec![packet.clone()]
        };
        let mut rest = payload;
        for copy in copies {
            let len = copy.tcp().map_or(rest.len(), Tcp::len).min(rest.len());
            let (own, behind) = rest.split_at(len);
            rest = behind;
            let copy = self.record(&copy, own, vlan, now);
            self.records.push(copy);
        }
    }

    /// Whether the capture runs, and takes this packet.
    fn is_on(&self, packet: &Packet, now: Nanos) -> bool {
        let running = (self.point.begins..self.point.ends).contains(&now);
        let fits = packet.frame_len() <= self.point.longest;
        running && fits && self.point.only.is_none_or(|side| side == packet.toward)
    }

    fn misses(&mut self) -> bool {
        if let Some(runs) = self.point.missed_runs {
            let turn = if self.misses { runs.end } else { runs.begin };
            self.misses ^= self.chance.happens(turn);
            if self.misses && self.chance.happens(runs.loss) {
                return true;
            }
        }
        self.chance.happens(self.point.missed)
    }

    fn record(&self, packet: &Packet, payload: &[u8], vlan: Option<u16>, now: Nanos) -> Record {
        let mut bytes = render::frame(packet, payload, vlan);
        let original = bytes.len() as u32;
        bytes.truncate(self.point.snap as usize);
        let inbound = self.point.own.map(|side| packet.toward == side);
        Record {
            at: self.clock(now),
            original,
            bytes,
            inbound,
        }
    }

    /// What the point's clock shows.
    fn clock(&self, now: Nanos) -> u64 {
        let drift = i128::from(now) * i128::from(self.point.drift_ppb) / 1_000_000_000;
        let set = self.point.set.filter(|(at, _)| now >= *at);
        let offset = self.point.offset + set.map_or(0, |(_, by)| by);
        let shown = i128::from(BEGIN + now) + i128::from(offset) + drift;
        let shown = u64::try_from(shown).unwrap_or(0);
        shown - shown % self.point.tick.max(1)
    }

    /// Puts the records into the order of their time stamps, in which they were written, unless the clock was set back
    /// or queues were emptied one after the other.
    pub(crate) fn finish(&mut self) {
        if self.point.set.is_some() {
            return;
        }
        self.records.sort_by_key(|record| record.at);
        let mut keyed: Vec<(u64, Record)> = Vec::new();
        for record in self.records.drain(..) {
            // What one queue held is written at once.
            let last = keyed.last().filter(|(_, last)| last.at == record.at);
            let key = match last {
                Some((key, _)) => *key,
                None => record.at + written_after(self.point.unsorted, &mut self.order),
            };
            keyed.push((key, record));
        }
        keyed.sort_by_key(|(key, _)| *key);
        self.records = keyed.into_iter().map(|(_, record)| record).collect();
    }
}

fn written_after(most: Nanos, chance: &mut Chance) -> Nanos {
    if most == 0 { 0 } else { chance.below(most) }
}

fn sighting(packet: &Packet, captured: bool) -> Sighting {
    let tcp = packet.tcp();
    let plain = tcp.is_some_and(|tcp| tcp.flags & (SYN | FIN) == 0);
    let pieces = tcp.map_or(&[][..], |tcp| &tcp.pieces);
    let len: u64 = pieces.iter().map(|piece| u64::from(piece.len)).sum();
    let window = tcp.map_or(0, |tcp| tcp.window);
    Sighting {
        flow: packet.flow,
        toward: packet.toward,
        captured,
        icmp: tcp.is_none(),
        start: tcp.map_or(0, |tcp| tcp.start),
        len,
        pieces: pieces.iter().map(|piece| piece.id).collect(),
        longest_piece: pieces.iter().map(|piece| piece.len).max().unwrap_or(0),
        origin: tcp.map_or(Origin::Single, |tcp| tcp.origin),
        fragment: packet.fragment.is_some(),
        partial_checksum: tcp.is_some_and(|tcp| tcp.checksum == Checksum::Partial),
        pure_ack: len == 0 && plain && tcp.is_some_and(|tcp| tcp.flags & ACK != 0),
        zero_window: plain && window == 0,
    }
}
