//! What captured traffic would become under a receive offload.
//!
//! [`replay`] passes the frames of a capture to the engines of [`gro`], one for each interface, on the capture's own
//! clock, and counts the frames that come out: [`facts`], plain data without an opinion. With an [`Output`], these
//! frames are also written, as pcapng.
//!
//! One pass, forward only, bounded in memory; nothing in a capture makes it panic. The bounds: 128
//! engines, one an interface and way (frames beyond are left out and counted); 64 MiB of held frames
//! (then all polls end early, counted); 100,000 directions listed, 0.4 KiB each (others are counted).

mod acks;
mod checksum;
mod connections;
mod engines;
pub mod facts;
mod frame;
mod options;
mod output;
mod results;
mod reverse;
mod run;
mod summary;
mod tally;
mod token;

pub use options::{DEFAULT_INTERVAL_US, DEFAULT_MTU_BYTES, Options};
pub use output::{Output, OutputError};
pub use run::replay;
