//! What the walk reports: plain values and offsets into the frame, no borrows.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::tcp::Tcp;

/// An IPv4 or IPv6 address. IPv4 uses the first four bytes; the rest is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub [u8; 16]);

impl Address {
    /// The address as the standard library's type, of this version: 4 or 6.
    #[must_use]
    pub fn of_version(self, version: u8) -> IpAddr {
        let [a, b, c, d, ..] = self.0;
        match version {
            4 => Ipv4Addr::new(a, b, c, d).into(),
            _ => Ipv6Addr::from(self.0).into(),
        }
    }
}

/// VLAN tags (IEEE 802.1Q and 802.1ad), outermost first. More than four are counted, not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vlans {
    /// Tag control information (PCP, DEI, VID) of the first four tags.
    pub tci: [u16; 4],
    /// How many tags the frame carries.
    pub count: u8,
}

/// What a tunnel layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TunnelKind {
    /// VXLAN (RFC 7348), also VXLAN-GPE; the identifier is the VNI.
    Vxlan,
    /// Geneve (RFC 8926); the identifier is the VNI.
    Geneve,
    /// GRE (RFC 2784, RFC 2890); the identifier is the key, 0 without one.
    Gre,
    /// ERSPAN type II or III over GRE: a mirror's transport, not part of the path it shows.
    Erspan,
    /// IPv4 or IPv6 directly in IP (IPIP, 6in4, 4in6, IP6IP6).
    IpInIp,
    /// MPLS (RFC 3032); the identifier is the innermost label.
    Mpls,
    /// PPPoE (RFC 2516); the identifier is the session.
    Pppoe,
}

/// One tunnel layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tunnel {
    /// What it is.
    pub kind: TunnelKind,
    /// Its identifier (VNI, key, label, session); 0 where it has none.
    pub id: u32,
}

/// As reports name it: `vxlan 42`; IP in IP has no identifier.
impl fmt::Display for Tunnel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            TunnelKind::Vxlan => "vxlan",
            TunnelKind::Geneve => "geneve",
            TunnelKind::Gre => "gre",
            TunnelKind::Erspan => "erspan",
            TunnelKind::IpInIp => return out.write_str("ip-in-ip"),
            TunnelKind::Mpls => "mpls",
            TunnelKind::Pppoe => "pppoe",
        };
        write!(out, "{name} {}", self.id)
    }
}

/// Tunnel layers, outermost first. More than four are counted, not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tunnels {
    /// The first four layers.
    pub layers: [Option<Tunnel>; 4],
    /// How many layers the frame has.
    pub count: u8,
}

/// Who sent the frame, where the link type says so (Linux cooked captures).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sent {
    /// The link type does not say.
    #[default]
    Unknown,
    /// By another host, to this one, or seen in passing.
    Inbound,
    /// By the capturing host.
    Outbound,
}

/// Where an IP payload's length comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthSource {
    /// The IP header's length field (or the jumbo payload option, RFC 2675).
    Header,
    /// The frame's length on the wire, since the IP header has a length of 0: a frame captured before segmentation
    /// (TSO), or one over 65,535 bytes (BIG TCP).
    Frame,
}

/// An IP fragment's place (RFC 791, RFC 8200).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Identification, 16 bits in IPv4, 32 in IPv6.
    pub id: u32,
    /// Offset of this fragment's payload in the datagram's, in bytes.
    pub offset: u32,
    /// More fragments follow.
    pub more: bool,
}

/// The innermost IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// 4 or 6.
    pub version: u8,
    /// Where the header starts in the frame.
    pub offset: usize,
    /// Where its payload starts: after options or extension headers.
    pub payload_offset: usize,
    /// Length of the payload on the wire in bytes, after options or extension headers. Never
    /// includes link padding. For a fragment, this fragment's share.
    pub payload_len: u32,
    /// Where that length comes from.
    pub length_source: LengthSource,
    /// Source address.
    pub source: Address,
    /// Destination address.
    pub destination: Address,
    /// TTL or hop limit.
    pub ttl: u8,
    /// TOS or traffic class.
    pub tos: u8,
    /// IPv4 identification; 0 for IPv6.
    pub id: u16,
    /// IPv4 Don't Fragment; true for IPv6, where routers never fragment.
    pub dont_fragment: bool,
    /// Set when the packet is a fragment (offset or more-fragments not zero).
    pub fragment: Option<Fragment>,
    /// Protocol number of the payload.
    pub protocol: u8,
}

/// A UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Where the header starts in the frame.
    pub offset: usize,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Payload bytes on the wire.
    pub payload_len: u32,
}

/// An ICMP or ICMPv6 message that says a packet was too big (RFC 792 type 3 code 4 with RFC 1191,
/// RFC 4443 type 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpError {
    /// MTU of the next hop in bytes; 0 from a router that predates RFC 1191.
    pub mtu: u32,
    /// Where the quoted IP packet starts in the frame: give this to [`crate::walk_quoted`].
    pub quoted_offset: usize,
}

/// What the innermost IP packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp(Tcp),
    /// UDP that is no tunnel known to the walk.
    Udp(Udp),
    /// "Packet too big".
    TooBig(IcmpError),
    /// A fragment that is not the first: no transport header.
    LaterFragment,
    /// Another protocol, or another ICMP message.
    Other,
}

/// A frame as the walk found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// VLAN tags passed, at every tunnel level.
    pub vlans: Vlans,
    /// Tunnel layers passed.
    pub tunnels: Tunnels,
    /// Who sent it, if the link type says so.
    pub sent: Sent,
    /// The innermost IP header.
    pub ip: Ip,
    /// What it carries.
    pub transport: Transport,
}

/// The packet that an ICMP error quotes, from [`crate::walk_quoted`]. Offsets count from the first
/// byte of the quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// Its IP header: the outermost one, which the router that sent the error looked at.
    pub ip: Ip,
    /// Protocol number of its payload, after extension headers.
    pub protocol: u8,
    /// Source port; 0 for a protocol without ports and for a fragment that is not the first.
    pub source_port: u16,
    /// Destination port; 0 where the source port is.
    pub destination_port: u16,
    /// TCP sequence number; 0 for other protocols.
    pub seq: u32,
}

/// Why and where a walk ended without an innermost IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Offset of the header that could not be read.
    pub offset: usize,
    /// Why.
    pub reason: StopReason,
}

/// Why a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Not IP: ARP, LLDP, an unknown EtherType or protocol. Nothing is wrong.
    NotIp,
    /// The link type is not one the walk knows.
    UnknownLink,
    /// The capture (snap length) or the frame ends inside a header.
    Truncated,
    /// A header contradicts itself: an IP header length under 20, a TCP data offset under 5, a
    /// length smaller than the header.
    Malformed,
    /// More than eight nested headers of one sort (32 of MPLS labels): a loop or a forgery.
    TooDeep,
}
