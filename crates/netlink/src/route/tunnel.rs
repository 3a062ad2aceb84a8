//! Tunnels of all kinds, as one.

use netlink_packet_route::link::{
    GreIOFlags, InfoBareUdp, InfoData, InfoGeneve, InfoGre, InfoGre6, InfoIpTunnel, InfoVti,
    InfoVxlan, InfoXfrm,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Settings of a tunnel; `None` if its kind lacks the setting or the kernel does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tunnel {
    /// Own outer address.
    pub local: Option<IpAddr>,
    /// The other end's outer address, or the group.
    pub remote: Option<IpAddr>,
    /// VXLAN network identifier, Geneve id, GRE key, xfrm interface id.
    pub id: Option<u32>,
    /// UDP destination port.
    pub port: Option<u16>,
    /// Outer UDP (or GRE) checksums are sent over IPv4.
    pub checksum: Option<bool>,
    /// Outer UDP checksums are left out over IPv6.
    pub zero_checksum6: Option<bool>,
    /// GRE sequence numbers are sent.
    pub sequence: Option<bool>,
    /// Whether the tunnel takes its addresses from each packet's metadata (`external`).
    pub external: bool,
    /// The interface that its outer packets are bound to.
    pub link: Option<u32>,
}

pub(super) fn read(data: InfoData) -> Option<Tunnel> {
    let mut tunnel = Tunnel::default();
    match data {
        InfoData::Vxlan(all) => all.iter().for_each(|one| vxlan(&mut tunnel, one)),
        InfoData::Geneve(all) => all.iter().for_each(|one| geneve(&mut tunnel, one)),
        InfoData::GreTun(all) | InfoData::GreTap(all) | InfoData::ErSpan(all) => {
            all.iter().for_each(|one| gre(&mut tunnel, one));
        }
        InfoData::GreTun6(all) | InfoData::GreTap6(all) | InfoData::Ip6ErSpan(all) => {
            all.iter().for_each(|one| gre6(&mut tunnel, one));
        }
        InfoData::IpTunnel(all) => all.iter().for_each(|one| ip(&mut tunnel, one)),
        InfoData::Vti(all) => all.iter().for_each(|one| vti(&mut tunnel, one)),
        InfoData::Xfrm(all) => all.iter().for_each(|one| xfrm(&mut tunnel, one)),
        InfoData::BareUdp(all) => all.iter().for_each(|one| bare_udp(&mut tunnel, one)),
        _ => return None,
    }
    Some(tunnel)
}

/// An address; the unspecified one is `None`.
fn v4(address: Ipv4Addr) -> Option<IpAddr> {
    known(address.into())
}

fn v6(address: Ipv6Addr) -> Option<IpAddr> {
    known(address.into())
}

fn known(address: IpAddr) -> Option<IpAddr> {
    Some(address).filter(|address| !address.is_unspecified())
}

fn some(number: u32) -> Option<u32> {
    Some(number).filter(|&number| number != 0)
}

fn vxlan(tunnel: &mut Tunnel, attribute: &InfoVxlan) {
    match *attribute {
        InfoVxlan::Id(id) => tunnel.id = Some(id),
        InfoVxlan::Group(address) => tunnel.remote = v4(address),
        InfoVxlan::Group6(address) => tunnel.remote = v6(address),
        InfoVxlan::Local(address) => tunnel.local = v4(address),
        InfoVxlan::Local6(address) => tunnel.local = v6(address),
        InfoVxlan::Link(index) => tunnel.link = some(index),
        InfoVxlan::Port(port) => tunnel.port = Some(port),
        InfoVxlan::UDPCsum(on) => tunnel.checksum = Some(on),
        InfoVxlan::UDPZeroCsumTX(on) => tunnel.zero_checksum6 = Some(on),
        InfoVxlan::CollectMetadata(on) => tunnel.external = on,
        _ => {}
    }
}

fn geneve(tunnel: &mut Tunnel, attribute: &InfoGeneve) {
    match *attribute {
        InfoGeneve::Id(id) => tunnel.id = Some(id),
        InfoGeneve::Remote(address) => tunnel.remote = v4(address),
        InfoGeneve::Remote6(address) => tunnel.remote = v6(address),
        InfoGeneve::Local(address) => tunnel.local = v4(address),
        InfoGeneve::Local6(address) => tunnel.local = v6(address),
        InfoGeneve::Port(port) => tunnel.port = Some(port),
        InfoGeneve::UdpCsum(on) => tunnel.checksum = Some(on),
        InfoGeneve::UdpZeroCsum6Tx(on) => tunnel.zero_checksum6 = Some(on),
        InfoGeneve::CollectMetadata => tunnel.external = true,
        _ => {}
    }
}

fn gre(tunnel: &mut Tunnel, attribute: &InfoGre) {
    match *attribute {
        InfoGre::OFlags(flags) => gre_flags(tunnel, flags),
        InfoGre::OKey(key) => tunnel.id = Some(key),
        InfoGre::Local(address) => tunnel.local = v4(address),
        InfoGre::Remote(address) => tunnel.remote = v4(address),
        InfoGre::Link(index) => tunnel.link = some(index),
        InfoGre::CollectMetadata => tunnel.external = true,
        _ => {}
    }
}

fn gre6(tunnel: &mut Tunnel, attribute: &InfoGre6) {
    match *attribute {
        InfoGre6::OFlags(flags) => gre_flags(tunnel, flags),
        InfoGre6::OKey(key) => tunnel.id = Some(key),
        InfoGre6::Local(address) => tunnel.local = v6(address),
        InfoGre6::Remote(address) => tunnel.remote = v6(address),
        InfoGre6::Link(index) => tunnel.link = some(index),
        InfoGre6::CollectMetadata => tunnel.external = true,
        _ => {}
    }
}

fn gre_flags(tunnel: &mut Tunnel, flags: GreIOFlags) {
    tunnel.sequence = Some(flags.contains(GreIOFlags::Seq));
    tunnel.checksum = Some(flags.contains(GreIOFlags::Checksum));
}

fn ip(tunnel: &mut Tunnel, attribute: &InfoIpTunnel) {
    match *attribute {
        InfoIpTunnel::Local(address) => tunnel.local = known(address),
        InfoIpTunnel::Remote(address) => tunnel.remote = known(address),
        InfoIpTunnel::Link(index) => tunnel.link = some(index),
        InfoIpTunnel::CollectMetadata => tunnel.external = true,
        _ => {}
    }
}

fn vti(tunnel: &mut Tunnel, attribute: &InfoVti) {
    match *attribute {
        InfoVti::Local(address) => tunnel.local = known(address),
        InfoVti::Remote(address) => tunnel.remote = known(address),
        InfoVti::OKey(key) => tunnel.id = some(key),
        InfoVti::Link(index) => tunnel.link = some(index),
        _ => {}
    }
}

fn xfrm(tunnel: &mut Tunnel, attribute: &InfoXfrm) {
    match *attribute {
        InfoXfrm::Link(index) => tunnel.link = some(index),
        InfoXfrm::IfId(id) => tunnel.id = some(id),
        _ => {}
    }
}

fn bare_udp(tunnel: &mut Tunnel, attribute: &InfoBareUdp) {
    if let InfoBareUdp::Port(port) = *attribute {
        tunnel.port = Some(port);
    }
}
