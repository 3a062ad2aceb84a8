//! The kernel's tracepoints, read through perf: what is to be had of frames without BPF.

mod error;
mod event;
mod rings;
mod tally;
mod tracefs;

pub(crate) use error::PerfError;
pub(crate) use rings::{Read, Rings};
pub(crate) use tally::{Counted, Place};
