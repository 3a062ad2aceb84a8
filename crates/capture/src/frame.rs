//! What the analysis keeps of a frame.

pub(crate) mod digester;
mod dns;
mod fixed;
mod kept;
mod not_read;
pub(crate) mod replayed;
mod steady;

use coalescope_wire::{Address, Flags, Fragment, Ip, TcpOptions, Tunnels, Vlans};

use crate::file::RawFrame;
use crate::key::Key;

pub(crate) use not_read::NotRead;
pub(crate) use steady::SET_BACK_NS;

/// A frame; the fields behind its times are valid if the digest is TCP. Fields are in the order of memory, so that a
/// signature is made of whole words.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) number: u64,
    pub(crate) time_ns: i64,
    pub(crate) key: Key,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    tsval: u32,
    tsecr: u32,
    pub(crate) payload: u32,
    pub(crate) flags: Flags,
    pub(crate) window: u16,
    /// Bytes on the wire.
    pub(crate) original_len: u32,
    pub(crate) checksum: u16,
    pub(crate) id: u16,
    /// TTL or hop limit.
    pub(crate) ttl: u8,
    pub(crate) tcp_header: u8,
    /// The sender is the key's lower end.
    pub(crate) from_low: bool,
    /// Of the same connection as the TCP frame before it in the file, unless it is a SYN.
    pub(crate) follows: bool,
    stamped: bool,
    odd: Odd,
    pub(crate) head_len: u8,
    /// The first payload bytes, as far as captured.
    pub(crate) head: [u8; 16],
    /// Kept for the next frame that is put here.
    rare: Option<Box<Rare>>,
}

/// Rare properties of a frame, in one byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Odd(u8);

impl Odd {
    /// Has options other than timestamps.
    const OPTIONS: Self = Self(1);
    /// Has VLAN tags or came in tunnels.
    const LAYERS: Self = Self(2);
    /// The IP header has a length of 0 although the length would have fitted: captured before segmentation.
    pub(crate) const LENGTH_ZERO: Self = Self(4);
    /// Came as several IP fragments.
    pub(crate) const FRAGMENTED: Self = Self(8);

    /// This property if `is_so`, else none.
    fn when(self, is_so: bool) -> Self {
        Self(if is_so { self.0 } else { 0 })
    }
}

/// Fields that few frames have.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// Valid if [`Odd::OPTIONS`]: most frames have timestamps only.
    options: TcpOptions,
    /// Valid if [`Odd::LAYERS`]: most frames have none.
    layers: (Vlans, Tunnels),
    /// Valid if the digest is a "packet too big".
    too_big: TooBig,
    /// Valid if the digest is a fragment.
    piece: Piece,
}

impl Frame {
    /// Fills in the fields that are known of any frame before its headers are read.
    #[inline(always)]
    fn note(&mut self, raw: &RawFrame<'_>, time_ns: i64) {
        self.number = raw.number;
        self.time_ns = time_ns;
        self.original_len = raw.original_len;
    }

    /// Counts on from other files, in front of the frame's own.
    #[inline]
    pub(crate) fn count_on(&mut self, before: u64) {
        self.number += before;
        if let Some(rare) = &mut self.rare {
            rare.too_big.number = self.number;
        }
    }

    /// The fragment that this is, if the digest says so.
    pub(crate) fn piece(&self) -> Option<Piece> {
        self.rare.as_ref().map(|rare| rare.piece)
    }

    /// The "packet too big" message in this frame, if the digest is one.
    pub(crate) fn too_big(&self) -> Option<&TooBig> {
        self.rare.as_ref().map(|rare| &rare.too_big)
    }

    /// Payload of the datagrams that this datagram was merged from, where its content shows it; its own where its checksum
    /// shows that it is one; else 0. Kept in the field of TCP's sequence number.
    pub(crate) fn datagram_segment(&self) -> u32 {
        self.seq
    }

    /// Whether the frame has any of these properties.
    #[inline]
    pub(crate) fn is(&self, odd: Odd) -> bool {
        self.odd.0 & odd.0 != 0
    }

    /// Adds a property.
    pub(crate) fn add(&mut self, odd: Odd) {
        self.odd.0 |= odd.0;
    }

    /// TSval and TSecr.
    #[inline]
    pub(crate) fn timestamps(&self) -> Option<(u32, u32)> {
        self.stamped.then_some((self.tsval, self.tsecr))
    }

    /// Nothing but an acknowledgment, with or without data: no SYN, FIN or RST, no options but
    /// timestamps, and a length in the IP header.
    #[inline]
    pub(crate) fn is_ordinary(&self) -> bool {
        let telling = Flags::SYN | Flags::FIN | Flags::RST | Flags::ACK;
        self.flags.0 & telling == Flags::ACK && !self.is(Odd(Odd::OPTIONS.0 | Odd::LENGTH_ZERO.0))
    }

    /// Options, if there are others than timestamps.
    #[inline]
    pub(crate) fn options(&self) -> Option<&TcpOptions> {
        let rare = self.rare.as_ref().filter(|_| self.is(Odd::OPTIONS));
        rare.map(|rare| &rare.options)
    }

    /// SACK blocks.
    #[inline]
    pub(crate) fn sack(&self) -> &[(u32, u32)] {
        self.options().map_or(&[], |options| {
            let count = usize::from(options.sack_count).min(options.sack.len());
            &options.sack[..count]
        })
    }

    /// VLAN tags and tunnel layers, if there are any.
    pub(crate) fn layers(&self) -> Option<Box<(Vlans, Tunnels)>> {
        let rare = self.rare.as_ref().filter(|_| self.is(Odd::LAYERS));
        rare.map(|rare| Box::new(rare.layers))
    }

    /// Whether the frame has SYN set.
    #[inline]
    pub(crate) fn is_syn(&self) -> bool {
        self.flags.has(Flags::SYN)
    }

    /// What stays the same when one frame is captured twice (at ingress and at egress of a mirror,
    /// before and after a router), and differs when it is sent twice: identification, timestamps,
    /// acknowledgment, window and SACK along with the bytes it carries. The checksum says no more, and
    /// is filled in on the way; TTL and Ethernet's addresses are the routers'.
    ///
    /// `ends` are bits of the connection's ([`Key::mark`]). 64 bits: of 10 million frames, each looked up among 65,536,
    /// 32 bits take 150 for another.
    #[inline]
    pub(crate) fn signature(&self, ends: u64) -> u64 {
        let sacked = if self.is(Odd::OPTIONS) {
            self.sack_signature()
        } else {
            0
        };
        self.signature_with(ends, sacked)
    }

    /// Like [`Self::signature`], for a frame without SACK.
    #[inline(always)]
    pub(crate) fn plain_signature(&self, ends: u64) -> u64 {
        self.signature_with(ends, 0)
    }

    #[inline(always)]
    fn signature_with(&self, ends: u64, sacked: u32) -> u64 {
        let both = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let ends = ends.rotate_left(32 * u32::from(self.from_low));
        let sum = mixed(ends, both(self.ack, self.seq));
        let sum = mixed(sum, both(self.tsecr, self.tsval) ^ u64::from(sacked));
        let behind = u64::from(self.window) << 48 | u64::from(self.flags.0) << 32;
        // The upper half of a payload's 32 bits is 0, except in the longest frames.
        let carried = u64::from(self.payload) ^ u64::from(self.id) << 16;
        mixed(sum, behind | carried)
    }

    /// What distinguishes an acknowledgment from others of the same position, at any point of the path: its TSval, or
    /// else its window and its SACK blocks, to which duplicate ACKs add (RFC 2018, 4). Never 0.
    pub(crate) fn ack_mark(&self) -> u32 {
        if self.tsval != 0 {
            return self.tsval;
        }
        let reported = self.sack().iter().fold(0, |sum: u32, (left, right)| {
            let (left, right) = (left.wrapping_sub(self.ack), right.wrapping_sub(self.ack));
            sum.rotate_left(7)
                .wrapping_add(left ^ right.rotate_left(16))
        });
        (reported ^ u32::from(self.window) << 8).max(1)
    }

    #[cold]
    fn sack_signature(&self) -> u32 {
        self.sack().iter().fold(0, |sum: u32, (left, right)| {
            sum.rotate_left(7)
                .wrapping_add(left ^ right.rotate_left(16))
        })
    }

    /// Whether the stored checksum is the sum over the pseudo-header alone: the host that captured
    /// this frame left the rest to its NIC (`CHECKSUM_PARTIAL`), or merged it (GRO does the same).
    pub(crate) fn checksum_is_partial(&self) -> bool {
        self.checksum == self.partial_checksum()
    }

    /// The sum over the pseudo-header alone.
    fn partial_checksum(&self) -> u16 {
        let length = u64::from(self.tcp_header) + u64::from(self.payload);
        let mut sum = 6 + length + self.key.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }
}

/// Both numbers in one, so that any of their bits changes about half of the highest ones. The factor is 2^64 divided
/// by the golden ratio (Knuth, The Art of Computer Programming, 6.4: multiplicative hashing).
#[inline]
pub(crate) fn mixed(sum: u64, number: u64) -> u64 {
    (sum.rotate_left(29) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A "packet too big" message and the frame it quotes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TooBig {
    pub(crate) number: u64,
    pub(crate) key: Key,
    pub(crate) from_low: bool,
    pub(crate) mtu: u32,
    /// IP length of the quoted packet in bytes, headers included.
    pub(crate) quoted_len: u32,
    /// Length of its IP header.
    pub(crate) quoted_ip_header: u32,
}

/// What identifies a datagram under reassembly: its source and destination, identification and protocol.
pub(crate) type Name = (Address, Address, u32, u8);

/// A fragment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) name: Name,
    /// Its first byte in the IP payload, and the one behind its last.
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) more: bool,
}

impl Piece {
    fn new(ip: &Ip, part: Fragment) -> Self {
        Self {
            name: (ip.source, ip.destination, part.id, ip.protocol),
            start: part.offset,
            end: part.offset.saturating_add(ip.payload_len),
            more: part.more,
        }
    }
}

/// Keeps the first captured payload bytes.
#[inline(always)]
fn fill_head(slot: &mut Frame, captured: &[u8], payload_len: u32) {
    slot.head_len = 0;
    if payload_len == 0 {
        return;
    }
    if let Some(first) = captured.first_chunk::<16>()
        && payload_len >= 16
    {
        slot.head = *first;
        slot.head_len = 16;
    } else {
        fill_short_head(slot, captured, payload_len);
    }
}

#[cold]
fn fill_short_head(slot: &mut Frame, captured: &[u8], payload_len: u32) {
    let captured = &captured[..captured.len().min(payload_len as usize).min(16)];
    slot.head = [0; 16];
    slot.head[..captured.len()].copy_from_slice(captured);
    slot.head_len = captured.len() as u8;
}
