//! Links through rtnetlink: made, set up, and their maximum size.
//!
//! Numbers: include/uapi/linux/if_link.h, if_arp.h, veth.h.

use super::{Netlink, Request};
use crate::Error;
use nix::libc;
use nix::sys::socket::SockProtocol;
use std::net::Ipv4Addr;

const VETH_INFO_PEER: u16 = 1;
const VXLAN_PORT: u16 = 15;
const VXLAN_COLLECT_METADATA: u16 = 25;

/// One end of a pair to be made.
pub(crate) struct End<'a> {
    pub(crate) name: &'a str,
    pub(crate) mac: [u8; 6],
    pub(crate) mtu: u32,
}

/// Makes a veth pair with one queue each: with more, the sender's choice of a queue would give the
/// frames a hash, and GRO sorts its buckets by it.
pub(crate) fn add_veth(one: &End<'_>, two: &End<'_>) -> Result<(), Error> {
    let request = describe(new_link(), one).nest(libc::IFLA_LINKINFO, |info| {
        info.text(libc::IFLA_INFO_KIND, "veth")
            .nest(libc::IFLA_INFO_DATA, |data| {
                data.nest(VETH_INFO_PEER, |peer| {
                    describe(peer.raw(&header(0, 0, 0)), two)
                })
            })
    });
    ask(
        request,
        &format!("make the veth pair {} - {}", one.name, two.name),
    )
}

/// Makes a VXLAN device for any VNI that listens on `port` of all addresses.
pub(crate) fn add_vxlan(name: &str, port: u16) -> Result<(), Error> {
    let request = new_link()
        .text(libc::IFLA_IFNAME, name)
        .nest(libc::IFLA_LINKINFO, |info| {
            info.text(libc::IFLA_INFO_KIND, "vxlan")
                .nest(libc::IFLA_INFO_DATA, |data| {
                    data.put(VXLAN_PORT, &port.to_be_bytes())
                        .put(VXLAN_COLLECT_METADATA, &[1])
                })
        });
    ask(request, &format!("make the VXLAN device {name}"))
}

/// Sets a link up.
pub(crate) fn set_up(name: &str, index: u32) -> Result<(), Error> {
    let up = libc::IFF_UP as u32;
    let request = Request::new(libc::RTM_NEWLINK, 0, &header(index, up, up));
    ask(request, &format!("set {name} up"))
}

/// Moves a link to another namespace.
pub(crate) fn move_to(name: &str, index: u32, namespace: i32) -> Result<(), Error> {
    let request = Request::new(libc::RTM_NEWLINK, 0, &header(index, 0, 0));
    let request = request.put(libc::IFLA_NET_NS_FD, &namespace.to_ne_bytes());
    ask(request, &format!("move {name} to another namespace"))
}

/// Gives a link an address.
pub(crate) fn add_address(
    name: &str,
    index: u32,
    address: Ipv4Addr,
    prefix: u8,
) -> Result<(), Error> {
    // struct ifaddrmsg: family, prefix, flags, scope, index.
    let header = [
        &[libc::AF_INET as u8, prefix, 0, 0],
        &index.to_ne_bytes()[..],
    ]
    .concat();
    let request = Request::new(
        libc::RTM_NEWADDR,
        libc::NLM_F_CREATE | libc::NLM_F_EXCL,
        &header,
    );
    let request = request.put(libc::IFA_LOCAL, &address.octets());
    ask(
        request.put(libc::IFA_ADDRESS, &address.octets()),
        &format!("give {name} the address {address}"),
    )
}

fn ask(request: Request, action: &str) -> Result<(), Error> {
    Netlink::open(SockProtocol::NetlinkRoute)?
        .ask(request, action)
        .map(drop)
}

fn new_link() -> Request {
    Request::new(
        libc::RTM_NEWLINK,
        libc::NLM_F_CREATE | libc::NLM_F_EXCL,
        &header(0, 0, 0),
    )
}

fn describe(request: Request, end: &End<'_>) -> Request {
    let request = request
        .text(libc::IFLA_IFNAME, end.name)
        .put(libc::IFLA_ADDRESS, &end.mac);
    let request = request.number(libc::IFLA_MTU, end.mtu);
    request
        .number(libc::IFLA_NUM_TX_QUEUES, 1)
        .number(libc::IFLA_NUM_RX_QUEUES, 1)
}

/// `struct ifinfomsg`: family and type 0, index, flags, and which flags are meant.
fn header(index: u32, flags: u32, change: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[4..8].copy_from_slice(&index.to_ne_bytes());
    bytes[8..12].copy_from_slice(&flags.to_ne_bytes());
    bytes[12..].copy_from_slice(&change.to_ne_bytes());
    bytes
}
