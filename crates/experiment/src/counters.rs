//! Counters that moved during a run: CPU time, protocols, interfaces.
//!
//! Counters are read before and after a run. `Counters::since` returns the differences ([`Moved`]),
//! and [`Moved::figures`] those that are worth comparing.
//!
//! How the counters of /proc count merged frames (Linux 6.18; a test checks this):
//! - `TcpInSegs` and `IpInReceives` count what arrives at TCP and IP: a merged frame is one.
//! - `IpExtInNoECTPkts` and its three kin count the segments that frames are made of (`gso_segs`), as
//!   far as the driver or GRO says how many those were.
//! - `TcpOutSegs`, `TcpRetransSegs` and `TcpExtTCPOrigDataSent` count segments as they are on the
//!   wire, however large the frames were in which TCP handed them down.
//! - CPU time and softnet_stat are of the whole host, whatever the namespace.

#[cfg(target_os = "linux")]
mod error;
mod figures;
mod moved;
#[cfg(target_os = "linux")]
mod place;
#[cfg(target_os = "linux")]
mod raw;

#[cfg(target_os = "linux")]
pub use error::Error;
pub use moved::{CpuMoved, InterfaceMoved, Moved, SoftnetMoved};
#[cfg(target_os = "linux")]
pub use raw::{Counters, read};
