//! What every profile does with the test vectors of every implementation.
//!
//! One file for each source, in this project's own words and data. A case is a list of frames and,
//! for every profile, what must come out. What no document says is marked as such, with the
//! reason for what the engine does.

mod run;

mod disagreements;
mod dpdk;
mod eras;
mod freebsd;
mod gvisor;
mod ndis;
mod selftest;
mod vpp;
mod wireguard;
