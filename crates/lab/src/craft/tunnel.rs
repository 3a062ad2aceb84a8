//! Tunnels: an outer IP header and the encapsulation between outer and inner header.

use super::{Ip, Udp, ethertype};

/// One level of tunnel.
#[derive(Clone, Debug)]
pub struct Tunnel {
    /// The outer IP header.
    pub outer: Ip,
    /// The encapsulation behind the outer IP header.
    pub encapsulation: Encapsulation,
}

/// The encapsulation between outer and inner header.
#[derive(Clone, Debug)]
pub enum Encapsulation {
    /// Nothing: IP in IP, 6in4, 4in6 and the like.
    Ip,
    /// GRE (RFC 2784, 2890).
    Gre {
        /// With a key.
        key: Option<u32>,
        /// With a sequence number.
        sequence: Option<u32>,
        /// With a checksum.
        checksum: bool,
        /// Carries Ethernet instead of IP.
        ethernet: bool,
    },
    /// VXLAN (RFC 7348) in UDP.
    Vxlan {
        /// Ports and checksum.
        udp: Udp,
        /// Network identifier.
        vni: u32,
    },
    /// Geneve (RFC 8926) in UDP, carrying Ethernet.
    Geneve {
        /// Ports and checksum.
        udp: Udp,
        /// Network identifier.
        vni: u32,
    },
}

/// Inner Ethernet addresses of tunnels that carry Ethernet.
const INNER_MACS: [u8; 12] = [2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 1];
/// EtherType of transparent Ethernet bridging.
const ETHERTYPE_BRIDGED: u16 = 0x6558;

impl Tunnel {
    /// The outer packet around an inner one.
    pub(super) fn wrap(&self, version: u8, inner: Vec<u8>) -> Vec<u8> {
        match &self.encapsulation {
            Encapsulation::Ip => self.outer.wrap(if version == 4 { 4 } else { 41 }, &inner),
            Encapsulation::Gre {
                key,
                sequence,
                checksum,
                ethernet,
            } => {
                let body = gre(*key, *sequence, *checksum, *ethernet, version, inner);
                self.outer.wrap(47, &body)
            }
            Encapsulation::Vxlan { udp, vni } => {
                let header = [0x0800_0000, vni << 8].map(u32::to_be_bytes).concat();
                self.in_udp(udp, header, version, inner)
            }
            Encapsulation::Geneve { udp, vni } => {
                let header = [u32::from(ETHERTYPE_BRIDGED), vni << 8]
                    .map(u32::to_be_bytes)
                    .concat();
                self.in_udp(udp, header, version, inner)
            }
        }
    }

    fn in_udp(&self, udp: &Udp, header: Vec<u8>, version: u8, inner: Vec<u8>) -> Vec<u8> {
        let body = [header, bridged(version, inner)].concat();
        self.outer.wrap(17, &udp.bytes(&self.outer, &body))
    }
}

/// An Ethernet frame around an IP packet.
fn bridged(version: u8, inner: Vec<u8>) -> Vec<u8> {
    [
        INNER_MACS.to_vec(),
        ethertype(version).to_be_bytes().to_vec(),
        inner,
    ]
    .concat()
}

/// Flags, protocol, then the optional fields in the order of RFC 2890.
fn gre(
    key: Option<u32>,
    sequence: Option<u32>,
    checksum: bool,
    ethernet: bool,
    version: u8,
    inner: Vec<u8>,
) -> Vec<u8> {
    let flags = (u16::from(checksum) << 15)
        | (u16::from(key.is_some()) << 13)
        | (u16::from(sequence.is_some()) << 12);
    let protocol = if ethernet {
        ETHERTYPE_BRIDGED
    } else {
        ethertype(version)
    };
    let mut bytes = [flags.to_be_bytes(), protocol.to_be_bytes()].concat();
    bytes.extend(vec![0; if checksum { 4 } else { 0 }]);
    bytes.extend(key.into_iter().chain(sequence).flat_map(u32::to_be_bytes));
    bytes.extend(if ethernet {
        bridged(version, inner)
    } else {
        inner
    });
    if checksum {
        let sum = crate::checksum::internet_checksum(&[&bytes]);
        bytes[4..6].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}
