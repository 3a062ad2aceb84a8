//! A packet as the model carries it: fields, not bytes.
//!
//! Bytes are made only where a point captures (see [`crate::render`]). What travels instead of
//! payload is the place of that payload in its stream and the list of [`Piece`]s, one for each
//! segment that the sender put on the wire. A piece keeps its number through merging and splitting;
//! that's how the truth about a hop can be exact.

use std::net::IpAddr;

use crate::path::Wrap;
use crate::side::Side;

/// FIN flag.
pub(crate) const FIN: u8 = 0x01;
/// SYN flag.
pub(crate) const SYN: u8 = 0x02;
/// PSH flag.
pub(crate) const PSH: u8 = 0x08;
/// ACK flag.
pub(crate) const ACK: u8 = 0x10;
/// RST flag.
pub(crate) const RST: u8 = 0x04;
/// ECE flag: a mark arrived (RFC 3168).
pub(crate) const ECE: u8 = 0x40;
/// CWR flag: the window was reduced for it.
pub(crate) const CWR: u8 = 0x80;
/// The ECN field of a packet that may be marked, and of one that was.
pub(crate) const MAY_BE_MARKED: u8 = 2;
pub(crate) const MARKED: u8 = 3;
/// Bytes of an IPv6 extension header, where there is one.
pub(crate) const EXTENSION: usize = 8;

/// Bytes of an Ethernet header without a tag.
pub(crate) const ETHERNET: usize = 14;

/// One segment's transmission: a retransmission of the same bytes is another piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) id: u64,
    pub(crate) len: u32,
}

/// How a frame came to have the size it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// One segment, or none.
    Single,
    /// The sending host left the cutting to its NIC.
    Tso,
    /// A receiving NIC or its driver merged segments.
    Merged,
}

/// What the TCP checksum field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// The complete checksum.
    Full,
    /// The folded sum of the pseudo-header alone, as Linux leaves it for the NIC
    /// (`CHECKSUM_PARTIAL`).
    Partial,
}

/// The TCP options the model knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    /// TSval and TSecr (RFC 7323 section 3).
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) sacks: Vec<(u32, u32)>,
    /// Bytes of an option that the model does not read.
    pub(crate) more: u8,
}

impl Options {
    /// Bytes that the options take, padded to whole words.
    pub(crate) fn len(&self) -> usize {
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        let timestamps = if self.timestamps.is_some() { 12 } else { 0 };
        let permitted = if self.sack_permitted && self.timestamps.is_none() {
            4
        } else {
            0
        };
        let sacks = if self.sacks.is_empty() {
            0
        } else {
            4 + 8 * self.sacks.len()
        };
        let more = usize::from(self.more);
        // On a SYN, SACK-permitted takes the place of the two NOPs in front of the timestamps, as Linux
        // lays it out.
        mss + scale + timestamps + permitted + sacks + more
    }
}

/// A TCP header and the payload's place in its stream.
#[derive(Clone, Debug)]
pub(crate) struct Tcp {
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    pub(crate) window: u16,
    pub(crate) options: Options,
    /// Offset of the payload in the stream of its direction.
    pub(crate) start: u64,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) origin: Origin,
    pub(crate) checksum: Checksum,
    /// The frame can be cut again where its seams were (Linux keeps `gso_size`, LRO and RSC do
    /// not).
    pub(crate) reversible: bool,
    /// The segment size in the frame's metadata, where it differs from the real one.
    pub(crate) gso_size: Option<u16>,
}

impl Tcp {
    /// Payload bytes.
    pub(crate) fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len as usize).sum()
    }

    /// Carries more than one segment.
    pub(crate) fn is_merged(&self) -> bool {
        self.pieces.len() > 1
    }

    /// Payload bytes of a full segment, by the frame's metadata.
    fn segment_size(&self) -> usize {
        let is = self.pieces.first().map_or(0, |piece| piece.len as usize);
        self.gso_size.map_or(is, usize::from)
    }

    /// Bytes of header and options.
    pub(crate) fn header_len(&self) -> usize {
        20 + self.options.len()
    }
}

/// An ICMP "fragmentation needed" (RFC 792, RFC 1191) or "packet too big" (RFC 4443 section 3.2).
#[derive(Clone, Debug)]
pub(crate) struct TooBig {
    pub(crate) mtu: u16,
    /// The start of the packet it answers.
    pub(crate) quote: Vec<u8>,
}

/// What an IP packet carries.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Tcp(Tcp),
    TooBig(TooBig),
}

/// Which part of a packet's IP payload an IP fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) offset: usize,
    pub(crate) len: usize,
    pub(crate) more: bool,
}

/// One packet under way.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// Index of the connection.
    pub(crate) flow: usize,
    pub(crate) toward: Side,
    pub(crate) source: (IpAddr, u16),
    pub(crate) target: (IpAddr, u16),
    pub(crate) ttl: u8,
    pub(crate) ip_id: u16,
    pub(crate) dont_fragment: bool,
    /// Some drivers leave the IP total length of a TSO frame at 0 until the NIC fills it in.
    pub(crate) zero_length: bool,
    /// The last two bits of the traffic class (RFC 3168).
    pub(crate) ecn: u8,
    /// An extension header stands between IPv6 and TCP.
    pub(crate) extension: bool,
    /// Routers passed, which decides the MAC addresses.
    pub(crate) routers: u8,
    pub(crate) wrap: Option<Wrap>,
    /// Its checksum is wrong.
    pub(crate) damaged: bool,
    pub(crate) fragment: Option<Fragment>,
    pub(crate) content: Content,
}

impl Packet {
    /// The TCP part, if this isn't an ICMP message.
    pub(crate) fn tcp(&self) -> Option<&Tcp> {
        match &self.content {
            Content::Tcp(tcp) => Some(tcp),
            Content::TooBig(_) => None,
        }
    }

    /// The TCP part for writing.
    pub(crate) fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        match &mut self.content {
            Content::Tcp(tcp) => Some(tcp),
            Content::TooBig(_) => None,
        }
    }

    /// Carries more than one segment.
    pub(crate) fn is_merged(&self) -> bool {
        self.tcp().is_some_and(Tcp::is_merged)
    }

    /// Whether the size of its segments is still known.
    pub(crate) fn can_be_cut(&self) -> bool {
        self.tcp()
            .is_none_or(|tcp| tcp.origin != Origin::Merged || tcp.reversible)
    }

    /// Bytes of the IP header.
    pub(crate) fn ip_header_len(&self) -> usize {
        match (self.source.0.is_ipv4(), self.extension) {
            (true, _) => 20,
            (false, false) => 40,
            (false, true) => 40 + EXTENSION,
        }
    }

    /// Bytes after the IP header.
    pub(crate) fn ip_payload_len(&self) -> usize {
        if let Some(fragment) = self.fragment {
            return fragment.len;
        }
        match &self.content {
            Content::Tcp(tcp) => tcp.header_len() + tcp.len(),
            Content::TooBig(icmp) => 8 + icmp.quote.len(),
        }
    }

    /// The IP packet's length: what an MTU is compared with.
    pub(crate) fn ip_len(&self) -> usize {
        self.ip_header_len() + self.ip_payload_len()
    }

    /// The IP length of the segments that it can be cut into, by the frame's metadata.
    pub(crate) fn segment_ip_len(&self) -> Option<usize> {
        let tcp = self.tcp().filter(|tcp| tcp.is_merged() && tcp.reversible)?;
        Some(self.ip_header_len() + tcp.header_len() + tcp.segment_size())
    }

    /// The Ethernet frame's length, without a VLAN tag and without the frame check sequence.
    pub(crate) fn frame_len(&self) -> usize {
        let outer = self.wrap.map_or(0, Wrap::overhead);
        outer + ETHERNET + self.ip_len()
    }
}
