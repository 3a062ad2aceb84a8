//! Links: properties of every interface.

use super::details::{Details, Port};
use super::{Route, details};
use crate::attributes::{Attributes, text};
use crate::error::Error;
use crate::socket::Raw;
use netlink_packet_core::{NlaBuffer, NlasIterator, ParseableParametrized};
use netlink_packet_route::link::{
    LinkAttribute, LinkFlags, LinkHeader, LinkInfo, LinkLayerType, LinkMessage, LinkXdp, Stats64,
    XdpAttached,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::errno::Errno;
use std::collections::BTreeMap;

/// `IFLA_IFNAME`.
const NAME: u16 = 3;
/// `IFLA_LINKINFO` and, inside of it, `IFLA_INFO_KIND`.
const LINK_INFO: u16 = 18;
const INFO_KIND: u16 = 1;

/// `RTM_NEWLINK`.
const NEW_LINK: u16 = 16;
/// Length of `struct ifinfomsg`.
const HEADER: usize = 16;

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// Its ifindex.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// The kernel's kind: `veth`, `bridge`; `None` for a hardware device or the loopback interface.
    pub kind: Option<String>,
    /// It is the loopback interface.
    pub loopback: bool,
    /// Administratively up.
    pub up: bool,
    /// It has a carrier (and is up).
    pub carrier: Option<bool>,
    /// Its flags, `IFF_UP` and so on.
    pub flags: u32,
    /// Hardware address; of tunnels, the outer address.
    pub address: Vec<u8>,
    /// The hardware address that the device was made with; `None` for most virtual ones.
    pub permanent_address: Option<Vec<u8>>,
    /// How often the carrier came and went.
    pub carrier_changes: Option<u32>,
    /// Whether the hardware address is one of Ethernet.
    pub ethernet: bool,
    /// The alias that the operator has set.
    pub alias: Option<String>,
    /// MTU.
    pub mtu: Option<u32>,
    /// Largest MTU; `None` if there is no limit or the kernel does not report it.
    pub max_mtu: Option<u32>,
    /// The ifindex of its bridge, bond or VRF.
    pub master: Option<u32>,
    /// The ifindex of the lower interface, or of a veth's peer, in the namespace of
    /// [`link_namespace`](Self::link_namespace).
    pub link: Option<u32>,
    /// The namespace id of [`link`](Self::link), if not this one; negative if it has no id here.
    pub link_namespace: Option<i32>,
    /// How many users have set promiscuous mode: captures, bridges.
    pub promiscuity: Option<u32>,
    /// Length of its transmit queue in packets.
    pub queue_length: Option<u32>,
    /// Limits of segmentation and receive merging.
    pub limits: Limits,
    /// XDP program.
    pub xdp: Option<Xdp>,
    /// Counters, by their names in `struct rtnl_link_stats64`.
    pub counters: BTreeMap<&'static str, u64>,
    /// Properties of this kind of link.
    pub details: Details,
    /// Properties as a port of its master.
    pub port: Option<Port>,
    /// Attributes that could not be decoded; all other fields are right.
    pub undecoded: Vec<String>,
}

/// Largest frames for segmentation, and from receive merging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// `gso_max_size`.
    pub gso_max_size: Option<u32>,
    /// `gso_max_segs`.
    pub gso_max_segs: Option<u32>,
    /// `gro_max_size`.
    pub gro_max_size: Option<u32>,
    /// `gso_ipv4_max_size`.
    pub gso_ipv4_max_size: Option<u32>,
    /// `gro_ipv4_max_size`.
    pub gro_ipv4_max_size: Option<u32>,
    /// `tso_max_size`.
    pub tso_max_size: Option<u32>,
    /// `tso_max_segs`.
    pub tso_max_segs: Option<u32>,
}

/// An attached XDP program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xdp {
    /// Where it runs.
    pub mode: XdpMode,
    /// Its id.
    pub program: Option<u32>,
}

/// Where an XDP program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XdpMode {
    /// In the driver.
    Native,
    /// After the driver, on socket buffers.
    Generic,
    /// On the device.
    Offload,
    /// Several programs.
    Multi,
}

impl Route {
    /// All links of the namespace.
    pub fn links(&self) -> Result<Vec<Link>, Error> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let answers = self.dump(&request, "list the interfaces")?;
        Ok(answers.iter().filter_map(read).collect())
    }

    /// One link by name.
    pub fn link(&self, name: &str) -> Result<Link, Error> {
        let mut request = LinkMessage::default();
        request.attributes = vec![LinkAttribute::IfName(name.to_owned())];
        self.one_link(request, &format!("find the interface {name}"))
    }

    /// A link of another namespace, by that namespace's id in this one. This takes `CAP_NET_ADMIN` there.
    pub fn link_elsewhere(&self, namespace: i32, index: u32) -> Result<Link, Error> {
        let mut request = LinkMessage::default();
        request.header.index = index;
        request.attributes = vec![LinkAttribute::IfNetnsId(namespace)];
        let action = format!("find the interface {index} of the namespace with id {namespace}");
        self.one_link(request, &action)
    }

    fn one_link(&self, request: LinkMessage, action: &str) -> Result<Link, Error> {
        let answers = self.ask(RouteNetlinkMessage::GetLink(request), 0, action)?;
        let link = answers.iter().find_map(read);
        link.ok_or_else(|| Error::system(action)(Errno::ENODEV))
    }
}

/// Decodes attribute by attribute, so that one that the library does not know costs no other.
fn read(message: &Raw) -> Option<Link> {
    if message.kind != NEW_LINK {
        return None;
    }
    let header = LinkHeader::parse(&message.bytes).ok()?;
    let mut link = with_header(&header);
    for attribute in NlasIterator::new(message.bytes.get(HEADER..)?).map_while(Result::ok) {
        match LinkAttribute::parse_with_param(&attribute, AddressFamily::Unspec) {
            Ok(attribute) => take(&mut link, attribute),
            Err(error) => {
                rescue(&mut link, &attribute);
                link.undecoded.push(error.to_string());
            }
        }
    }
    Some(link)
}

/// Reads what is usable of an attribute that the library could not decode: a name that is not
/// UTF-8, the kind without its details.
fn rescue(link: &mut Link, attribute: &NlaBuffer<&[u8]>) {
    match attribute.kind() {
        NAME => link.name = text(attribute.value()),
        LINK_INFO => link.kind = Attributes(attribute.value()).text(INFO_KIND),
        _ => {}
    }
}

fn with_header(header: &LinkHeader) -> Link {
    Link {
        index: header.index,
        loopback: header.link_layer_type == LinkLayerType::Loopback,
        ethernet: header.link_layer_type == LinkLayerType::Ether,
        up: header.flags.contains(LinkFlags::Up),
        flags: header.flags.bits(),
        ..Link::default()
    }
}

fn take(link: &mut Link, attribute: LinkAttribute) {
    match attribute {
        LinkAttribute::IfName(name) => link.name = name,
        LinkAttribute::IfAlias(alias) => link.alias = Some(alias),
        LinkAttribute::Address(address) => link.address = address,
        LinkAttribute::PermAddress(address) => link.permanent_address = Some(address),
        LinkAttribute::CarrierChanges(changes) => link.carrier_changes = Some(changes),
        LinkAttribute::Mtu(mtu) => link.mtu = Some(mtu),
        LinkAttribute::MaxMtu(mtu) => link.max_mtu = Some(mtu).filter(|&mtu| mtu != 0),
        LinkAttribute::Carrier(carrier) => link.carrier = Some(carrier != 0),
        LinkAttribute::Controller(master) => link.master = Some(master),
        LinkAttribute::Link(below) => link.link = Some(below).filter(|&below| below != 0),
        LinkAttribute::LinkNetNsId(id) => link.link_namespace = Some(id),
        LinkAttribute::Promiscuity(count) => link.promiscuity = Some(count),
        LinkAttribute::TxQueueLen(packets) => link.queue_length = Some(packets),
        LinkAttribute::Xdp(xdp) => link.xdp = read_xdp(&xdp),
        LinkAttribute::Stats64(counters) => link.counters = named(&counters),
        LinkAttribute::LinkInfo(info) => take_info(link, info),
        other => take_limit(&mut link.limits, &other),
    }
}

fn take_limit(limits: &mut Limits, attribute: &LinkAttribute) {
    match *attribute {
        LinkAttribute::GsoMaxSize(bytes) => limits.gso_max_size = Some(bytes),
        LinkAttribute::GsoMaxSegs(count) => limits.gso_max_segs = Some(count),
        LinkAttribute::GroMaxSize(bytes) => limits.gro_max_size = Some(bytes),
        LinkAttribute::GsoIpv4MaxSize(bytes) => limits.gso_ipv4_max_size = Some(bytes),
        LinkAttribute::GroIpv4MaxSize(bytes) => limits.gro_ipv4_max_size = Some(bytes),
        LinkAttribute::TsoMaxSize(bytes) => limits.tso_max_size = Some(bytes),
        LinkAttribute::TsoMaxSegs(count) => limits.tso_max_segs = Some(count),
        _ => {}
    }
}

fn take_info(link: &mut Link, info: Vec<LinkInfo>) {
    for part in info {
        match part {
            LinkInfo::Kind(kind) => link.kind = Some(kind.to_string()),
            LinkInfo::Data(data) => link.details = details::read(data),
            LinkInfo::PortData(data) => link.port = details::read_port(data),
            _ => {}
        }
    }
}

fn read_xdp(attributes: &[LinkXdp]) -> Option<Xdp> {
    let mode = attributes.iter().find_map(|attribute| match attribute {
        LinkXdp::Attached(XdpAttached::Driver) => Some(XdpMode::Native),
        LinkXdp::Attached(XdpAttached::SocketBuffer) => Some(XdpMode::Generic),
        LinkXdp::Attached(XdpAttached::Hardware) => Some(XdpMode::Offload),
        LinkXdp::Attached(XdpAttached::Multiple) => Some(XdpMode::Multi),
        _ => None,
    })?;
    let program = attributes.iter().find_map(|attribute| match attribute {
        LinkXdp::ProgId(id) => Some(*id),
        _ => None,
    });
    Some(Xdp { mode, program })
}

fn named(counters: &Stats64) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("rx_packets", counters.rx_packets),
        ("tx_packets", counters.tx_packets),
        ("rx_bytes", counters.rx_bytes),
        ("tx_bytes", counters.tx_bytes),
        ("rx_errors", counters.rx_errors),
        ("tx_errors", counters.tx_errors),
        ("rx_dropped", counters.rx_dropped),
        ("tx_dropped", counters.tx_dropped),
        ("multicast", counters.multicast),
        ("collisions", counters.collisions),
        ("rx_length_errors", counters.rx_length_errors),
        ("rx_over_errors", counters.rx_over_errors),
        ("rx_crc_errors", counters.rx_crc_errors),
        ("rx_frame_errors", counters.rx_frame_errors),
        ("rx_fifo_errors", counters.rx_fifo_errors),
        ("rx_missed_errors", counters.rx_missed_errors),
        ("tx_aborted_errors", counters.tx_aborted_errors),
        ("tx_carrier_errors", counters.tx_carrier_errors),
        ("tx_fifo_errors", counters.tx_fifo_errors),
        ("tx_heartbeat_errors", counters.tx_heartbeat_errors),
        ("tx_window_errors", counters.tx_window_errors),
        ("rx_compressed", counters.rx_compressed),
        ("tx_compressed", counters.tx_compressed),
        ("rx_nohandler", counters.rx_nohandler),
        ("rx_otherhost_dropped", counters.rx_otherhost_dropped),
    ])
}
