//! IPv4 and IPv6 headers.

use crate::checksum::internet_checksum;

/// An IP header of either version.
#[derive(Clone, Debug)]
pub enum Ip {
    /// Version 4.
    V4(Ipv4),
    /// Version 6.
    V6(Ipv6),
}

/// An IPv4 header (RFC 791).
#[derive(Clone, Debug)]
pub struct Ipv4 {
    /// Type of service, with the two ECN bits.
    pub tos: u8,
    /// Identification.
    pub id: u16,
    /// Don't Fragment.
    pub dont_fragment: bool,
    /// More Fragments.
    pub more_fragments: bool,
    /// The reserved bit beside DF and MF, which must be zero.
    pub reserved: bool,
    /// Offset of a fragment, in units of 8 bytes.
    pub fragment_offset: u16,
    /// Time to live.
    pub ttl: u8,
    /// Options, a multiple of 4 bytes.
    pub options: Vec<u8>,
    /// Source address.
    pub source: [u8; 4],
    /// Destination address.
    pub destination: [u8; 4],
    /// Changes the checksum; 0 leaves it right.
    pub checksum_error: u16,
    /// Added to the total length.
    pub length_error: i16,
}

/// An IPv6 header (RFC 8200).
#[derive(Clone, Debug)]
pub struct Ipv6 {
    /// Traffic class, with the two ECN bits.
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
    /// Extension headers: the header's number, and its bytes after the Next Header field.
    pub extensions: Vec<(u8, Vec<u8>)>,
    /// Source address.
    pub source: [u8; 16],
    /// Destination address.
    pub destination: [u8; 16],
    /// Added to the payload length.
    pub length_error: i16,
}

impl Default for Ipv4 {
    fn default() -> Self {
        Self {
            tos: 0,
            id: 0,
            dont_fragment: true,
            more_fragments: false,
            reserved: false,
            fragment_offset: 0,
            ttl: 64,
            options: Vec::new(),
            source: [192, 0, 2, 1],
            destination: [192, 0, 2, 2],
            checksum_error: 0,
            length_error: 0,
        }
    }
}

impl Default for Ipv6 {
    /// Addresses of the documentation prefix, 2001:db8::/32.
    fn default() -> Self {
        let address = |host| [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host];
        Self {
            traffic_class: 0,
            flow_label: 0,
            hop_limit: 64,
            extensions: Vec::new(),
            source: address(1),
            destination: address(2),
            length_error: 0,
        }
    }
}

impl Ip {
    /// 4 or 6.
    pub fn version(&self) -> u8 {
        match self {
            Self::V4(_) => 4,
            Self::V6(_) => 6,
        }
    }

    /// Source and destination, as the pseudo-header has them.
    pub(super) fn addresses(&self) -> Vec<u8> {
        match self {
            Self::V4(ip) => [ip.source, ip.destination].concat(),
            Self::V6(ip) => [ip.source, ip.destination].concat(),
        }
    }

    /// A packet with this header.
    pub(super) fn wrap(&self, protocol: u8, body: &[u8]) -> Vec<u8> {
        match self {
            Self::V4(ip) => ip.wrap(protocol, body),
            Self::V6(ip) => ip.wrap(protocol, body),
        }
    }
}

impl Ipv4 {
    fn wrap(&self, protocol: u8, body: &[u8]) -> Vec<u8> {
        let header = 20 + self.options.len();
        let length = ((header + body.len()) as u16).wrapping_add_signed(self.length_error);
        let mut packet = vec![0x40 | (header / 4) as u8, self.tos];
        packet.extend(length.to_be_bytes());
        packet.extend(self.id.to_be_bytes());
        packet.extend(self.fragment().to_be_bytes());
        packet.extend([self.ttl, protocol, 0, 0]);
        packet.extend([self.source, self.destination].concat());
        packet.extend(&self.options);
        let checksum = internet_checksum(&[&packet]) ^ self.checksum_error;
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        packet.extend(body);
        packet
    }

    fn fragment(&self) -> u16 {
        let bits = [
            (self.reserved, 0x8000),
            (self.dont_fragment, 0x4000),
            (self.more_fragments, 0x2000),
        ];
        bits.iter()
            .filter(|(set, _)| *set)
            .fold(self.fragment_offset & 0x1fff, |sum, (_, bit)| sum | bit)
    }
}

impl Ipv6 {
    fn wrap(&self, protocol: u8, body: &[u8]) -> Vec<u8> {
        let (first, extensions) = self.chain(protocol);
        let length =
            ((extensions.len() + body.len()) as u16).wrapping_add_signed(self.length_error);
        let word = (6 << 28) | (u32::from(self.traffic_class) << 20) | (self.flow_label & 0xf_ffff);
        let mut packet = word.to_be_bytes().to_vec();
        packet.extend(length.to_be_bytes());
        packet.extend([first, self.hop_limit]);
        packet.extend([self.source, self.destination].concat());
        packet.extend(extensions);
        packet.extend(body);
        packet
    }

    /// Each extension header begins with the kind of the next.
    fn chain(&self, protocol: u8) -> (u8, Vec<u8>) {
        let mut next = protocol;
        let mut bytes = Vec::new();
        for (kind, rest) in self.extensions.iter().rev() {
            bytes.splice(0..0, [&[next], &rest[..]].concat());
            next = *kind;
        }
        (next, bytes)
    }
}
