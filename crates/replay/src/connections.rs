//! Each direction of each connection, with counts of the frames that came in and went out.

use std::collections::HashMap;

use coalescope_wire::{Address, Flags, Ip, Packet, TcpOptions, Transport, Tunnel};

use crate::acks::Receiver;
use crate::facts::{Connection, Endpoint};
use crate::tally::{Event, Tally};

/// The most directions that are listed.
pub(crate) const MOST: usize = 100_000;

/// What identifies a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    interface: u32,
    version: u8,
    is_udp: bool,
    source: (Address, u16),
    destination: (Address, u16),
    tunnels: [Option<Tunnel>; 4],
}

impl Key {
    /// The direction of a walked frame at an interface; `None` unless the frame is a whole TCP segment or UDP datagram.
    pub(crate) fn of(interface: u32, packet: &Packet) -> Option<Self> {
        let Ip {
            version,
            source,
            destination,
            ..
        } = packet.ip;
        let (ports, is_udp) = match packet.transport {
            Transport::Tcp(tcp) => ((tcp.source_port, tcp.destination_port), false),
            Transport::Udp(udp) => ((udp.source_port, udp.destination_port), true),
            _ => return None,
        };
        packet.ip.fragment.is_none().then_some(Self {
            interface,
            version,
            is_udp,
            source: (source, ports.0),
            destination: (destination, ports.1),
            tunnels: packet.tunnels.layers,
        })
    }

    fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            ..self
        }
    }
}

/// Counts of data frames and their ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Data {
    pub(crate) data_in: u64,
    pub(crate) data_out: u64,
    pub(crate) merged: u64,
    /// Number of frames in the largest merged one; 0 without data.
    pub(crate) largest: u64,
}

impl Data {
    /// Counts a data frame merged from so many.
    pub(crate) fn out(&mut self, frames: u64) {
        self.data_out += 1;
        self.merged += u64::from(frames > 1);
        self.largest = self.largest.max(frames);
    }

    pub(crate) fn merge_factor_mean(&self) -> Option<f64> {
        (self.data_out > 0).then(|| self.data_in as f64 / self.data_out as f64)
    }

    pub(crate) fn merge_factor_max(&self) -> Option<u64> {
        (self.largest > 0).then_some(self.largest)
    }
}

/// One direction.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    key: Key,
    /// The opposite direction, if it was seen.
    peer: Option<u32>,
    /// The MSS option of this direction's SYN.
    mss: Option<u16>,
    frames_in: u64,
    bytes_in: u64,
    pub(crate) frames_out: u64,
    already_merged: u64,
    pub(crate) data: Data,
    /// The receiver of the frames that came in, and that of the frames that went out.
    before: Receiver,
    pub(crate) after: Receiver,
    pub(crate) tally: Tally,
}

impl Flow {
    fn new(key: Key, peer: Option<u32>) -> Self {
        Self {
            key,
            peer,
            mss: None,
            frames_in: 0,
            bytes_in: 0,
            frames_out: 0,
            already_merged: 0,
            data: Data::default(),
            before: Receiver::default(),
            after: Receiver::default(),
            tally: Tally::default(),
        }
    }

    /// Counts a frame that came in.
    pub(crate) fn take(&mut self, wire_len: u32, is_data: bool, already_merged: bool) {
        self.frames_in += 1;
        self.bytes_in += u64::from(wire_len);
        self.data.data_in += u64::from(is_data);
        self.already_merged += u64::from(already_merged);
        if is_data && self.is_tcp() {
            self.before.take(1 + u64::from(already_merged));
        }
    }

    pub(crate) fn is_tcp(&self) -> bool {
        !self.key.is_udp
    }

    /// ACKs for the frames that came in, and how many fewer for those that went out.
    pub(crate) fn acks(&self) -> (u64, u64) {
        let before = self.before.acks();
        (before, before.saturating_sub(self.after.acks()))
    }
}

/// All directions, up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    flows: Vec<Flow>,
    index: HashMap<Key, u32>,
}

impl Connections {
    /// The direction's number, new if need be; `None` beyond the bound.
    pub(crate) fn find(&mut self, key: Key) -> Option<u32> {
        if let Some(&known) = self.index.get(&key) {
            return Some(known);
        }
        let next = self.flows.len();
        if next == MOST {
            return None;
        }
        let peer = self.index.get(&key.reversed()).copied();
        self.flows.push(Flow::new(key, peer));
        self.index.insert(key, next as u32);
        if let Some(peer) = self.get(peer) {
            peer.peer = Some(next as u32);
        }
        Some(next as u32)
    }

    pub(crate) fn get(&mut self, flow: Option<u32>) -> Option<&mut Flow> {
        self.flows.get_mut(flow? as usize)
    }

    /// Notes the MSS of a SYN.
    pub(crate) fn note_syn(&mut self, flow: u32, packet: &Packet, captured: &[u8]) {
        let Transport::Tcp(tcp) = packet.transport else {
            return;
        };
        if !tcp.flags.has(Flags::SYN) {
            return;
        }
        let options = captured.get(tcp.offset + 20..).unwrap_or_default();
        let declared = usize::from(tcp.header_len).saturating_sub(20);
        if let Some(flow) = self.get(Some(flow)) {
            flow.mss = TcpOptions::parse(options, declared).mss.or(flow.mss);
        }
    }

    /// The most payload and TCP options that a segment of a direction has, as far as SYNs show it: a host sends neither
    /// more than it could receive itself (RFC 9293 section 3.7.1 derives both from one MTU), nor more than the other
    /// side accepts.
    pub(crate) fn mss(&self, flow: u32) -> Option<u16> {
        let flow = self.flows.get(flow as usize)?;
        let peer = flow.peer.and_then(|peer| self.flows.get(peer as usize));
        let both = [flow.mss, peer.and_then(|peer| peer.mss)];
        both.into_iter().flatten().filter(|&mss| mss > 0).min()
    }

    pub(crate) fn count(&mut self, flow: Option<u32>, event: Event, reason: &'static str) {
        if let Some(flow) = self.get(flow) {
            flow.tally.count(event, reason);
        }
    }

    /// ACKs of all directions, and how many are saved.
    pub(crate) fn acks(&self) -> (u64, u64) {
        let all = self.flows.iter().map(Flow::acks);
        all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    pub(crate) fn facts(&self) -> Vec<Connection> {
        let flows = self.flows.iter().zip(0..);
        flows.map(|(flow, id)| facts(flow, id)).collect()
    }
}

fn facts(flow: &Flow, id: u64) -> Connection {
    let Key {
        interface,
        version,
        is_udp,
        ..
    } = flow.key;
    let (acks_before, acks_saved) = flow.acks();
    Connection {
        id,
        interface,
        network: if version == 4 { "ipv4" } else { "ipv6" },
        protocol: if is_udp { "udp" } else { "tcp" },
        tunnel: tunnel(&flow.key.tunnels),
        source: endpoint(version, flow.key.source),
        destination: endpoint(version, flow.key.destination),
        frames_in: flow.frames_in,
        frames_out: flow.frames_out,
        merged_frames: flow.data.merged,
        merge_factor_mean: flow.data.merge_factor_mean(),
        merge_factor_max: flow.data.merge_factor_max(),
        data_frames_in: flow.data.data_in,
        data_frames_out: flow.data.data_out,
        bytes_in: flow.bytes_in,
        acks_before,
        acks_saved,
        already_merged_frames: flow.already_merged,
        reasons: flow.tally.reasons(),
    }
}

fn endpoint(version: u8, (address, port): (Address, u16)) -> Endpoint {
    let address = address.of_version(version);
    Endpoint { address, port }
}

fn tunnel(layers: &[Option<Tunnel>]) -> Option<String> {
    let names: Vec<String> = layers.iter().flatten().map(Tunnel::to_string).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(source_port: u16, destination_port: u16) -> Key {
        Key {
            interface: 0,
            version: 4,
            is_udp: false,
            source: (Address([1; 16]), source_port),
            destination: (Address([2; 16]), destination_port),
            tunnels: [None; 4],
        }
    }

    #[test]
    fn beyond_the_bound_none_is_listed() {
        let mut all = Connections::default();
        for n in 0..MOST as u32 {
            let found = all.find(key(n as u16, (n >> 16) as u16));
            assert_eq!(found, Some(n));
        }
        assert_eq!(all.find(key(0, 9_999)), None);
        assert_eq!(all.find(key(3, 0)), Some(3));
    }

    #[test]
    fn both_directions_limit_a_segment() {
        let mut all = Connections::default();
        let there = all.find(key(1, 2)).unwrap();
        assert_eq!(all.mss(there), None);
        let back = all.find(key(1, 2).reversed()).unwrap();
        all.get(Some(there)).unwrap().mss = Some(8_960);
        assert_eq!(all.mss(back), Some(8_960));
        all.get(Some(back)).unwrap().mss = Some(1_460);
        assert_eq!(all.mss(there), Some(1_460));
    }
}
