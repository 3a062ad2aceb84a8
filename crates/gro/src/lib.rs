#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! A frame goes through these steps, each a module: where its headers are, and whether it is of a
//! flow at all (`inspect`, which makes a `seen` one); which held frame is of the same flow (`table`,
//! `template`); whether it may join (`judge`); what that changes (`change`, for `engine`); and, when a
//! merged frame goes up, its headers (`finish`). `plain` has the rules of a short way through all of
//! them for the frames that most are (`engine/short`); it decides the same.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bytes;
mod coalescer;
pub mod could;
mod frame;
mod gso;
mod merge;
mod out;
mod payload;
pub mod profile;
mod reason;
mod rules;
mod settings;
pub mod split;
pub mod virtio;

pub use coalescer::{BatchCoalescer, Coalescer, CopyingCoalescer};
pub use coalescope_wire::{LinkType, UdpTunnels};
pub use could::{Loss, SegmentSizes, Verdict, could_have_built, could_have_built_on};
pub use gso::{Gso, GsoKind, IdRun};
pub use out::decision::{Action, Counters, Decision};
pub use out::outgoing::{About, Outgoing, OutgoingBytes, Part};
pub use out::sink::{ByteSink, Each, Sink};
pub use profile::Profile;
pub use reason::Reason;
pub use settings::{Checksums, Settings, Verification};
pub use split::{
    MAX_SEGMENT_HEADER, Segment, SegmentChecksum, SplitError, SplitSettings, Splitter,
};
pub use virtio::{
    ChecksumOffload, Endian, RscInfo, VirtioError, VirtioForm, VirtioNetHeader, VirtioTunnel,
};
