//! Reads and judges captures and hosts by their paths. The command and the Python package share
//! this crate, so that both give the same results in the same words. The crate prints nothing,
//! gives up no rights, and changes no setting.
//!
//! | what | where |
//! |---|---|
//! | which files belong to which point; files that are open | [`inputs`] |
//! | reading that can be ended, and waits for pipes | [`interrupt`] |
//! | captures, or an archive of them, to a report | [`task`] |
//! | captures to an archive | [`digest`] |
//! | hosts by saved output | [`hosts`] |
//! | errors, whose words are those of [`with_causes`](coalescope_report::with_causes) | [`Error`] |

pub mod digest;
mod error;
pub mod hosts;
pub mod inputs;
pub mod interrupt;
pub mod task;

pub use error::Error;
