//! Frames that come out, and what is known of each.

use core::ops::Range;

use alloc::vec::Drain;

use crate::gso::Gso;
use crate::reason::Reason;

/// What is known of a frame that comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The number of its first frame; frames are counted from 0 as they come in.
    pub frame: u64,
    /// Why it comes out now.
    pub reason: Reason,
    /// How to split it again; `None` for a frame that is as it came in.
    pub gso: Option<Gso>,
    /// Where the innermost IP header starts, in bytes; 0 for a frame that is as it came in.
    pub ip_at: u16,
    /// Where the TCP or UDP header starts, in bytes; 0 for a frame that is as it came in.
    pub transport_at: u16,
    /// Length of all headers in bytes; 0 for a frame that is as it came in.
    pub header_len: u16,
}

impl About {
    /// For a frame that is as it came in.
    #[inline]
    pub(crate) fn unchanged(frame: u64, reason: Reason) -> Self {
        Self {
            frame,
            reason,
            gso: None,
            ip_at: 0,
            transport_at: 0,
            header_len: 0,
        }
    }
}

/// A piece of a merged frame's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<T> {
    /// Token of the frame that the piece lies in.
    pub token: T,
    /// Where in that frame it lies, in bytes. Empty for a frame that was absorbed.
    pub payload: Range<u32>,
}

/// A frame that comes out of a [`crate::Coalescer`].
#[derive(Debug)]
pub enum Outgoing<'a, T> {
    /// A frame as it came in.
    Unchanged {
        /// Token of the frame.
        token: T,
        /// What is known of it.
        about: About,
    },
    /// A merged frame.
    Merged {
        /// Its headers.
        header: &'a mut [u8],
        /// Its payload, in order. The first frame's headers are the ones changed in `header`.
        parts: Drain<'a, Part<T>>,
        /// What is known of it.
        about: About,
    },
}

/// A frame that comes out of a [`crate::CopyingCoalescer`].
#[derive(Debug)]
pub struct OutgoingBytes<'a> {
    /// All of it, headers included.
    pub bytes: &'a [u8],
    /// What is known of it.
    pub about: About,
}
