//! Outputs of ethtool that do not say which interface they are about: `-i`, `-S` and
//! `-n eth0 rx-flow-hash udp4`.

use super::release;
use crate::model::{Driver, Interface, Rss, Snapshot};
use crate::text::linux::out::Out;
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `ethtool -i`.
pub(in crate::text::linux) const DRIVER: Reader = Reader {
    name: "ethtool -i",
    recognises: |text| {
        let mut lines = first_lines(text);
        lines
            .next()
            .is_some_and(|line| line.starts_with("driver: "))
            && lines
                .next()
                .is_some_and(|line| line.starts_with("version:"))
    },
    read: |text, snapshot| read(text, snapshot, DRIVER.name, driver),
};

/// `ethtool -S`.
pub(in crate::text::linux) const STATISTICS: Reader = Reader {
    name: "ethtool -S",
    recognises: |text| first_line(text) == "NIC statistics:",
    read: |text, snapshot| read(text, snapshot, STATISTICS.name, statistics),
};

/// `ethtool -n eth0 rx-flow-hash udp4`.
pub(in crate::text::linux) const HASHING: Reader = Reader {
    name: "ethtool -n rx-flow-hash",
    recognises: |text| flow_type(first_line(text)).is_some(),
    read: |text, snapshot| read(text, snapshot, HASHING.name, hashing),
};

type Add = fn(&mut Out<'_>, &mut Interface, &Text<'_>);

fn read(text: &Text<'_>, snapshot: &mut Snapshot, name: &'static str, add: Add) {
    let mut out = Out::linux(text, name, snapshot);
    if let Some(name) = out.interface_of_command() {
        let mut block = Interface::default();
        add(&mut out, &mut block, text);
        out.interface(name, block);
    }
    out.finish();
}

fn driver(out: &mut Out<'_>, block: &mut Interface, _: &Text<'_>) {
    let mut driver = Driver::default();
    for line in out.lines().filter(|line| !line.is_empty()) {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        let value = Some(value.trim()).filter(|value| !value.is_empty() && *value != "N/A");
        let value = value.map(str::to_owned);
        match key {
            "driver" if driver.name.is_empty() => driver.name = value.unwrap_or_default(),
            "version" => driver.version = value,
            "firmware-version" => driver.firmware = value,
            "bus-info" => driver.bus = value,
            _ if key == "expansion-rom-version" || key.starts_with("supports-") => {}
            _ => out.unknown(line),
        }
    }
    let kernel = release::kernel(&driver).map(str::to_owned);
    out.snapshot.kernel = kernel.or(out.snapshot.kernel.take());
    block.kind = kind(&driver).map(str::to_owned);
    block.driver = Some(driver).filter(|driver| !driver.name.is_empty());
}

/// What kind of interface has this driver. Devices on PCI are physical.
fn kind(driver: &Driver) -> Option<&'static str> {
    let kinds = [
        ("bonding", "bond"),
        ("bridge", "bridge"),
        ("802.1Q VLAN Support", "vlan"),
        ("veth", "veth"),
        ("tun", "tun"),
        ("macvlan", "macvlan"),
        ("ipvlan", "ipvlan"),
        ("vxlan", "vxlan"),
        ("geneve", "geneve"),
        ("team", "team"),
        ("dummy", "dummy"),
        ("openvswitch", "openvswitch"),
        ("wireguard", "wireguard"),
    ];
    let known = kinds.iter().find(|(name, _)| *name == driver.name);
    let physical = || {
        driver
            .bus
            .as_deref()
            .is_some_and(is_pci)
            .then_some("physical")
    };
    known.map(|(_, kind)| *kind).or_else(physical)
}

/// `0000:03:00.0`
fn is_pci(bus: &str) -> bool {
    let parts: Vec<&str> = bus.split([':', '.']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    lengths == [4, 2, 2, 1] && parts.iter().all(hex)
}

fn statistics(out: &mut Out<'_>, block: &mut Interface, _: &Text<'_>) {
    for line in out.lines().skip(1).filter(|line| !line.is_empty()) {
        let (name, value) = line.trim().rsplit_once(':').unwrap_or(("", ""));
        match value.trim().parse() {
            Ok(value) if !name.is_empty() => put(out, block, name.trim_end(), value),
            _ => out.unknown(line),
        }
    }
}

fn put(out: &mut Out<'_>, block: &mut Interface, name: &str, value: u64) {
    match block.statistics.get(name) {
        Some(known) if *known != value => out.twice(name),
        _ => {
            block.statistics.insert(name.to_owned(), value);
        }
    }
}

/// `udp4` of `UDP over IPV4 flows use these fields for computing Hash flow key:`
fn flow_type(line: &str) -> Option<String> {
    let flows = line.strip_suffix(" flows use these fields for computing Hash flow key:")?;
    let (protocol, version) = flows.split_once(" over IPV")?;
    let known = matches!(protocol, "TCP" | "UDP" | "SCTP") && matches!(version, "4" | "6");
    known.then(|| protocol.to_ascii_lowercase() + version)
}

fn hashing(out: &mut Out<'_>, block: &mut Interface, text: &Text<'_>) {
    let Some(flow) = flow_type(first_line(text)) else {
        return;
    };
    let mut fields = String::new();
    let mut whole = false;
    for line in out.lines().skip(1) {
        match line {
            "IP SA" => fields.push('s'),
            "IP DA" => fields.push('d'),
            "" | "None" => whole = true,
            _ if line.starts_with("L4 bytes 0 & 1") => fields.push('f'),
            _ if line.starts_with("L4 bytes 2 & 3") => fields.push('n'),
            _ => out.unknown(line),
        }
    }
    // `sd` of a text that is cut could have been `sdfn`; ethtool ends the list with an empty line.
    if whole || fields == "sdfn" {
        let fields = [(flow, fields)].into();
        block.rss = Some(Rss { fields });
    } else {
        out.cut();
    }
}
