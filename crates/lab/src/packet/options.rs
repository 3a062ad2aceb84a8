//! Socket options of AF_PACKET that nix does not name; see packet(7) and linux/if_packet.h.

use nix::libc::{self, packet_mreq};
use nix::sys::socket::sockopt::{SetBool, SetStruct};

/// Sent frames bypass the qdisc (`PACKET_QDISC_BYPASS`).
#[derive(Clone, Copy)]
pub(super) struct QdiscBypass;
nix::setsockopt_impl!(
    QdiscBypass,
    libc::SOL_PACKET,
    libc::PACKET_QDISC_BYPASS,
    bool,
    SetBool
);

/// A virtio-net header before each frame.
#[derive(Clone, Copy)]
pub(super) struct VnetHeader;
nix::setsockopt_impl!(
    VnetHeader,
    libc::SOL_PACKET,
    libc::PACKET_VNET_HDR,
    bool,
    SetBool
);

/// Frames sent on the interface are not received (`PACKET_IGNORE_OUTGOING`, Linux 4.20).
#[derive(Clone, Copy)]
pub(super) struct IgnoreOutgoing;
nix::setsockopt_impl!(
    IgnoreOutgoing,
    libc::SOL_PACKET,
    libc::PACKET_IGNORE_OUTGOING,
    bool,
    SetBool
);

/// The VLAN tag, which the kernel removes from a frame, as a control message (`PACKET_AUXDATA`).
#[derive(Clone, Copy)]
pub(super) struct AuxiliaryData;
nix::setsockopt_impl!(
    AuxiliaryData,
    libc::SOL_PACKET,
    libc::PACKET_AUXDATA,
    bool,
    SetBool
);

/// Promiscuous mode, which ends with the socket (`PACKET_ADD_MEMBERSHIP`).
#[derive(Clone, Copy)]
pub(super) struct Membership;
nix::setsockopt_impl!(
    Membership,
    libc::SOL_PACKET,
    libc::PACKET_ADD_MEMBERSHIP,
    packet_mreq,
    SetStruct<'_, packet_mreq>
);

/// The membership for promiscuous mode.
pub(super) fn promiscuous(index: u32) -> packet_mreq {
    packet_mreq {
        mr_ifindex: index as i32,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    }
}
