//! What the programs count, beside what the kernel and others count of the same frames: in network namespaces made for it.

#![cfg(target_os = "linux")]

mod counts;
mod drops;
mod room;
