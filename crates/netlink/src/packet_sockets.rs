//! Packet sockets (`AF_PACKET`), through socket diagnosis.
//!
//! Layout: include/uapi/linux/packet_diag.h. A request may load a module: only send one where the
//! kernel has `af_packet_diag` already. /proc/net/packet has fewer details, and is always there.

use crate::attributes::Attributes;
use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use nix::libc;

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `PACKET_SHOW_INFO | PACKET_SHOW_RING_CFG`.
const SHOW: u32 = 1 | 4;
/// Length of `struct packet_diag_msg`.
const ANSWER: usize = 16;
const INFO: u16 = 0;
const RX_RING: u16 = 2;

/// A packet socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSocket {
    /// Its inode, as in the links of /proc/PID/fd.
    pub inode: u32,
    /// The ifindex of the interface that it is bound to; `None` for all.
    pub interface: Option<u32>,
    /// The EtherType that it receives; 3 (`ETH_P_ALL`) is everything, 0 nothing.
    pub protocol: u16,
    /// Whether it has a mapped receive ring.
    pub ring: bool,
}

/// All packet sockets in the calling thread's namespace.
pub fn packet_sockets() -> Result<Vec<PacketSocket>, Error> {
    let socket = Socket::open(NETLINK_SOCK_DIAG)?;
    // struct packet_diag_req: family, protocol, padding, inode, what to show, cookie.
    let mut bytes = vec![0; 20];
    bytes[0] = libc::AF_PACKET as u8;
    bytes[8..12].copy_from_slice(&SHOW.to_ne_bytes());
    let request = Raw {
        kind: BY_FAMILY,
        bytes,
    };
    let answers = socket.dump(&request, "list the packet sockets")?;
    Ok(answers.iter().filter_map(read).collect())
}

fn read(message: &Raw) -> Option<PacketSocket> {
    let bytes = &message.bytes;
    let attributes = Attributes(bytes.get(ANSWER..)?);
    let index = attributes.u32(INFO).filter(|&index| index != 0);
    Some(PacketSocket {
        inode: u32::from_ne_bytes(*bytes.get(4..)?.first_chunk()?),
        interface: index,
        protocol: u16::from_ne_bytes(*bytes.get(2..)?.first_chunk()?),
        ring: attributes.get(RX_RING).is_some(),
    })
}
