//! What of rtnetlink a path needs beyond `coalescope-netlink`: bridges and their ports, tunnels to
//! one peer, routes. All in the namespace of the calling thread.

use crate::Error;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::link::{
    BondMode, InfoBond, InfoBridge, InfoData, InfoKind, InfoVeth, InfoVxlan, LinkAttribute,
    LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::errno::Errno;
use std::net::Ipv4Addr;

/// Makes a bridge that forwards at once: without spanning tree there is nothing to wait for.
pub(super) fn add_bridge(name: &str) -> Result<(), Error> {
    let settings = InfoData::Bridge(vec![InfoBridge::ForwardDelay(0)]);
    let mut message = LinkMessage::default();
    message.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        kind(InfoKind::Bridge, settings),
    ];
    let message = RouteNetlinkMessage::NewLink(message);
    make(message, &format!("make the bridge {name}"))
}

/// Makes a bond whose members take frames in turn.
pub(super) fn add_bond(name: &str, mtu: u32) -> Result<(), Error> {
    /// How often it looks whether a member has a carrier.
    const LOOK_MS: u32 = 100;
    let mode = InfoBond::Mode(BondMode::BalanceRr);
    let settings = InfoData::Bond(vec![mode, InfoBond::MiiMon(LOOK_MS)]);
    let mut message = LinkMessage::default();
    message.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        LinkAttribute::Mtu(mtu),
        kind(InfoKind::Bond, settings),
    ];
    let message = RouteNetlinkMessage::NewLink(message);
    make(message, &format!("make the bond {name}"))
}

/// Makes two Ethernet interfaces with a wire between them, with addresses that the kernel draws:
/// those of `Veth` are always the same two, and a bridge may join several pairs.
pub(super) fn add_veth([one, two]: [&str; 2], mtu: u32) -> Result<(), Error> {
    let end = |name: &str| {
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Mtu(mtu),
        ];
        message
    };
    let mut message = end(one);
    let peer = InfoData::Veth(InfoVeth::Peer(end(two)));
    message.attributes.push(kind(InfoKind::Veth, peer));
    let message = RouteNetlinkMessage::NewLink(message);
    make(message, &format!("make the veth pair {one} - {two}"))
}

/// Makes a link a port of a bridge, or a member of a bond.
pub(super) fn add_port(name: &str, index: u32, controller: u32) -> Result<(), Error> {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.attributes = vec![LinkAttribute::Controller(controller)];
    let message = RouteNetlinkMessage::SetLink(message);
    ask(
        message,
        0,
        &format!("make {name} a port of a bridge or bond"),
    )
}

/// How many frames wait in a link. The ioctl for it takes root of the first user namespace.
pub(super) fn set_queue_length(name: &str, frames: u32) -> Result<(), Error> {
    let mut message = LinkMessage::default();
    message.header.index = crate::Link::named(name)?.index();
    message.attributes = vec![LinkAttribute::TxQueueLen(frames)];
    let message = RouteNetlinkMessage::SetLink(message);
    ask(message, 0, &format!("let {frames} frames wait in {name}"))
}

/// Gives a link another name.
pub(super) fn rename(name: &str, new: &str) -> Result<(), Error> {
    let mut message = LinkMessage::default();
    message.header.index = crate::Link::named(name)?.index();
    message.attributes = vec![LinkAttribute::IfName(new.to_owned())];
    let message = RouteNetlinkMessage::SetLink(message);
    ask(message, 0, &format!("rename {name} to {new}"))
}

/// Makes one end of a VXLAN tunnel with a single peer.
pub(super) fn add_vxlan(
    name: &str,
    vni: u32,
    [local, remote]: [Ipv4Addr; 2],
    port: u16,
) -> Result<(), Error> {
    let settings = InfoData::Vxlan(vec![
        InfoVxlan::Id(vni),
        InfoVxlan::Local(local),
        InfoVxlan::Group(remote),
        InfoVxlan::Port(port),
    ]);
    let mut message = LinkMessage::default();
    message.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        kind(InfoKind::Vxlan, settings),
    ];
    let message = RouteNetlinkMessage::NewLink(message);
    make(message, &format!("make the VXLAN device {name}"))
}

/// Adds a route through a neighbour; a prefix of 0 makes it the default.
pub(super) fn add_route(network: Ipv4Addr, prefix: u8, gateway: Ipv4Addr) -> Result<(), Error> {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = prefix;
    message.header.table = nix::libc::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![RouteAttribute::Gateway(RouteAddress::Inet(gateway))];
    if prefix > 0 {
        let network = RouteAttribute::Destination(RouteAddress::Inet(network));
        message.attributes.push(network);
    }
    let action = format!("route {network}/{prefix} through {gateway}");
    make(RouteNetlinkMessage::NewRoute(message), &action)
}

fn kind(kind: InfoKind, data: InfoData) -> LinkAttribute {
    LinkAttribute::LinkInfo(vec![LinkInfo::Kind(kind), LinkInfo::Data(data)])
}

fn make(message: RouteNetlinkMessage, action: &str) -> Result<(), Error> {
    ask(message, NLM_F_CREATE | NLM_F_EXCL, action)
}

/// Asks, and waits for the kernel's yes or no.
pub(super) fn ask(message: RouteNetlinkMessage, flags: u16, action: &str) -> Result<(), Error> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    header.sequence_number = 1;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    let socket = Socket::new(NETLINK_ROUTE).map_err(Error::io(action))?;
    socket.send(&bytes, 0).map_err(Error::io(action))?;
    answer(&socket, action)
}

/// Waits for the kernel's yes or no; answers to others do not come to a socket of our own.
pub(super) fn answer(socket: &Socket, action: &str) -> Result<(), Error> {
    let (bytes, _) = socket.recv_from_full().map_err(Error::io(action))?;
    // struct nlmsghdr is 16 bytes; an error message (type 2) continues with the error number, which
    // is negative, or 0 for yes.
    let number = bytes.get(16..20).and_then(|number| number.first_chunk());
    match (bytes.get(4..6), number) {
        (Some([2, 0]), Some(&number)) if cfg!(target_endian = "little") => {
            verdict(i32::from_ne_bytes(number), action)
        }
        (Some([0, 2]), Some(&number)) => verdict(i32::from_ne_bytes(number), action),
        _ => Err(Error::Answer {
            action: action.to_owned(),
            lacks: "a verdict",
        }),
    }
}

fn verdict(number: i32, action: &str) -> Result<(), Error> {
    match number {
        0 => Ok(()),
        number => Err(Error::System {
            action: action.to_owned(),
            errno: Errno::from_raw(number.saturating_neg()),
        }),
    }
}
