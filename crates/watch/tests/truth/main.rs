//! What the programs count, beside what the kernel and others count of the same frames: in network namespaces made for it.

#![cfg(target_os = "linux")]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what went wrong by failing"
)]

mod changing;
mod connections;
mod counts;
mod devices;
mod drops;
mod exact;
mod flows;
mod perf;
mod room;
