//! Checked views of packet headers, and the one walk through links, tags and tunnels.
//!
//! [`walk`] goes from a captured frame's first byte to its innermost TCP, UDP or ICMP header and reports what it passed
//! on the way: VLAN tags, tunnels, IP versions, extension headers. Nothing here allocates, and no input makes it panic:
//! a header that does not fit in the captured bytes ends the walk with a [`Stop`], which has the place and the reason.
#![no_std]

pub mod checksum;
mod cursor;
mod fetch;
mod fixed;
mod framing;
mod headers;
mod ip;
mod link;
mod packet;
mod tcp;
mod transport;
mod tunnel;
mod unread;
mod walk;
mod wide;

pub use cursor::UdpTunnels;
pub use fetch::{prefetch, prefetch_at, prefetch_head, prefetch_value};
pub use fixed::{ConstantFields, FixedTcp, fixed_tcp};
pub use headers::{Header, HeaderKind, Headers};
pub use link::LinkType;
pub use packet::{
    Address, Fragment, IcmpError, Ip, LengthSource, Packet, Quoted, Sent, Stop, StopReason,
    Transport, Tunnel, TunnelKind, Tunnels, Udp, Vlans,
};
pub use tcp::{Flags, Tcp, TcpOptions};
pub use transport::UDP;
pub use unread::Unread;
pub use walk::{plain_tcp, walk, walk_headers, walk_headers_entering, walk_quoted};
pub use wide::{Work, widely};
