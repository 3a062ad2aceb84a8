//! Routes: which interfaces carry a default route, which lead to an address; routes added.

use super::Route;
use super::addresses::decode;
use crate::error::Error;
use crate::socket::Raw;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::{IpAddr, Ipv4Addr};

impl Route {
    /// Ifindexes of interfaces with a default route, of any table and protocol.
    pub fn default_routes(&self) -> Result<Vec<u32>, Error> {
        let mut interfaces = Vec::new();
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut request = RouteMessage::default();
            request.header.address_family = family;
            let request = RouteNetlinkMessage::GetRoute(request);
            let answers = self
                .socket
                .dump_some(&request, "list the routes", &may_be_default)?;
            let defaults = answers
                .iter()
                .filter_map(|answer| route(decode(answer)?))
                .filter(is_default);
            interfaces.extend(defaults.flat_map(|route| outgoing(&route)));
        }
        interfaces.sort_unstable();
        interfaces.dedup();
        Ok(interfaces)
    }

    /// Ifindexes of the interfaces by which packets to an address leave: several for a multipath route.
    pub fn interfaces_to(&self, address: IpAddr) -> Result<Vec<u32>, Error> {
        let mut request = RouteMessage::default();
        let (family, bits, destination) = match address {
            IpAddr::V4(address) => (AddressFamily::Inet, 32, RouteAddress::Inet(address)),
            IpAddr::V6(address) => (AddressFamily::Inet6, 128, RouteAddress::Inet6(address)),
        };
        request.header.address_family = family;
        request.header.destination_prefix_length = bits;
        request.header.flags = RouteFlags::FibMatch;
        request.attributes = vec![RouteAttribute::Destination(destination)];
        let request = RouteNetlinkMessage::GetRoute(request);
        let answers = self.ask(request, 0, &format!("find the route to {address}"))?;
        let found = answers.iter().find_map(|answer| route(decode(answer)?));
        Ok(found.map(|route| outgoing(&route)).unwrap_or_default())
    }

    /// Adds a route through a neighbour to the main table; a prefix of 0 makes it the default.
    pub fn add_route(&self, network: Ipv4Addr, prefix: u8, gateway: Ipv4Addr) -> Result<(), Error> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.destination_prefix_length = prefix;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Universe;
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![RouteAttribute::Gateway(RouteAddress::Inet(gateway))];
        let network_if_any = (prefix > 0).then_some(RouteAddress::Inet(network));
        message
            .attributes
            .extend(network_if_any.map(RouteAttribute::Destination));
        let action = format!("route {network}/{prefix} through {gateway}");
        let request = RouteNetlinkMessage::NewRoute(message);
        self.ask(request, NLM_F_CREATE | NLM_F_EXCL, &action)
            .map(drop)
    }
}

fn route(message: RouteNetlinkMessage) -> Option<RouteMessage> {
    match message {
        RouteNetlinkMessage::NewRoute(route) => Some(route),
        _ => None,
    }
}

/// The second byte of `struct rtmsg` is the length of the destination's prefix.
fn may_be_default(message: &Raw) -> bool {
    message.bytes.get(1) == Some(&0)
}

fn is_default(route: &RouteMessage) -> bool {
    route.header.destination_prefix_length == 0 && route.header.kind == RouteType::Unicast
}

fn outgoing(route: &RouteMessage) -> Vec<u32> {
    let mut interfaces = Vec::new();
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Oif(index) => interfaces.push(*index),
            RouteAttribute::MultiPath(legs) => {
                interfaces.extend(legs.iter().map(|leg| leg.interface_index));
            }
            _ => {}
        }
    }
    interfaces
}
