//! Rewrites the headers for one segment.

use coalescope_wire::Flags;
use coalescope_wire::checksum::{fold, sum};

use super::{Buffer, SplitError};
use crate::gso::{Gso, IdRun};

/// The piece of payload that the next headers are for.
pub(super) struct Piece<'a> {
    pub(super) payload: &'a [u8],
    /// Payload bytes of one segment in the piece.
    pub(super) one: usize,
    /// Segments in front of the piece.
    pub(super) before: usize,
    /// Payload bytes in front of the piece.
    pub(super) offset: usize,
    pub(super) last: bool,
}

/// A length field: its offset, and the offset from which the length counts to the end of the packet.
#[derive(Clone, Copy, Debug, Default)]
struct Length {
    at: usize,
    from: usize,
}

/// Length fields. There is at most one for each header, of which the walk keeps sixteen, and one of the link type.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    list: [Length; 17],
    count: usize,
}

impl Lengths {
    pub(super) fn push(&mut self, at: usize, from: usize) {
        if let Some(slot) = self.list.get_mut(self.count) {
            *slot = Length { at, from };
            self.count += 1;
        }
    }

    fn as_slice(&self) -> &[Length] {
        self.list.get(..self.count).unwrap_or_default()
    }
}

/// An IP header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ip {
    at: usize,
    /// Length of an IPv4 header with options; 0 for IPv6, which has no checksum.
    v4_len: usize,
    run: IdRun,
    /// Identification of the first segment.
    first_id: u16,
    /// The sum of its words without identification and checksum.
    sum: u64,
}

impl Ip {
    pub(super) fn v4(at: usize, len: usize) -> Self {
        Self {
            at,
            v4_len: len,
            ..Self::default()
        }
    }

    pub(super) fn v6(at: usize) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }

    fn is_v4(&self) -> bool {
        self.v4_len != 0
    }

    /// The sum of the addresses: the pseudo-header's part of the header.
    fn addresses(&self, header: &Buffer) -> u64 {
        let (from, to) = if self.is_v4() { (12, 20) } else { (8, 40) };
        header.sum(self.at + from, self.at + to)
    }

    /// Sums an IPv4 header whose length has just changed.
    fn prepare(&mut self, header: &mut Buffer) {
        header.put16(self.at + 4, 0);
        header.put16(self.at + 10, 0);
        self.sum = header.sum(self.at, self.at + self.v4_len);
    }

    /// Sets the identification and the checksum of an IPv4 header.
    fn patch(&self, header: &mut Buffer, before: usize) {
        let step = match self.run {
            IdRun::Increasing => before as u16,
            IdRun::Fixed => 0,
        };
        let id = self.first_id.wrapping_add(step);
        header.put16(self.at + 4, id);
        header.put16(self.at + 10, !fold(self.sum + u64::from(id)));
    }
}

/// A tunnel header with a checksum: UDP or GRE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tunnel {
    at: usize,
    is_udp: bool,
    /// The sum of the pseudo-header without the length; 0 for GRE, which has none (RFC 2784).
    pseudo: u64,
}

impl Tunnel {
    pub(super) fn udp(at: usize) -> Self {
        Self {
            at,
            is_udp: true,
            pseudo: 0,
        }
    }

    pub(super) fn gre(at: usize) -> Self {
        Self {
            at,
            is_udp: false,
            pseudo: 0,
        }
    }

    fn field(&self) -> usize {
        self.at + if self.is_udp { 6 } else { 4 }
    }

    /// Sets the checksum of the tunnel; `inner` is the sum of the inner transport header and its payload.
    fn patch(&self, header: &mut Buffer, transport: usize, one: usize, inner: u64) {
        header.put16(self.field(), 0);
        let len = if self.is_udp {
            header.len() - self.at + one
        } else {
            0
        };
        // A PPP protocol field compressed to one byte shifts all words behind it.
        let inner = match (transport - self.at) % 2 {
            0 => fold(inner),
            _ => fold(inner).swap_bytes(),
        };
        let sum = self.pseudo + len as u64 + header.sum(self.at, transport) + u64::from(inner);
        let checksum = !fold(sum);
        header.put16(
            self.field(),
            if self.is_udp {
                no_zero(checksum)
            } else {
                checksum
            },
        );
    }
}

/// The innermost TCP or UDP header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transport {
    at: usize,
    is_tcp: bool,
    /// The first segment's sequence number.
    seq: u32,
    /// TCP's data offset and flags as they came.
    flags: u16,
    /// Whether CWR belongs to every segment.
    accurate_ecn: bool,
    /// The sum of the pseudo-header without the length.
    pseudo: u64,
    /// UDP without checksum.
    pub(super) unchecked: bool,
    /// Whether the payload is summed too.
    pub(super) complete: bool,
}

impl Transport {
    pub(super) fn new(at: usize, is_tcp: bool) -> Self {
        Self {
            at,
            is_tcp,
            seq: 0,
            flags: 0,
            accurate_ecn: false,
            pseudo: 0,
            unchecked: false,
            complete: true,
        }
    }

    fn field(&self) -> usize {
        self.at + if self.is_tcp { 16 } else { 6 }
    }

    fn remember(&mut self, header: &Buffer, addresses: u64, gso: Gso) {
        let protocol = if self.is_tcp { 6 } else { 17 };
        self.pseudo = addresses + protocol;
        self.seq = header.get32(self.at + 4);
        self.flags = header.get16(self.at + 12);
        self.accurate_ecn = gso.accurate_ecn;
        self.unchecked = !self.is_tcp && header.get16(self.at + 6) == 0;
    }

    fn patch(&self, header: &mut Buffer, piece: &Piece<'_>) {
        let len = header.len() - self.at + piece.payload.len();
        if self.is_tcp {
            header.put32(self.at + 4, self.seq.wrapping_add(piece.offset as u32));
            header.put16(self.at + 12, self.flags(piece));
        } else {
            header.put16(self.at + 4, len as u16);
        }
        if !self.unchecked {
            let checksum = self.checksum(header, len, piece.payload);
            header.put16(self.field(), checksum);
        }
    }

    /// FIN and PSH belong to the last segment, and CWR to the first: it is one answer to one ECE.
    fn flags(&self, piece: &Piece<'_>) -> u16 {
        let mut flags = self.flags;
        if !piece.last {
            flags &= !(Flags::FIN | Flags::PSH);
        }
        if piece.before > 0 && !self.accurate_ecn {
            flags &= !Flags::CWR;
        }
        flags
    }

    fn checksum(&self, header: &mut Buffer, len: usize, payload: &[u8]) -> u16 {
        let pseudo = self.pseudo + len as u64;
        if !self.complete {
            return fold(pseudo);
        }
        header.put16(self.field(), 0);
        let checksum = !fold(pseudo + header.sum(self.at, header.len()) + sum(payload));
        if self.is_tcp {
            checksum
        } else {
            no_zero(checksum)
        }
    }

    /// The sum of the header and its payload in one segment, for a checksum around it.
    fn sum(&self, header: &Buffer, piece: &Piece<'_>) -> u64 {
        if self.unchecked {
            return header.sum(self.at, header.len()) + sum(piece.payload);
        }
        // With a complete checksum this sum is the complement of the pseudo-header's sum, whatever the payload: local
        // checksum offload (Linux Documentation/networking/checksum-offloads.rst).
        let len = header.len() - self.at + piece.one;
        u64::from(!fold(self.pseudo + len as u64))
    }
}

/// In UDP a checksum of 0 would mean that there is none; 0xffff is the same number (RFC 768).
fn no_zero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}

/// All fields that are rewritten.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) lengths: Lengths,
    /// One IP header, or an outer and an inner one.
    pub(super) ips: [Ip; 2],
    pub(super) ip_count: usize,
    /// A tunnel header with a checksum.
    pub(super) tunnel: Option<Tunnel>,
    pub(super) transport: Transport,
    /// Payload length for which the length fields are set.
    pub(super) shape: Option<usize>,
}

impl Layout {
    /// Reads the fields of the frame's own headers before the first of them is rewritten.
    pub(super) fn remember(&mut self, header: &Buffer, gso: Gso) {
        for ip in &mut self.ips {
            ip.first_id = header.get16(ip.at + 4);
            ip.run = gso.id;
        }
        if let [outer, inner] = &mut self.ips
            && self.ip_count == 2
        {
            outer.run = gso.outer_id;
            self.transport
                .remember(header, inner.addresses(header), gso);
        } else {
            self.transport
                .remember(header, self.ips[0].addresses(header), gso);
        }
        if let Some(tunnel) = self.tunnel.as_mut().filter(|tunnel| tunnel.is_udp) {
            tunnel.pseudo = self.ips[0].addresses(header) + 17;
        }
    }

    /// Whether the lengths of a segment fit in their fields.
    pub(super) fn check_lengths(&self, header: usize, payload: usize) -> Result<(), SplitError> {
        for length in self.lengths.as_slice() {
            let len = header - length.from + payload;
            if len > usize::from(u16::MAX) {
                return Err(SplitError::SegmentTooLong { len });
            }
        }
        let len = header - self.transport.at + payload;
        match self.transport.is_tcp || len <= usize::from(u16::MAX) {
            true => Ok(()),
            false => Err(SplitError::SegmentTooLong { len }),
        }
    }

    /// Rewrites the headers for a piece.
    pub(super) fn patch(&mut self, header: &mut Buffer, piece: &Piece<'_>) {
        let reshaped = self.shape != Some(piece.one);
        if reshaped {
            self.shape = Some(piece.one);
            self.set_lengths(header, piece.one);
        }
        for ip in self.ips.iter().filter(|ip| ip.is_v4()) {
            ip.patch(header, piece.before);
        }
        self.transport.patch(header, piece);
        // An IPv4 header sums to zero with any identification, so between segments of one length
        // a tunnel's checksum does not change.
        if let Some(tunnel) = self.tunnel
            && (reshaped || self.transport.unchecked)
        {
            let inner = self.transport.sum(header, piece);
            tunnel.patch(header, self.transport.at, piece.one, inner);
        }
    }

    fn set_lengths(&mut self, header: &mut Buffer, payload: usize) {
        for length in self.lengths.as_slice() {
            header.put16(length.at, (header.len() - length.from + payload) as u16);
        }
        for ip in self.ips.iter_mut().filter(|ip| ip.is_v4()) {
            ip.prepare(header);
        }
    }
}
