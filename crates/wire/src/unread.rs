//! What the walk does not look into, although TCP may be inside: encrypted packets, and tunnels that it cannot take off.

use crate::cursor::be16;
use crate::framing::ether_types;
use crate::link::LinkType;
use crate::packet::{Packet, Stop, StopReason, Transport, Udp};

/// What a frame carries that the walk does not look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// IPsec's encrypted packets (RFC 4303), by themselves or in UDP (RFC 3948).
    Esp,
    /// IEEE 802.1AE.
    Macsec,
    /// IP behind an 802.2 header (RFC 1042).
    Snap,
    /// Network service header (RFC 8300).
    Nsh,
    /// Ethernet in IP (RFC 3378).
    EtherIp,
    /// L2TP (RFC 2661, RFC 3931).
    L2tp,
    /// GTP-U (3GPP TS 29.281).
    GtpU,
    /// Generic UDP encapsulation (draft-ietf-intarea-gue).
    Gue,
    /// IP in UDP without a header in between (Linux: ip-fou(8)).
    Fou,
}

impl Unread {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Esp,
        Self::Macsec,
        Self::Snap,
        Self::Nsh,
        Self::EtherIp,
        Self::L2tp,
        Self::GtpU,
        Self::Gue,
        Self::Fou,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Esp => "IPsec (ESP)",
            Self::Macsec => "MACsec",
            Self::Snap => "IP in 802.3 with LLC and SNAP",
            Self::Nsh => "NSH",
            Self::EtherIp => "EtherIP",
            Self::L2tp => "L2TP",
            Self::GtpU => "GTP-U",
            Self::Gue => "GUE",
            Self::Fou => "FOU (IP in UDP)",
        }
    }

    /// What a frame carries in which the walk found no IP packet.
    #[must_use]
    pub fn behind(stop: Stop, link: LinkType, frame: &[u8]) -> Option<Self> {
        const MACSEC: u16 = 0x88e5;
        const NSH: u16 = 0x894f;
        if stop.reason != StopReason::NotIp {
            return None;
        }
        // In a cooked capture of the second version the type comes first of the header's 20 bytes, else last.
        let before = if link == LinkType::LinuxSll2 { 20 } else { 2 };
        let announced = stop.offset.checked_sub(before)?;
        let announced = be16(frame.get(announced..)?.first_chunk::<2>()?, 0);
        match announced {
            MACSEC => Some(Self::Macsec),
            NSH => Some(Self::Nsh),
            0..0x600 if is_snap(frame.get(stop.offset..)?) => Some(Self::Snap),
            _ => None,
        }
    }

    /// What a packet carries that is neither TCP nor a tunnel that was taken off.
    #[must_use]
    pub fn inside(packet: &Packet, frame: &[u8]) -> Option<Self> {
        const ESP: u8 = 50;
        const ETHER_IP: u8 = 97;
        const L2TP: u8 = 115;
        match (&packet.transport, packet.ip.protocol) {
            (Transport::Udp(udp), _) => in_udp(udp, frame),
            (Transport::Tcp(_) | Transport::TooBig(_), _) => None,
            (_, ESP) => Some(Self::Esp),
            (_, ETHER_IP) => Some(Self::EtherIp),
            (_, L2TP) => Some(Self::L2tp),
            _ => None,
        }
    }
}

/// An 802.2 header with a SNAP header that announces IP (RFC 1042); other protocols behind 802.2, such as spanning trees, are
/// nobody's connections.
fn is_snap(bytes: &[u8]) -> bool {
    const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
    let header = bytes.first_chunk::<8>();
    header.is_some_and(|header| {
        header.starts_with(&LLC_SNAP)
            && matches!(be16(header, 6), ether_types::IPV4 | ether_types::IPV6)
    })
}

/// A tunnel in UDP, by its port and by how it begins, since anyone may use a port.
fn in_udp(udp: &Udp, frame: &[u8]) -> Option<Unread> {
    const UDP_HEADER: usize = 8;
    let bytes = frame.get(udp.offset + UDP_HEADER..)?.first_chunk::<10>()?;
    let is_to = |port| [udp.source_port, udp.destination_port].contains(&port);
    match bytes {
        // Without a security parameters index it would be a message of IKE (RFC 3948, 2.2).
        [0, 0, 0, 0, ..] => None,
        _ if is_to(4500) && udp.payload_len > 8 => Some(Unread::Esp),
        // A data message of version 2 or 3.
        [flags, version, ..]
            if is_to(1701) && flags & 0x80 == 0 && matches!(version & 15, 2 | 3) =>
        {
            Some(Unread::L2tp)
        }
        // Version 1, GTP and not GTP', and a packet of a user.
        [flags, 255, ..] if is_to(2152) && flags & 0xf0 == 0x30 => Some(Unread::GtpU),
        // Version 0, no control message, IPv4 or IPv6 behind.
        [flags, 4 | 41, ..] if is_to(6080) && flags & 0xe0 == 0 => Some(Unread::Gue),
        _ if is_ip(bytes, udp.payload_len) => Some(Unread::Fou),
        _ => None,
    }
}

/// Whether bytes are the beginning of an IP packet with TCP or UDP that is as long as the payload.
fn is_ip(bytes: &[u8; 10], payload_len: u32) -> bool {
    const IPV6_HEADER: u32 = 40;
    let length = |at, header: u32| u32::from(be16(bytes, at)) + header == payload_len;
    match (bytes[0] >> 4, bytes[0] & 15) {
        (4, 5..) => length(2, 0) && matches!(bytes[9], 6 | 17),
        (6, _) => length(4, IPV6_HEADER) && matches!(bytes[6], 6 | 17),
        _ => false,
    }
}
