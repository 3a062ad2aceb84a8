//! A second process that takes changes back, however the first one ends.
//!
//! [`Guard::start`] runs this executable again as the guardian, which makes itself independent of
//! the terminal, the process group and all signals that can be refused. It alone makes the changes,
//! one request after the other, so that none can be under way when it restores. Its standard input
//! is a pipe whose other end only the guarded program has: when that ends, in whatever way, the
//! kernel closes the pipe, after the last system call of the program. A program that only hangs is
//! ended by a deadline: the settings are restored, and later requests are refused.
//!
//! If the guardian itself is killed, the program notices with its next request, and restores from
//! the journal. If both are, the journal is left for [`undo`](crate::restore::undo).

mod client;
mod entries;
mod protocol;
mod server;
mod session;

pub use client::{Guard, Launch, Options};
pub use server::serve_if_asked;
pub(crate) use server::{ARGUMENT, as_usual};
