//! The system that the command runs on. On Linux all of it can be done; `elsewhere` has the same names, and refuses in
//! words what only Linux has.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{changes, export, host, lab, meant, memory, rights, watch};
#[cfg(target_os = "linux")]
pub(crate) use linux::{changes, export, host, lab, meant, memory, rights, watch};
