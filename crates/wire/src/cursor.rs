//! The position of the walk in the frame, and the headers passed so far.

use crate::packet::{Sent, Stop, StopReason, Tunnel, TunnelKind, Tunnels, Vlans};

/// How many headers of one sort may nest. Real networks stay below half of it.
pub(crate) const DEPTH: u8 = 8;

/// The header that comes next.
#[derive(Clone, Copy)]
pub(crate) enum Layer {
    /// An Ethernet header.
    Ethernet,
    /// The header that this EtherType announces.
    EtherType(u16),
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
    /// IPv4 or IPv6: the first nibble says which.
    Ip,
    /// A PPP protocol field, possibly after HDLC address and control.
    Ppp,
    /// An MPLS label stack.
    Mpls,
}

/// Which tunnels in UDP a walk enters. Only ports distinguish them from other datagrams, and a host without such a
/// tunnel treats them as datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpTunnels {
    /// VXLAN, and VXLAN-GPE.
    pub vxlan: bool,
    /// Geneve.
    pub geneve: bool,
}

impl UdpTunnels {
    /// All tunnels that the walk knows.
    pub const ALL: Self = Self {
        vxlan: true,
        geneve: true,
    };

    /// No tunnel: all are datagrams.
    pub const NONE: Self = Self {
        vxlan: false,
        geneve: false,
    };
}

/// The walk's state.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    /// The captured bytes that belong to the current layer. Starts at the frame's first byte,
    /// and ends before padding that an outer header excludes.
    pub(crate) frame: &'a [u8],
    /// Offset of the next header.
    pub(crate) at: usize,
    /// Where the current layer ends on the wire; not before the end of `frame`.
    pub(crate) end: usize,
    /// Where IP must end, whatever its own length field.
    within: usize,
    pub(crate) vlans: Vlans,
    pub(crate) tunnels: Tunnels,
    pub(crate) sent: Sent,
    pub(crate) udp_tunnels: UdpTunnels,
    ethernets: u8,
    ips: u8,
}

impl<'a> Cursor<'a> {
    /// A wire length below the captured length is a capture tool's mistake: the captured bytes
    /// prove that the frame was at least that long.
    #[inline]
    pub(crate) fn new(frame: &'a [u8], wire_len: u32) -> Self {
        Self {
            frame,
            at: 0,
            end: frame.len().max(wire_len as usize),
            within: usize::MAX,
            vlans: Vlans::default(),
            tunnels: Tunnels::default(),
            sent: Sent::Unknown,
            udp_tunnels: UdpTunnels::ALL,
            ethernets: 0,
            ips: 0,
        }
    }

    /// A stop at the current header.
    #[inline]
    pub(crate) fn stop(&self, reason: StopReason) -> Stop {
        Stop {
            offset: self.at,
            reason,
        }
    }

    /// The next `N` bytes, which stay unread.
    #[inline]
    pub(crate) fn peek<const N: usize>(&self) -> Result<&'a [u8; N], Stop> {
        self.peek_at(self.at)
    }

    /// `N` bytes at an offset.
    #[inline]
    pub(crate) fn peek_at<const N: usize>(&self, offset: usize) -> Result<&'a [u8; N], Stop> {
        self.frame
            .get(offset..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(Stop {
                offset,
                reason: StopReason::Truncated,
            })
    }

    /// Reads the next `N` bytes.
    #[inline]
    pub(crate) fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], Stop> {
        let bytes = self.peek()?;
        self.at += N;
        Ok(bytes)
    }

    /// Passes a header of which only the length matters; all of it must be captured.
    pub(crate) fn skip(&mut self, len: usize) -> Result<(), Stop> {
        let next = self.at.saturating_add(len);
        if next > self.frame.len() {
            return Err(self.stop(StopReason::Truncated));
        }
        self.at = next;
        Ok(())
    }

    /// Bytes on the wire from `offset` to the end of the current layer.
    #[inline]
    pub(crate) fn remaining(&self, offset: usize) -> u32 {
        u32::try_from(self.end.saturating_sub(offset)).unwrap_or(u32::MAX)
    }

    /// An IP packet's length by its header, but no more than the layer around the packet has room for.
    #[inline]
    pub(crate) fn within(&self, offset: usize, length: u32) -> u32 {
        let most = self.within.saturating_sub(offset);
        length.min(u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// Ends the current layer at `end`, and IP in it, even if IP's own length is greater.
    pub(crate) fn enclose(&mut self, end: usize) {
        self.within = self.within.min(end);
        self.limit(end);
    }

    /// Ends the current layer at `end` if it does not end earlier already.
    pub(crate) fn limit(&mut self, end: usize) {
        self.end = self.end.min(end);
        self.frame = self.frame.get(..self.end).unwrap_or(self.frame);
    }

    /// Counts an Ethernet level.
    #[inline]
    pub(crate) fn enter_ethernet(&mut self) -> Result<(), Stop> {
        self.ethernets += 1;
        self.check_depth(self.ethernets)
    }

    /// Counts an IP level.
    #[inline]
    pub(crate) fn enter_ip(&mut self) -> Result<(), Stop> {
        self.ips += 1;
        self.check_depth(self.ips)
    }

    /// Stops when a count exceeds [`DEPTH`].
    #[inline]
    pub(crate) fn check_depth(&self, count: u8) -> Result<(), Stop> {
        if count > DEPTH {
            return Err(self.stop(StopReason::TooDeep));
        }
        Ok(())
    }

    /// Notes a VLAN tag.
    pub(crate) fn push_vlan(&mut self, tci: u16) {
        if let Some(slot) = self.vlans.tci.get_mut(usize::from(self.vlans.count)) {
            *slot = tci;
        }
        self.vlans.count = self.vlans.count.saturating_add(1);
    }

    /// Notes a tunnel layer.
    pub(crate) fn push_tunnel(&mut self, kind: TunnelKind, id: u32) {
        let count = usize::from(self.tunnels.count);
        if let Some(slot) = self.tunnels.layers.get_mut(count) {
            *slot = Some(Tunnel { kind, id });
        }
        self.tunnels.count = self.tunnels.count.saturating_add(1);
    }
}

/// A big-endian 16-bit field. The offset must lie in the array; callers pass constants.
#[inline]
pub(crate) const fn be16<const N: usize>(bytes: &[u8; N], offset: usize) -> u16 {
    u16::from_be_bytes([bytes[offset], bytes[offset + 1]])
}

/// A big-endian 32-bit field. The offset must lie in the array; callers pass constants.
#[inline]
pub(crate) const fn be32<const N: usize>(bytes: &[u8; N], offset: usize) -> u32 {
    u32::from_be_bytes([
        bytes[offset],
        bytes[offset + 1],
        bytes[offset + 2],
        bytes[offset + 3],
    ])
}
