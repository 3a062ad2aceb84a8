//! What was understood of an output.

use super::command::Command;
use super::found::About;
use crate::assemble::Part;

/// What a piece of a file gave.
pub(super) struct Read {
    /// The host that a prompt or a heading names.
    pub(super) host: Option<String>,
    /// What was typed.
    pub(super) command: Option<Command>,
    pub(super) line: usize,
    pub(super) result: Result<Part, About>,
    pub(super) bytes: u64,
}
