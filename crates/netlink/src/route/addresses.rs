//! Addresses of interfaces.

use super::Route;
use crate::error::Error;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NetlinkDeserializable, NetlinkHeader};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::{IpAddr, Ipv4Addr};

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The interface's ifindex.
    pub interface: u32,
    /// The address.
    pub address: IpAddr,
    /// Length of its network's prefix.
    pub prefix: u8,
}

impl Route {
    /// All addresses of the namespace.
    pub fn addresses(&self) -> Result<Vec<Address>, Error> {
        let request = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        let answers = self.dump(&request, "list the addresses")?;
        Ok(answers
            .iter()
            .filter_map(|answer| read(decode(answer)?))
            .collect())
    }

    /// Gives an interface an IPv4 address.
    pub fn add_address(
        &self,
        name: &str,
        index: u32,
        address: Ipv4Addr,
        prefix: u8,
    ) -> Result<(), Error> {
        let mut request = AddressMessage::default();
        request.header.family = AddressFamily::Inet;
        request.header.prefix_len = prefix;
        request.header.index = index;
        request.attributes = vec![
            AddressAttribute::Local(address.into()),
            AddressAttribute::Address(address.into()),
        ];
        self.ask(
            RouteNetlinkMessage::NewAddress(request),
            NLM_F_CREATE | NLM_F_EXCL,
            &format!("give {name} the address {address}"),
        )
        .map(drop)
    }
}

/// A message, decoded by the library; `None` if the library cannot.
pub(super) fn decode(message: &crate::socket::Raw) -> Option<RouteNetlinkMessage> {
    let mut header = NetlinkHeader::default();
    header.message_type = message.kind;
    RouteNetlinkMessage::deserialize(&header, &message.bytes).ok()
}

/// The interface's own address: `IFA_LOCAL`. `IFA_ADDRESS` is the peer's on a point-to-point link.
fn read(message: RouteNetlinkMessage) -> Option<Address> {
    let RouteNetlinkMessage::NewAddress(message) = message else {
        return None;
    };
    let (mut local, mut other) = (None, None);
    for attribute in &message.attributes {
        match attribute {
            AddressAttribute::Local(address) => local = Some(*address),
            AddressAttribute::Address(address) => other = Some(*address),
            _ => {}
        }
    }
    Some(Address {
        interface: message.header.index,
        address: local.or(other)?,
        prefix: message.header.prefix_len,
    })
}
