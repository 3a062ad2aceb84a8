//! Links made and changed.

use super::Route;
use crate::error::Error;
use crate::namespace::Namespace;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BondMode, InfoBond, InfoBridge, InfoData, InfoKind, InfoVeth, InfoVxlan, LinkAttribute,
    LinkFlags, LinkInfo, LinkMessage,
};
use std::net::Ipv4Addr;

/// One end of a veth pair to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewLink<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its hardware address; `None` for a random one.
    pub mac: Option<[u8; 6]>,
    /// Its MTU.
    pub mtu: u32,
}

impl Route {
    /// Makes a veth pair with one queue each. With several queues, the sender's choice of one would
    /// give frames a hash, and GRO puts frames into buckets by their hash.
    pub fn add_veth(&self, one: &NewLink<'_>, two: &NewLink<'_>) -> Result<(), Error> {
        let peer = InfoData::Veth(InfoVeth::Peer(described(two)));
        let mut message = described(one);
        message.attributes.push(info(InfoKind::Veth, peer));
        let action = format!("make the veth pair {} - {}", one.name, two.name);
        self.make(message, &action)
    }

    /// Makes a VXLAN device for any VNI that listens on `port` of all addresses.
    pub fn add_vxlan(&self, name: &str, port: u16) -> Result<(), Error> {
        let settings = vec![InfoVxlan::Port(port), InfoVxlan::CollectMetadata(true)];
        self.make_vxlan(name, settings)
    }

    /// Makes one end of a VXLAN tunnel with a single peer; `ends` are the local and the peer's address.
    pub fn add_vxlan_to(
        &self,
        name: &str,
        vni: u32,
        ends: [Ipv4Addr; 2],
        port: u16,
    ) -> Result<(), Error> {
        let [here, there] = ends;
        let settings = vec![
            InfoVxlan::Id(vni),
            InfoVxlan::Local(here),
            InfoVxlan::Group(there),
            InfoVxlan::Port(port),
        ];
        self.make_vxlan(name, settings)
    }

    fn make_vxlan(&self, name: &str, settings: Vec<InfoVxlan>) -> Result<(), Error> {
        let kind = info(InfoKind::Vxlan, InfoData::Vxlan(settings));
        self.make(named(name, kind), &format!("make the VXLAN device {name}"))
    }

    /// Makes a bridge that forwards at once: without spanning tree the forward delay serves no purpose.
    pub fn add_bridge(&self, name: &str) -> Result<(), Error> {
        let settings = InfoData::Bridge(vec![InfoBridge::ForwardDelay(0)]);
        let kind = info(InfoKind::Bridge, settings);
        self.make(named(name, kind), &format!("make the bridge {name}"))
    }

    /// Makes a bond whose members get this number of packets each in turn: 1 to 65,535
    /// (`packets_per_slave`, Documentation/networking/bonding.rst; 0 chooses members at random).
    pub fn add_bond(&self, name: &str, mtu: u32, packets_per_member: u16) -> Result<(), Error> {
        /// Interval of the bond's carrier checks (`miimon`).
        const LOOK_MS: u32 = 100;
        let settings = InfoData::Bond(vec![
            InfoBond::Mode(BondMode::BalanceRr),
            InfoBond::MiiMon(LOOK_MS),
            InfoBond::PacketsPerPort(packets_per_member.into()),
        ]);
        let mut message = named(name, info(InfoKind::Bond, settings));
        message.attributes.push(LinkAttribute::Mtu(mtu));
        self.make(message, &format!("make the bond {name}"))
    }

    /// Makes a link a port of a bridge or a member of a bond; `controller` is the ifindex of the bridge or bond.
    pub fn add_port(&self, name: &str, index: u32, controller: u32) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.attributes = vec![LinkAttribute::Controller(controller)];
        let action = format!("make {name} a port of a bridge or bond");
        self.change(message, index, &action)
    }

    /// Sets the length of a link's transmit queue in frames. The ioctl for this takes root of the
    /// first user namespace.
    pub fn set_queue_length(&self, name: &str, index: u32, frames: u32) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.attributes = vec![LinkAttribute::TxQueueLen(frames)];
        self.change(
            message,
            index,
            &format!("let {frames} frames wait in {name}"),
        )
    }

    /// Gives a link another name.
    pub fn rename(&self, name: &str, index: u32, new: &str) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.attributes = vec![LinkAttribute::IfName(new.to_owned())];
        self.change(message, index, &format!("rename {name} to {new}"))
    }

    /// Sets a link up or down. A link that is set down loses its IPv6 addresses and its routes.
    pub fn set_up(&self, name: &str, index: u32, up: bool) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.change_mask = LinkFlags::Up;
        if up {
            message.header.flags = LinkFlags::Up;
        }
        let way = if up { "up" } else { "down" };
        self.change(message, index, &format!("set {name} {way}"))
    }

    /// Sets the MTU.
    pub fn set_mtu(&self, name: &str, index: u32, mtu: u32) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.attributes = vec![LinkAttribute::Mtu(mtu)];
        self.change(message, index, &format!("set the MTU of {name} to {mtu}"))
    }

    /// Sets `gso_max_size` of a link: longer frames are segmented before.
    pub fn set_gso_max_size(&self, name: &str, index: u32, bytes: u32) -> Result<(), Error> {
        let attribute = LinkAttribute::GsoMaxSize(bytes);
        self.limit(name, index, attribute, &format!("gso_max_size {bytes}"))
    }

    /// Sets `gro_max_size` of a link: GRO merges up to this length.
    pub fn set_gro_max_size(&self, name: &str, index: u32, bytes: u32) -> Result<(), Error> {
        let attribute = LinkAttribute::GroMaxSize(bytes);
        self.limit(name, index, attribute, &format!("gro_max_size {bytes}"))
    }

    /// Sets `gso_ipv4_max_size`, since Linux 6.3.
    pub fn set_gso_ipv4_max_size(&self, name: &str, index: u32, bytes: u32) -> Result<(), Error> {
        let attribute = LinkAttribute::GsoIpv4MaxSize(bytes);
        self.limit(
            name,
            index,
            attribute,
            &format!("gso_ipv4_max_size {bytes}"),
        )
    }

    /// Sets `gro_ipv4_max_size`, since Linux 6.3.
    pub fn set_gro_ipv4_max_size(&self, name: &str, index: u32, bytes: u32) -> Result<(), Error> {
        let attribute = LinkAttribute::GroIpv4MaxSize(bytes);
        self.limit(
            name,
            index,
            attribute,
            &format!("gro_ipv4_max_size {bytes}"),
        )
    }

    fn limit(
        &self,
        name: &str,
        index: u32,
        limit: LinkAttribute,
        words: &str,
    ) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.attributes = vec![limit];
        self.change(message, index, &format!("give {name} {words}"))
    }

    /// Moves a link to another namespace.
    pub fn move_to(&self, name: &str, index: u32, namespace: &Namespace) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.attributes = vec![LinkAttribute::NetNsFd(namespace.descriptor())];
        let action = format!("move {name} to another namespace");
        self.change(message, index, &action)
    }

    fn make(&self, message: LinkMessage, action: &str) -> Result<(), Error> {
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.ask(RouteNetlinkMessage::NewLink(message), flags, action)
            .map(drop)
    }

    fn change(&self, mut message: LinkMessage, index: u32, action: &str) -> Result<(), Error> {
        message.header.index = index;
        self.ask(RouteNetlinkMessage::SetLink(message), 0, action)
            .map(drop)
    }
}

fn described(link: &NewLink<'_>) -> LinkMessage {
    let mut message = named(link.name, LinkAttribute::Mtu(link.mtu));
    let queues = [LinkAttribute::NumTxQueues(1), LinkAttribute::NumRxQueues(1)];
    message.attributes.extend(queues);
    let mac = link.mac.map(|mac| LinkAttribute::Address(mac.to_vec()));
    message.attributes.extend(mac);
    message
}

fn named(name: &str, what: LinkAttribute) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.attributes = vec![LinkAttribute::IfName(name.to_owned()), what];
    message
}

fn info(kind: InfoKind, data: InfoData) -> LinkAttribute {
    LinkAttribute::LinkInfo(vec![LinkInfo::Kind(kind), LinkInfo::Data(data)])
}
