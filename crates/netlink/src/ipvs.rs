//! Services of IPVS and their real servers.
//!
//! Numbers: include/uapi/linux/ip_vs.h. Reading takes `CAP_NET_ADMIN`, as writing does.

use crate::attributes::{Attributes, bytes, nest, number, string};
use crate::error::Error;
use crate::generic::Family;
use netlink_packet_core::DefaultNla;
use nix::libc;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};

const NEW_SERVICE: u8 = 1;
const GET_SERVICE: u8 = 4;
const NEW_DESTINATION: u8 = 5;
const GET_DESTINATION: u8 = 8;
const SERVICE: u16 = 1;
const DESTINATION: u16 = 2;
const S_FAMILY: u16 = 1;
const S_PROTOCOL: u16 = 2;
const S_ADDRESS: u16 = 3;
const S_PORT: u16 = 4;
const S_MARK: u16 = 5;
const S_SCHEDULER: u16 = 6;
const S_FLAGS: u16 = 7;
const S_TIMEOUT: u16 = 8;
const S_NETMASK: u16 = 9;
const D_ADDRESS: u16 = 1;
const D_PORT: u16 = 2;
const D_FORWARD: u16 = 3;
const D_WEIGHT: u16 = 4;
const D_UPPER_THRESHOLD: u16 = 5;
const D_LOWER_THRESHOLD: u16 = 6;
const D_FAMILY: u16 = 11;
/// `IP_VS_CONN_F_FWD_MASK`.
const FORWARD: u32 = 7;
/// `IP_VS_CONN_F_MASQ`: addresses are translated.
const MASQUERADE: u32 = 0;
/// Length of `union nf_inet_addr`: room for an address of either family.
const ADDRESS: usize = 16;

/// What a virtual service matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Virtual {
    /// Packets of a protocol (6 is TCP) to an address and port.
    Address {
        /// Number of the IP protocol.
        protocol: u16,
        /// The address to which clients connect.
        address: SocketAddr,
    },
    /// Packets with a firewall mark.
    Mark(u32),
}

/// How packets are forwarded to a real server (IPVS's packet-forwarding methods).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// Addresses are translated.
    Nat,
    /// The real server is this host.
    Local,
    /// In an IP-in-IP tunnel.
    Tunnel,
    /// Unchanged, to the real server's hardware address (direct routing).
    Route,
    /// To their original destination.
    Bypass,
    /// A method that is not known here.
    Other(u32),
}

/// A real server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Address and port.
    pub address: SocketAddr,
    /// The forwarding method.
    pub forward: Forward,
    /// Its weight.
    pub weight: Option<u32>,
}

/// A virtual service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// What the service matches.
    pub virtual_address: Virtual,
    /// The scheduler: `rr`, `wlc` and so on.
    pub scheduler: Option<String>,
    /// Its real servers.
    pub destinations: Vec<Destination>,
}

/// All services in the calling thread's namespace.
pub fn services() -> Result<Vec<Service>, Error> {
    let family = Family::open("IPVS")?;
    let answers = family.dump(GET_SERVICE, &[], &[], "list the services")?;
    let described = answers
        .iter()
        .map(|answer| answer.attributes().inside(SERVICE));
    described
        .filter_map(|service| complete(&family, service).transpose())
        .collect()
}

/// Makes a TCP service at an IPv4 address of the calling thread's namespace.
///
/// # Errors
///
/// [`Error::NoFamily`] if IPVS is not loaded; if there is such a service already, or no scheduler of
/// that name (`rr`: its module is then loaded by the kernel).
pub fn add_service(service: SocketAddrV4, scheduler: &str) -> Result<(), Error> {
    let mut attributes = tcp(service);
    attributes.extend([
        string(S_SCHEDULER, scheduler),
        // `struct ip_vs_flags`: no flag set, with a mask of all.
        bytes(S_FLAGS, &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
        number(S_TIMEOUT, 0),
        bytes(S_NETMASK, &[0xff; 4]),
    ]);
    let action = format!("make the service {service}");
    let family = Family::open("IPVS")?;
    let asked = family.ask(NEW_SERVICE, &[nest(SERVICE, &attributes)], &action);
    asked.map(drop)
}

/// Adds a real server to a TCP service, with a weight of 1: addresses are translated both ways, so
/// its answers have to come back through this host.
///
/// # Errors
///
/// [`Error::NoFamily`] if IPVS is not loaded; if there is no such service, or it has the server.
pub fn add_real_server(service: SocketAddrV4, real: SocketAddrV4) -> Result<(), Error> {
    let destination = [
        bytes(D_ADDRESS, &padded(*real.ip())),
        bytes(D_PORT, &real.port().to_be_bytes()),
        number(D_FORWARD, MASQUERADE),
        number(D_WEIGHT, 1),
        number(D_UPPER_THRESHOLD, 0),
        number(D_LOWER_THRESHOLD, 0),
    ];
    let attributes = [
        nest(SERVICE, &tcp(service)),
        nest(DESTINATION, &destination),
    ];
    let action = format!("add the real server {real} to the service {service}");
    let asked = Family::open("IPVS")?.ask(NEW_DESTINATION, &attributes, &action);
    asked.map(drop)
}

/// The attributes that identify a TCP service.
fn tcp(service: SocketAddrV4) -> Vec<DefaultNla> {
    let number = |kind, value: i32| bytes(kind, &(value as u16).to_ne_bytes());
    vec![
        number(S_FAMILY, libc::AF_INET),
        number(S_PROTOCOL, libc::IPPROTO_TCP),
        bytes(S_ADDRESS, &padded(*service.ip())),
        bytes(S_PORT, &service.port().to_be_bytes()),
    ]
}

fn padded(address: Ipv4Addr) -> [u8; ADDRESS] {
    let mut room = [0; ADDRESS];
    room[..4].copy_from_slice(&address.octets());
    room
}

/// A service with its real servers; `None` if its address cannot be parsed.
fn complete(family: &Family, service: Attributes<'_>) -> Result<Option<Service>, Error> {
    let Some(virtual_address) = virtual_address(service) else {
        return Ok(None);
    };
    let which = [nest(SERVICE, &identity(service))];
    let answers = family.dump(GET_DESTINATION, &[], &which, "list the real servers")?;
    let own_family = service.u16(S_FAMILY).unwrap_or_default();
    let destinations = answers
        .iter()
        .filter_map(|answer| destination(answer.attributes().inside(DESTINATION), own_family));
    Ok(Some(Service {
        virtual_address,
        scheduler: service.text(S_SCHEDULER),
        destinations: destinations.collect(),
    }))
}

/// The attributes that identify a service, copied from the kernel's answer.
fn identity(service: Attributes<'_>) -> Vec<DefaultNla> {
    let kinds: &[u16] = if service.u32(S_MARK).is_some_and(|mark| mark != 0) {
        &[S_FAMILY, S_MARK]
    } else {
        &[S_FAMILY, S_PROTOCOL, S_ADDRESS, S_PORT]
    };
    let known = kinds
        .iter()
        .filter_map(|&kind| Some(bytes(kind, service.get(kind)?)));
    known.collect()
}

fn virtual_address(service: Attributes<'_>) -> Option<Virtual> {
    if let Some(mark) = service.u32(S_MARK).filter(|&mark| mark != 0) {
        return Some(Virtual::Mark(mark));
    }
    let family = service.u16(S_FAMILY)?;
    let ip = address(service.get(S_ADDRESS)?, family)?;
    Some(Virtual::Address {
        protocol: service.u16(S_PROTOCOL)?,
        address: SocketAddr::new(ip, port(service, S_PORT)?),
    })
}

fn destination(attributes: Attributes<'_>, family: u16) -> Option<Destination> {
    let family = attributes.u16(D_FAMILY).unwrap_or(family);
    let ip = address(attributes.get(D_ADDRESS)?, family)?;
    let flags = attributes.u32(D_FORWARD)?;
    Some(Destination {
        address: SocketAddr::new(ip, port(attributes, D_PORT)?),
        forward: forward(flags & FORWARD),
        weight: attributes.u32(D_WEIGHT),
    })
}

fn forward(method: u32) -> Forward {
    match method {
        0 => Forward::Nat,
        1 => Forward::Local,
        2 => Forward::Tunnel,
        3 => Forward::Route,
        4 => Forward::Bypass,
        other => Forward::Other(other),
    }
}

/// Addresses of both families have 16 bytes of room.
fn address(value: &[u8], family: u16) -> Option<IpAddr> {
    match i32::from(family) {
        libc::AF_INET => value
            .first_chunk::<4>()
            .map(|bytes| Ipv4Addr::from(*bytes).into()),
        libc::AF_INET6 => value
            .first_chunk::<16>()
            .map(|bytes| Ipv6Addr::from(*bytes).into()),
        _ => None,
    }
}

fn port(attributes: Attributes<'_>, kind: u16) -> Option<u16> {
    Some(u16::from_be_bytes(*attributes.get(kind)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::emit;

    #[test]
    fn what_names_a_service_is_read_as_that_service() {
        let service: SocketAddrV4 = "192.0.2.7:80".parse().expect("an address");
        let built = emit(&tcp(service));
        let read = virtual_address(Attributes(&built));
        let expected = Virtual::Address {
            protocol: 6,
            address: service.into(),
        };
        assert_eq!(read, Some(expected));
    }

    #[test]
    fn a_real_server_is_read() {
        let mut ip = vec![192, 0, 2, 1];
        ip.resize(16, 0);
        let built = emit(&[
            bytes(D_ADDRESS, &ip),
            bytes(D_PORT, &80u16.to_be_bytes()),
            number(D_FORWARD, 3 | 0x100),
            number(D_WEIGHT, 5),
        ]);
        let read = destination(Attributes(&built), 2).expect("a real server");
        assert_eq!(read.address.to_string(), "192.0.2.1:80");
        assert_eq!((read.forward, read.weight), (Forward::Route, Some(5)));
        assert_eq!(destination(Attributes(&built), 99), None);
    }
}
