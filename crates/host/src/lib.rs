//! What a host is set to.
//!
//! One [`model::Snapshot`] for every platform: read live on Linux, or from saved output of Linux,
//! FreeBSD, Windows and ESXi. It says what is, without opinion; what could not be read is named in
//! it and never guessed.

mod assemble;
pub mod drift;
pub mod glob;
#[cfg(target_os = "linux")]
pub mod live;
pub mod model;
pub mod names;
pub mod roles;
pub mod safe;
mod signatures;
pub mod sources;
pub mod text;
mod underlay;

/// Tables of /proc/net, as functions on their text, for those who count what moved in a while.
pub mod tables {
    pub use crate::text::linux::files::{listed_counters, paired_counters, softnet};
    pub use crate::text::linux::net_files::interface_counters;
}
