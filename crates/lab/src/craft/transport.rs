//! TCP and UDP headers.

use super::Ip;
use crate::checksum::internet_checksum;

/// The bits of the TCP header's flags; AE is beside the data offset.
pub mod flags {
    /// No more data from the sender.
    pub const FIN: u16 = 1;
    /// Opens a connection.
    pub const SYN: u16 = 2;
    /// Ends a connection at once.
    pub const RST: u16 = 4;
    /// Asks the receiver to hand the data to the program.
    pub const PSH: u16 = 8;
    /// The acknowledgement number is valid.
    pub const ACK: u16 = 0x10;
    /// The urgent pointer is valid.
    pub const URG: u16 = 0x20;
    /// Congestion was marked (RFC 3168).
    pub const ECE: u16 = 0x40;
    /// The window was reduced (RFC 3168).
    pub const CWR: u16 = 0x80;
    /// Accurate ECN, formerly the nonce sum (RFC 9768).
    pub const AE: u16 = 0x100;
}

/// The transport header.
#[derive(Clone, Debug)]
pub enum Transport {
    /// TCP.
    Tcp(Tcp),
    /// UDP.
    Udp(Udp),
}

/// A TCP header (RFC 9293).
#[derive(Clone, Debug)]
pub struct Tcp {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// See [`flags`].
    pub flags: u16,
    /// Window, not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options, a multiple of 4 bytes.
    pub options: Vec<u8>,
    /// Added to the data offset, in words; the checksum is right for the wrong header.
    pub offset_error: i8,
    /// Changes the checksum; 0 leaves it right.
    pub checksum_error: u16,
}

/// A UDP header (RFC 768).
#[derive(Clone, Debug, Default)]
pub struct Udp {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Sends no checksum.
    pub no_checksum: bool,
    /// Changes the checksum; 0 leaves it right.
    pub checksum_error: u16,
    /// Added to the length.
    pub length_error: i16,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            source: 5000,
            destination: 9,
            seq: 1000,
            ack: 1,
            flags: flags::ACK,
            window: 1000,
            urgent: 0,
            options: Vec::new(),
            offset_error: 0,
            checksum_error: 0,
        }
    }
}

/// The timestamps option as stacks send it: two NOPs, kind 8, length 10, TSval and TSecr.
pub fn timestamps(value: u32, echo: u32) -> Vec<u8> {
    [
        &[1, 1, 8, 10],
        &value.to_be_bytes()[..],
        &echo.to_be_bytes(),
    ]
    .concat()
}

impl Transport {
    /// Protocol number in the IP header.
    pub fn protocol(&self) -> u8 {
        match self {
            Self::Tcp(_) => 6,
            Self::Udp(_) => 17,
        }
    }

    /// Header and payload.
    pub(super) fn bytes(&self, ip: &Ip, payload: &[u8]) -> Vec<u8> {
        match self {
            Self::Tcp(tcp) => tcp.bytes(ip, payload),
            Self::Udp(udp) => udp.bytes(ip, payload),
        }
    }
}

impl Tcp {
    fn bytes(&self, ip: &Ip, payload: &[u8]) -> Vec<u8> {
        let words = (5 + (self.options.len() / 4) as u8).wrapping_add_signed(self.offset_error);
        let mut segment = [self.source.to_be_bytes(), self.destination.to_be_bytes()].concat();
        segment.extend(self.seq.to_be_bytes());
        segment.extend(self.ack.to_be_bytes());
        segment.extend(((u16::from(words) << 12) | self.flags).to_be_bytes());
        segment.extend(self.window.to_be_bytes());
        segment.extend([0, 0]);
        segment.extend(self.urgent.to_be_bytes());
        segment.extend(&self.options);
        segment.extend(payload);
        let checksum = sum(ip, 6, &segment) ^ self.checksum_error;
        segment[16..18].copy_from_slice(&checksum.to_be_bytes());
        segment
    }
}

impl Udp {
    pub(super) fn bytes(&self, ip: &Ip, payload: &[u8]) -> Vec<u8> {
        let length = ((8 + payload.len()) as u16).wrapping_add_signed(self.length_error);
        let mut datagram = [self.source.to_be_bytes(), self.destination.to_be_bytes()].concat();
        datagram.extend(length.to_be_bytes());
        datagram.extend([0, 0]);
        datagram.extend(payload);
        // A checksum of zero is sent as 0xffff: zero means no checksum.
        let right = Some(sum(ip, 17, &datagram))
            .filter(|sum| *sum != 0)
            .unwrap_or(0xffff);
        let checksum = if self.no_checksum {
            0
        } else {
            right ^ self.checksum_error
        };
        datagram[6..8].copy_from_slice(&checksum.to_be_bytes());
        datagram
    }
}

/// The checksum over pseudo-header and segment. The checksum field of the segment has to be zero.
fn sum(ip: &Ip, protocol: u8, segment: &[u8]) -> u16 {
    let length = (segment.len() as u32).to_be_bytes();
    internet_checksum(&[&ip.addresses(), &length, &[0, protocol], segment])
}
