//! The settings of a host.
//!
//! One [`model::Snapshot`] for every platform: read live on Linux, or from saved output of Linux,
//! FreeBSD, Windows and ESXi. It says what is, without opinion; what could not be read is named in
//! it and never guessed.
//!
//! | step | where | what happens |
//! |---|---|---|
//! | live | `live` | the kernel's own interfaces, never another program's text; what may not be read is named |
//! | saved | [`sources`] | files, folders, archives, bundles -> texts, normalised and split by command |
//! | text | [`text`] | the content tells the kind; one reader a kind fills in part of a snapshot |
//! | host | `assemble` | parts -> one snapshot; conflicts and a second host are named and left out |
//! | role | [`roles`] | graph of interfaces -> roles with their reasons, inherited downwards |
//! | drift | [`drift`] | what differs between alike interfaces of several hosts |

mod assemble;
pub mod drift;
pub mod glob;
mod lengths;
#[cfg(target_os = "linux")]
pub mod live;
pub mod model;
pub mod names;
mod network;
pub mod roles;
pub mod safe;
mod signatures;
pub mod sources;
mod sysctls;
pub mod text;
mod underlay;

/// Tables of /proc/net, as functions on their text, for those who count what moved in a while.
pub mod tables {
    pub use crate::text::linux::files::{listed_counters, paired_counters, softnet};
    pub use crate::text::linux::net_files::interface_counters;
}
