//! A frame while an engine has it.

use coalescope_capture::file::Direction;
use coalescope_wire::LinkType;

/// Memory of a token without its bytes, roughly.
const TOKEN_COST: usize = 160;

/// The part of a frame that is kept while an engine has it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// Its number in the file.
    pub(crate) number: u64,
    pub(crate) interface: u32,
    pub(crate) link: LinkType,
    pub(crate) flow: Option<u32>,
    /// Whether it has payload.
    pub(crate) is_data: bool,
    pub(crate) already_merged: bool,
    pub(crate) wire_len: u32,
    pub(crate) direction: Direction,
    /// Captured bytes: all if the frame will be written, else the headers.
    pub(crate) bytes: Vec<u8>,
}

impl Token {
    /// Roughly the memory it takes.
    pub(crate) fn cost(&self) -> usize {
        TOKEN_COST + self.bytes.len()
    }

    /// Number of segments for the ACK estimate: a frame that was merged already has at least two.
    pub(crate) fn segments(&self) -> u64 {
        1 + u64::from(self.already_merged)
    }
}
