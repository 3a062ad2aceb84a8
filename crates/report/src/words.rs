//! Words, numbers and orders that the terminal's report and a page share.

pub(crate) mod ab;
pub(crate) mod check;
pub(crate) mod comparison;
pub(crate) mod connections;
pub(crate) mod demo;
pub(crate) mod diagnose;
pub(crate) mod findings;
#[cfg(target_os = "linux")]
pub(crate) mod fix;
pub(crate) mod hops;
pub(crate) mod lab;
pub(crate) mod offloads;
pub(crate) mod replay;
#[cfg(target_os = "linux")]
pub(crate) mod undo;
pub(crate) mod units;
pub(crate) mod watch;
