//! The network stack of a namespace: sysctls, counters, address translation, IPVS.

use super::host::has_module;
use super::unread::{Unreads, why};
use crate::model::{IpvsDestination, IpvsService, Nat, Stack};
use crate::sysctls::{CONFS, FOLDERS, LONGEST, is_secret};
use crate::text::linux::files;
use coalescope_netlink::ipvs::{self, Destination, Forward, Service, Virtual};
use coalescope_netlink::nftables;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Where sysctls are.
const SYSCTLS: &str = "/proc/sys/";

/// Reads the stack of the calling thread's namespace.
pub(super) fn read(stack: &mut Stack, inside: &str, unread: &mut Unreads) {
    stack.sysctls = sysctls();
    if stack.sysctls.is_empty() {
        unread.note(format!("sysctls{inside}"), "/proc/sys/net is not there");
    }
    stack.counters = counters(inside, unread);
    stack.nat = nat(inside, unread);
    stack.ipvs = services(inside, unread);
}

fn sysctls() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (folder, start) in FOLDERS {
        for name in entries(folder) {
            if name.starts_with(start) {
                add(&mut all, &format!("{folder}/{name}"));
            }
        }
    }
    for (folder, setting) in CONFS {
        for interface in entries(folder) {
            add(&mut all, &format!("{folder}/{interface}/{setting}"));
        }
    }
    all
}

/// Names in a folder of sysctls; none where it is not.
fn entries(folder: &str) -> Vec<String> {
    let list = fs::read_dir(Path::new(SYSCTLS).join(folder));
    let names = list.into_iter().flatten().flatten();
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Some may only be written, or be read by root alone: those are nobody's business.
fn add(all: &mut BTreeMap<String, String>, path: &str) {
    let file = Path::new(SYSCTLS).join(path);
    let public = fs::metadata(&file).is_ok_and(|file| file.permissions().mode() & 0o004 != 0);
    if !public || is_secret(path) {
        return;
    }
    if let Ok(value) = fs::read_to_string(file) {
        let value = value.trim_end();
        if value.len() <= LONGEST {
            all.insert(files::dotted(path), value.to_owned());
        }
    }
}

fn counters(inside: &str, unread: &mut Unreads) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for file in ["snmp", "netstat", "snmp6"] {
        let path = format!("/proc/thread-self/net/{file}");
        match fs::read_to_string(&path) {
            Ok(table) if file == "snmp6" => {
                let known = files::listed_counters(&table).flatten();
                counters.extend(known.map(|(name, value)| (name.to_owned(), value)));
            }
            Ok(table) => counters.extend(files::paired_counters(&table).into_iter().flatten()),
            // A kernel without IPv6 has no counters of it.
            Err(error) if file == "snmp6" && error.kind() == ErrorKind::NotFound => {}
            Err(error) => unread.note(format!("/proc/net/{file}{inside}"), why(&error)),
        }
    }
    counters
}

fn nat(inside: &str, unread: &mut Unreads) -> Option<Nat> {
    let nat = Nat {
        nftables: nftables(inside, unread),
        iptables: iptables(inside, unread),
        pf: None,
    };
    Some(nat).filter(|nat| *nat != Nat::default())
}

/// Without `nf_tables` in the kernel there are no chains of it.
fn nftables(inside: &str, unread: &mut Unreads) -> Option<bool> {
    if !has_module("nf_tables") {
        return Some(false);
    }
    match nftables::nat_chains() {
        Ok(chains) => Some(!chains.is_empty()),
        Err(error) if error.is_unsupported() => Some(false),
        Err(error) => {
            unread.note(format!("address translation by nftables{inside}"), error);
            None
        }
    }
}

/// Tables of the old iptables that are in use; the files are there once one was.
fn iptables(inside: &str, unread: &mut Unreads) -> Option<bool> {
    let mut known = None;
    for family in ["ip", "ip6"] {
        let path = format!("/proc/thread-self/net/{family}_tables_names");
        match fs::read_to_string(&path) {
            Ok(tables) => {
                let nat = tables.lines().any(|table| table == "nat");
                known = Some(known.unwrap_or(false) || nat);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                known = known.or(Some(false));
            }
            Err(error) => {
                unread.note(
                    format!("address translation by iptables{inside}"),
                    why(&error),
                );
                return None;
            }
        }
    }
    known
}

/// Without the family in the kernel there are no services.
fn services(inside: &str, unread: &mut Unreads) -> Option<Vec<IpvsService>> {
    match ipvs::services() {
        Ok(services) => Some(services.into_iter().map(service).collect()),
        Err(error) if error.is_unsupported() => Some(Vec::new()),
        Err(error) => {
            unread.note(format!("IPVS{inside}"), error);
            None
        }
    }
}

fn service(service: Service) -> IpvsService {
    let (protocol, address) = match service.virtual_address {
        Virtual::Address { protocol, address } => (protocol_name(protocol), address.to_string()),
        Virtual::Mark(mark) => ("fwmark".to_owned(), mark.to_string()),
    };
    IpvsService {
        protocol,
        address,
        scheduler: service.scheduler,
        destinations: service.destinations.into_iter().map(destination).collect(),
    }
}

fn protocol_name(number: u16) -> String {
    match number {
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        132 => "sctp".to_owned(),
        other => other.to_string(),
    }
}

fn destination(destination: Destination) -> IpvsDestination {
    let forward = match destination.forward {
        Forward::Nat => "nat".to_owned(),
        Forward::Local => "local".to_owned(),
        Forward::Tunnel => "tunnel".to_owned(),
        Forward::Route => "route".to_owned(),
        Forward::Bypass => "bypass".to_owned(),
        Forward::Other(number) => number.to_string(),
    };
    IpvsDestination {
        address: destination.address.to_string(),
        forward,
        weight: destination.weight.map(u64::from),
    }
}
