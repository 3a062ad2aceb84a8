//! Frames built field by field. Lengths and checksums are right unless a field asks for them to be
//! wrong.

mod ip;
mod transport;
mod tunnel;

pub use ip::{Ip, Ipv4, Ipv6};
pub use transport::{Tcp, Transport, Udp, flags, timestamps};
pub use tunnel::{Encapsulation, Tunnel};

use crate::link::Veth;

/// EtherType of IPv4.
const ETHERTYPE_V4: u16 = 0x0800;
/// EtherType of IPv6.
const ETHERTYPE_V6: u16 = 0x86dd;
/// EtherType of a PPPoE session.
const ETHERTYPE_PPPOE: u16 = 0x8864;

/// A frame to be built.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Destination address of the Ethernet header.
    pub destination_mac: [u8; 6],
    /// Source address of the Ethernet header.
    pub source_mac: [u8; 6],
    /// VLAN tags from the outside: protocol and tag.
    pub tags: Vec<(u16, u16)>,
    /// Session id of PPPoE, if the frame is in a PPPoE session.
    pub pppoe: Option<u16>,
    /// Tunnels from the outside.
    pub tunnels: Vec<Tunnel>,
    /// The inner IP header.
    pub ip: Ip,
    /// The TCP or UDP header.
    pub transport: Transport,
    /// The payload of TCP or UDP.
    pub payload: Vec<u8>,
    /// Bytes after the end of the packet.
    pub padding: usize,
}

impl Segment {
    /// TCP over IPv4.
    pub fn v4(ip: Ipv4) -> Self {
        Self::new(Ip::V4(ip), Transport::Tcp(Tcp::default()))
    }

    /// TCP over IPv6.
    pub fn v6(ip: Ipv6) -> Self {
        Self::new(Ip::V6(ip), Transport::Tcp(Tcp::default()))
    }

    /// Any transport over any IP, from the left end of a [`Veth`] to the right.
    pub fn new(ip: Ip, transport: Transport) -> Self {
        Self {
            destination_mac: Veth::RIGHT_MAC,
            source_mac: Veth::LEFT_MAC,
            tags: Vec::new(),
            pppoe: None,
            tunnels: Vec::new(),
            ip,
            transport,
            payload: Vec::new(),
            padding: 0,
        }
    }

    /// The TCP header, if it is TCP.
    pub fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        match &mut self.transport {
            Transport::Tcp(tcp) => Some(tcp),
            Transport::Udp(_) => None,
        }
    }

    /// The UDP header, if it is UDP.
    pub fn udp_mut(&mut self) -> Option<&mut Udp> {
        match &mut self.transport {
            Transport::Tcp(_) => None,
            Transport::Udp(udp) => Some(udp),
        }
    }

    /// The inner IPv4 header, if it is IPv4.
    pub fn ipv4_mut(&mut self) -> Option<&mut Ipv4> {
        match &mut self.ip {
            Ip::V4(ip) => Some(ip),
            Ip::V6(_) => None,
        }
    }

    /// The inner IPv6 header, if it is IPv6.
    pub fn ipv6_mut(&mut self) -> Option<&mut Ipv6> {
        match &mut self.ip {
            Ip::V4(_) => None,
            Ip::V6(ip) => Some(ip),
        }
    }

    /// The whole frame.
    pub fn frame(&self) -> Vec<u8> {
        let mut packet = self.packet();
        let mut version = self.ip.version();
        for tunnel in self.tunnels.iter().rev() {
            packet = tunnel.wrap(version, packet);
            version = tunnel.outer.version();
        }
        let mut frame = self.link_header(version, packet.len());
        frame.extend(packet);
        frame.resize(frame.len() + self.padding, 0);
        frame
    }

    /// The inner IP packet.
    fn packet(&self) -> Vec<u8> {
        let body = self.transport.bytes(&self.ip, &self.payload);
        self.ip.wrap(self.transport.protocol(), &body)
    }

    fn link_header(&self, version: u8, length: usize) -> Vec<u8> {
        let mut header = [self.destination_mac, self.source_mac].concat();
        for (protocol, tag) in &self.tags {
            header.extend([protocol.to_be_bytes(), tag.to_be_bytes()].concat());
        }
        match self.pppoe {
            None => header.extend(ethertype(version).to_be_bytes()),
            Some(session) => header.extend(pppoe(session, version, length)),
        }
        header
    }
}

/// The EtherType of an IP version.
pub(crate) fn ethertype(version: u8) -> u16 {
    if version == 4 {
        ETHERTYPE_V4
    } else {
        ETHERTYPE_V6
    }
}

/// RFC 2516: EtherType, version and type, code, session, length; then the PPP protocol.
fn pppoe(session: u16, version: u8, length: usize) -> Vec<u8> {
    let protocol: u16 = if version == 4 { 0x21 } else { 0x57 };
    let mut header = ETHERTYPE_PPPOE.to_be_bytes().to_vec();
    header.extend([0x11, 0]);
    header.extend(session.to_be_bytes());
    header.extend((length as u16 + 2).to_be_bytes());
    header.extend(protocol.to_be_bytes());
    header
}
