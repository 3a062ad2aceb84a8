//! Counts of merged frames on a running Linux host: facts, without opinion.
//!
//! A [`Watcher`](live::Watcher) has the kernel count the frames of each interface: how many segments come in how many
//! frames, which merged frames are forwarded, which are cut in software on their way out, which are dropped, where and
//! why. [`facts::Watched`] is what was counted until a look; [`record`] keeps looks in a file, and reads them again
//! anywhere.
//!
//! | module | what it does |
//! |---|---|
//! | `bpf/watch.bpf.c` | counts, in the kernel; the object beside it is what `scripts/bpf` makes of it |
//! | `kernel` | loads the object, reads its maps; names of reasons and of the kernel's functions |
//! | `perf` | where BPF is refused: the kernel's tracepoints, through rings of perf |
//! | `names` | names of interfaces by namespace and number, with their roles (`coalescope_host`) |
//! | `headers` | addresses and ports of a dropped frame |
//! | `live` | a look: all of these together, or, without BPF and perf, the counters that every kernel has; TCP connections of this host |
//! | `record` | looks in a file |

pub mod facts;
#[cfg(target_os = "linux")]
mod headers;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod perf;
pub mod record;
