//! Linux netlink, as much as coalescope needs: blocking, typed, and in the network namespace of the
//! calling thread.
//!
//! Framing, rtnetlink and the generic netlink controller come from the `netlink-*` crates; this
//! crate adds what they lack. Opening a handle opens a socket in the calling thread's namespace.
//! The socket stays in that namespace wherever the handle is used.
//!
//! - [`Ethtool`](ethtool::Ethtool): offloads read and set, coalescing, rings, channels, statistics.
//! - [`Route`](route::Route): links (listed, made, changed), addresses, routes, namespace ids.
//! - [`ipvs`]: services listed, and made.
//! - [`ipsec`]: ESP tunnels, for namespaces of the lab.
//! - [`nftables`]: NAT listed; masquerading set up, for namespaces of the lab.
//! - [`netdev`], [`openvswitch`], [`packet_sockets`], [`tcp_sockets`]: read only.
//! - [`Namespace`](namespace::Namespace): work done inside of another network namespace.
//!
//! Reading loads no kernel module: families are searched among those that are registered.

#![cfg(target_os = "linux")]

mod attributes;
mod error;
pub mod ethtool;
mod generic;
mod ioctl;
pub mod ipsec;
pub mod ipvs;
pub mod namespace;
pub mod netdev;
pub mod nftables;
pub mod openvswitch;
pub mod packet_sockets;
pub mod route;
mod socket;
pub mod tcp_sockets;

pub use error::Error;
