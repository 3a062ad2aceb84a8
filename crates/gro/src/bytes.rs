//! Bytes of a header that may be cut short.

use coalescope_wire::Flags;

use crate::reason::Reason;

/// The first `N` bytes from an offset on.
pub(crate) fn chunk<const N: usize>(frame: &[u8], at: usize) -> Result<&[u8; N], Reason> {
    frame
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .ok_or(Reason::Truncated)
}

/// The flags of a TCP header in place.
#[inline(always)]
pub(crate) fn flags_at(header: &[u8], at: usize) -> u16 {
    let high = header.get(at + 12).copied().unwrap_or(0);
    let low = header.get(at + 13).copied().unwrap_or(0);
    u16::from_be_bytes([high, low]) & Flags::ALL
}
