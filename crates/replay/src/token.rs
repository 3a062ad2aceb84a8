//! A frame while an engine has it.

use coalescope_capture::file::Direction;
use coalescope_wire::LinkType;

/// What a token takes beside its bytes, roughly.
const TOKEN_COST: usize = 160;

/// What is kept of a frame while an engine has it.
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
    /// What was captured of it: all of it where it is going to be written, else its headers.
    pub(crate) bytes: Vec<u8>,
}

impl Token {
    /// Roughly the memory it takes.
    pub(crate) fn cost(&self) -> usize {
        TOKEN_COST + self.bytes.len()
    }

    /// For a receiver that acknowledges: a frame that was merged already is at least two.
    pub(crate) fn segments(&self) -> u64 {
        1 + u64::from(self.already_merged)
    }
}
