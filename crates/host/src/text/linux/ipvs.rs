//! `ipvsadm -Ln` and `/proc/net/ip_vs`.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use super::out::Out;
use crate::model::{IpvsDestination, IpvsService, Snapshot};
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `ipvsadm -Ln`, with counters in place of weights (`--stats`, `--rate`), and `/proc/net/ip_vs`, whose addresses are written
/// otherwise.
pub(super) const IPVS: Reader = Reader {
    name: "ipvsadm -Ln",
    recognises: |text| {
        let mut lines = first_lines(text);
        let begins = [
            "IP Virtual Server version ",
            "Prot LocalAddress:Port",
            "-> RemoteAddress:Port",
        ];
        begins.iter().all(|begin| {
            lines
                .next()
                .is_some_and(|line| line.trim_start().starts_with(begin))
        })
    },
    read,
};

/// `ipvsadm -S -n`, which `ipvsadm -R` takes.
pub(super) const SAVED: Reader = Reader {
    name: "ipvsadm -S",
    recognises: |text| {
        let line = first_line(text);
        line.starts_with("-A ") && Saved::of(line).service.is_some()
    },
    read: read_saved,
};

fn read_saved(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, SAVED.name, snapshot);
    let mut services: Vec<IpvsService> = Vec::new();
    for line in out.lines().filter(|line| !line.is_empty()) {
        let saved = Saved::of(line);
        match (saved.service(), saved.destination(), services.last_mut()) {
            (Some(service), _, _) => services.push(service),
            (_, Some(destination), Some(service)) => service.destinations.push(destination),
            _ => out.unknown(line),
        }
    }
    out.snapshot.stack.ipvs = Some(services);
    out.finish();
}

/// The options of `-A -t 203.0.113.80:443 -s wlc` or `-a -t 203.0.113.80:443 -r 10.1.1.11:443 -g -w 100`.
#[derive(Default)]
struct Saved<'a> {
    adds: bool,
    service: Option<(&'static str, &'a str)>,
    scheduler: Option<&'a str>,
    server: Option<&'a str>,
    forward: &'static str,
    weight: Option<u64>,
}

impl<'a> Saved<'a> {
    fn of(line: &'a str) -> Self {
        let mut saved = Self {
            adds: line.starts_with("-A "),
            forward: "route",
            ..Self::default()
        };
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "-t" => saved.service = words.next().map(|address| ("tcp", address)),
                "-u" => saved.service = words.next().map(|address| ("udp", address)),
                "--sctp-service" => saved.service = words.next().map(|address| ("sctp", address)),
                "-f" => saved.service = words.next().map(|mark| ("fwmark", mark)),
                "-s" => saved.scheduler = words.next(),
                "-r" => saved.server = words.next(),
                "-w" => saved.weight = words.next().and_then(|weight| weight.parse().ok()),
                "-m" => saved.forward = "nat",
                "-i" => saved.forward = "tunnel",
                _ => {}
            }
        }
        saved
    }

    fn service(&self) -> Option<IpvsService> {
        let (protocol, address) = self.service.filter(|_| self.adds)?;
        Some(IpvsService {
            protocol: protocol.to_owned(),
            address: address.to_owned(),
            scheduler: self.scheduler.map(str::to_owned),
            destinations: Vec::new(),
        })
    }

    fn destination(&self) -> Option<IpvsDestination> {
        Some(IpvsDestination {
            address: self.server?.to_owned(),
            forward: self.forward.to_owned(),
            weight: self.weight,
        })
    }
}

/// What the list has behind the address of a server.
#[derive(Clone, Copy)]
struct Columns {
    /// The kernel's file has addresses in hexadecimal digits.
    hex: bool,
    /// How packets get there, and the weight; else counters.
    forward: bool,
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, IPVS.name, snapshot);
    // The kernel's file has one space there, ipvsadm a table.
    let titles = first_lines(text).nth(2).unwrap_or_default();
    let columns = Columns {
        hex: titles.contains(":Port Forward"),
        forward: titles.contains("Forward"),
    };
    let mut services: Vec<IpvsService> = Vec::new();
    for line in out.lines().filter(|line| !line.is_empty()).skip(3) {
        let destination = line.trim().strip_prefix("-> ");
        match (destination, services.last_mut()) {
            (Some(line), Some(service)) => match destination_of(line, columns) {
                Some(destination) => service.destinations.push(destination),
                None => out.unknown(line),
            },
            _ => match service(line, columns) {
                Some(service) => services.push(service),
                None => out.unknown(line),
            },
        }
    }
    out.snapshot.stack.ipvs = Some(services);
    out.finish();
}

fn service(line: &str, columns: Columns) -> Option<IpvsService> {
    let mut words = line.split_whitespace().filter(|word| *word != "IPv6");
    let (protocol, address) = (words.next()?, words.next()?);
    let address = match protocol {
        "TCP" | "UDP" | "SCTP" => address_of(address, columns.hex)?,
        "FWM" => mark(address, columns.hex)?,
        _ => return None,
    };
    let protocol = match protocol {
        "FWM" => "fwmark".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    Some(IpvsService {
        protocol,
        address,
        scheduler: match columns.forward {
            true => Some(words.next()?.to_owned()),
            false => None,
        },
        destinations: Vec::new(),
    })
}

fn mark(word: &str, hex: bool) -> Option<String> {
    let radix = if hex { 16 } else { 10 };
    u32::from_str_radix(word, radix)
        .ok()
        .map(|mark| mark.to_string())
}

fn destination_of(line: &str, columns: Columns) -> Option<IpvsDestination> {
    let mut words = line.split_whitespace();
    let address = address_of(words.next()?, columns.hex)?;
    if !columns.forward {
        return Some(IpvsDestination {
            address,
            ..IpvsDestination::default()
        });
    }
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
