//! A parsed frame: where its headers are.

use coalescope_wire::{HeaderKind, Headers, Tcp};

use crate::reason::Reason;

/// TCP or UDP of a frame that belongs to a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layer4 {
    Tcp(Tcp),
    Udp,
}

/// A frame that belongs to a flow.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) headers: Headers,
    /// Where the innermost IP header starts.
    pub(crate) ip: usize,
    pub(crate) version: u8,
    /// Inside another IP packet.
    pub(crate) tunneled: bool,
    pub(crate) layer4: Layer4,
    /// Where the transport header starts.
    pub(crate) layer4_at: usize,
    /// Bytes in front of the payload.
    pub(crate) header_len: usize,
    pub(crate) payload_len: u32,
    pub(crate) hash: u64,
    /// Why the frame can neither join a held frame nor be held, if it cannot.
    pub(crate) alone: Option<Reason>,
}

impl Seen {
    /// Where the UDP headers of tunnels around the packet start.
    pub(crate) fn outer_udp(&self) -> impl Iterator<Item = usize> {
        self.headers
            .as_slice()
            .iter()
            .filter(|header| header.kind == HeaderKind::Udp)
            .map(|header| usize::from(header.offset))
            .filter(|&at| at != self.layer4_at)
    }
}
