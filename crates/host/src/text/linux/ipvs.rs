//! `ipvsadm -Ln` and `/proc/net/ip_vs`.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use super::out::Out;
use crate::model::{IpvsDestination, IpvsService, Snapshot};
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `ipvsadm -Ln` and `/proc/net/ip_vs`, which differ in how addresses are written.
pub(super) const IPVS: Reader = Reader {
    name: "ipvsadm -Ln",
    recognises: |text| {
        first_line(text).starts_with("IP Virtual Server version ")
            && first_lines(text)
                .nth(2)
                .is_some_and(|line| line.contains("Forward Weight ActiveConn"))
    },
    read,
};

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, IPVS.name, snapshot);
    // The kernel's file has one space there, ipvsadm a table.
    let hex = first_lines(text)
        .nth(2)
        .is_some_and(|line| line.contains(":Port Forward"));
    let mut services: Vec<IpvsService> = Vec::new();
    for line in out.lines().filter(|line| !line.is_empty()).skip(3) {
        let destination = line.trim().strip_prefix("-> ");
        match (destination, services.last_mut()) {
            (Some(line), Some(service)) => match destination_of(line, hex) {
                Some(destination) => service.destinations.push(destination),
                None => out.unknown(line),
            },
            _ => match service(line, hex) {
                Some(service) => services.push(service),
                None => out.unknown(line),
            },
        }
    }
    out.snapshot.stack.ipvs = Some(services);
    out.finish();
}

fn service(line: &str, hex: bool) -> Option<IpvsService> {
    let mut words = line.split_whitespace().filter(|word| *word != "IPv6");
    let (protocol, address) = (words.next()?, words.next()?);
    let address = match protocol {
        "TCP" | "UDP" | "SCTP" => address_of(address, hex)?,
        "FWM" => mark(address, hex)?,
        _ => return None,
    };
    let protocol = match protocol {
        "FWM" => "fwmark".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    Some(IpvsService {
        protocol,
        address,
        scheduler: Some(words.next()?.to_owned()),
        destinations: Vec::new(),
    })
}

fn mark(word: &str, hex: bool) -> Option<String> {
    let radix = if hex { 16 } else { 10 };
    u32::from_str_radix(word, radix)
        .ok()
        .map(|mark| mark.to_string())
}

fn destination_of(line: &str, hex: bool) -> Option<IpvsDestination> {
    let mut words = line.split_whitespace();
    let address = address_of(words.next()?, hex)?;
    let forward = match words.next()? {
        "Masq" => "nat",
        "Route" => "route",
        "Tunnel" => "tunnel",
        "Local" => "local",
        "Bypass" => "bypass",
        _ => return None,
    };
    Some(IpvsDestination {
        address,
        forward: forward.to_owned(),
        weight: Some(words.next()?.parse().ok()?),
    })
}

/// Names instead of numbers (ipvsadm without `-n`) stay as they are.
fn address_of(word: &str, hex: bool) -> Option<String> {
    let (address, port) = word.rsplit_once(':')?;
    if !hex {
        return (!address.is_empty() && !port.is_empty()).then(|| word.to_owned());
    }
    let port = u16::from_str_radix(port, 16).ok()?;
    let address = match address
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(ipv6) => ipv6.parse::<Ipv6Addr>().ok()?.into(),
        None => Ipv4Addr::from(u32::from_str_radix(address, 16).ok()?).into(),
    };
    Some(SocketAddr::new(address, port).to_string())
}
