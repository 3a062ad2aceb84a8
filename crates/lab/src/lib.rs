//! A laboratory in network namespaces: virtual links, frames in and out, and the running kernel's
//! own GRO as an oracle.
//!
//! Nothing here touches an interface of the machine: every link is made in a namespace of our own
//! ([`Namespace`]), and goes away with it.
//!
//! - [`Namespace`], [`Link`], [`Veth`], [`Vxlan`]: namespaces and interfaces.
//! - [`packet`]: raw frames on an interface, many with one system call.
//! - [`KernelGro`]: a batch of frames through this kernel's real GRO, as one NAPI poll.
//! - [`craft`]: frames built field by field, valid unless a field asks otherwise.
//! - [`random_frames`]: random batches for comparing an engine with the kernel.
//! - [`incident`]: incidents from files, run with real TCP.
//! - [`http`]: a server and a client, as a workload.
//! - [`wire`]: two interfaces joined by a program that sees each frame.
//! - [`path`]: kernel TCP at both ends, with links, merging NICs and faulty forwarders in between.
//! - [`uml`]: user-mode Linux, for what this machine's kernel lacks.

mod checksum;
pub mod craft;
mod error;
pub mod http;
pub mod incident;
mod kernel_gro;
mod link;
mod namespace;
pub mod packet;
pub mod path;
pub mod random_frames;
mod realtime;
pub mod uml;
pub mod wire;

pub use checksum::internet_checksum;
pub use error::{Error, Unavailable};
pub use kernel_gro::{Delivered, KernelGro, MAX_BATCH, Options};
pub use link::{Link, Veth, Vxlan};
pub use namespace::{Namespace, become_namespace_root, become_nobody};
