//! The tests of this crate's API, one program: a program a file would be linked seven times.

mod batch;
mod brought;
mod build;
mod conformance;
mod large;
mod lists;
mod paths;
mod pcap;
mod properties;
mod sinks;
mod split;
mod split_could;
mod split_stack;
#[cfg(target_os = "linux")]
mod tun;
mod virtio;
