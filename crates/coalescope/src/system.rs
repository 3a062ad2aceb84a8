//! The operating system. `linux` has everything; `elsewhere` has the same names, and its functions
//! return an error for everything that only Linux has.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{changes, export, host, lab, meant, memory, rights, watch};
#[cfg(target_os = "linux")]
pub(crate) use linux::{changes, export, host, lab, meant, memory, rights, watch};
