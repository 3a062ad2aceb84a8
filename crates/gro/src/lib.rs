//! Merging and splitting of TCP and UDP segments by the rules of real receive offloads.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod coalescer;
mod decision;
mod engine;
mod finish;
mod gso;
mod held;
mod judge;
mod plain;
pub mod profile;
mod reason;
mod seen;
mod settings;
mod store;
mod table;
mod template;

pub use coalescer::{Coalescer, CopyingCoalescer};
pub use coalescope_wire::LinkType;
pub use decision::{Action, Counters, Decision};
pub use gso::{Gso, GsoKind, IdRun};
pub use profile::Profile;
pub use reason::Reason;
pub use settings::{Checksums, Settings, Verification};
pub use store::{About, Outgoing, OutgoingBytes, Part};
