//! Physical adapters.

use super::super::Text;
use super::blocks::{Block, blocks, setting, split};
use super::table::{Row, get, headings, rows};
use crate::model::{Driver, Interface, Platform, Snapshot};
use crate::text::notes::{Notes, first_line, first_lines, mac, quoted, whole_lines};

/// The adapter of a name, new to the snapshot; `None` if it was read before.
fn nic<'s>(name: &str, to: &'s mut Snapshot, notes: &mut Notes<'_>) -> Option<&'s mut Interface> {
    if to.interfaces.contains_key(name) {
        let why = "a second adapter of this name: another host or time, left out";
        notes.add(&format!("again {name}"), name, why);
        return None;
    }
    let interface = to.interface_mut(name);
    interface.kind = Some("physical".to_owned());
    Some(interface)
}

fn driver(name: &str, bus: Option<&str>) -> Option<Driver> {
    Some(Driver {
        name: name.to_owned(),
        bus: bus.map(str::to_owned),
        ..Driver::default()
    })
}

pub(super) fn recognises_list(text: &Text<'_>) -> bool {
    let headings = headings(text.body).unwrap_or_default();
    let has = |name: &str| headings.contains(&name);
    has("Name") && has("PCI Device") && has("Link Status")
}

pub(super) fn read_list(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let body = whole_lines(text, &mut notes);
    for row in rows(body, &mut notes) {
        if let Some(interface) = get(&row, "Name").and_then(|name| nic(name, snapshot, &mut notes))
        {
            listed(&row, interface);
        }
    }
    notes.finish(snapshot);
}

fn listed(row: &Row<'_>, to: &mut Interface) {
    let up = |heading: &str| match get(row, heading) {
        Some("Up") => Some(true),
        Some("Down") => Some(false),
        _ => None,
    };
    to.driver = get(row, "Driver").and_then(|name| driver(name, get(row, "PCI Device")));
    to.up = up("Admin Status");
    to.carrier = up("Link Status");
    let mbps = get(row, "Speed").filter(|_| to.carrier == Some(true));
    to.speed_bps = mbps.and_then(|mbps| mbps.parse::<u64>().ok()?.checked_mul(1_000_000));
    to.mac = get(row, "MAC Address").and_then(mac);
    to.mtu_bytes = get(row, "MTU").and_then(|mtu| mtu.parse().ok());
    to.description = get(row, "Description").map(str::to_owned);
}

/// The headings of a line, as words.
fn is_header(text: &Text<'_>, header: &str) -> bool {
    let words = first_line(text).split_whitespace();
    words.eq(header.split(' '))
}

pub(super) fn recognises_esxcfg(text: &Text<'_>) -> bool {
    is_header(
        text,
        "Name PCI Driver Link Speed Duplex MAC Address MTU Description",
    )
}

pub(super) fn read_esxcfg(text: &Text<'_>, snapshot: &mut Snapshot) {
    table(text, snapshot, |words, line, to| {
        let [_, pci, module, link, speed, _, address, mtu, ..] = words else {
            return None;
        };
        let carrier = match *link {
            "Up" => true,
            "Down" => false,
            _ => return None,
        };
        let mbps: u64 = speed.strip_suffix("Mbps")?.parse().ok()?;
        to.mtu_bytes = Some(mtu.parse().ok()?);
        to.mac = Some(mac(address)?);
        to.driver = driver(module, Some(pci));
        to.carrier = Some(carrier);
        to.speed_bps = mbps.checked_mul(1_000_000).filter(|_| carrier);
        to.description = behind(line, 8);
        Some(())
    });
}

/// What follows a number of words.
fn behind(line: &str, words: usize) -> Option<String> {
    let mut rest = line.trim();
    for _ in 0..words {
        let (_, behind) = rest.split_once(char::is_whitespace)?;
        rest = behind.trim_start();
    }
    (!rest.is_empty()).then(|| rest.to_owned())
}

type ReadRow = fn(&[&str], &str, &mut Interface) -> Option<()>;

/// Reads a table by its words, the first of which is the name.
fn table(text: &Text<'_>, snapshot: &mut Snapshot, read: ReadRow) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let body = whole_lines(text, &mut notes);
    let lines = body.lines().filter(|line| !line.trim().is_empty());
    for line in lines.skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut interface = Interface::default();
        if read(&words, line, &mut interface).is_none() {
            notes.add("row", &quoted(line), "not understood");
        } else if let Some(name) = words.first() {
            (*name).clone_into(&mut interface.name);
            interface.kind = Some("physical".to_owned());
            if let Some(slot) = nic(name, snapshot, &mut notes) {
                *slot = interface;
            }
        }
    }
    notes.finish(snapshot);
}

/// Enhanced network stack. Descriptions are cut to 17 characters, and not taken.
pub(super) fn recognises_ens(text: &Text<'_>) -> bool {
    let header = first_line(text).split_whitespace();
    let words = "Name Driver ENS Capable ENS Driven INTR Capable INTR Enabled MAC Address";
    let mut header = header.into_iter();
    words.split(' ').all(|word| header.next() == Some(word))
}

pub(super) fn read_ens(text: &Text<'_>, snapshot: &mut Snapshot) {
    table(text, snapshot, |words, _, to| {
        let [_, module, flags @ ..] = words else {
            return None;
        };
        let names = ["ENS Capable", "ENS Driven", "INTR Capable", "INTR Enabled"];
        let address = flags.get(names.len())?;
        for (name, flag) in names.iter().zip(flags) {
            let flag = flag.to_ascii_lowercase();
            let value = flag.parse::<bool>().ok()?;
            let value = crate::model::Setting::Flag(value);
            to.properties.insert((*name).to_owned(), value);
        }
        to.driver = driver(module, None);
        to.mac = Some(mac(address)?);
        Some(())
    });
}

pub(super) fn recognises_get(text: &Text<'_>) -> bool {
    let first = first_line(text);
    let first = first
        .trim_start()
        .starts_with("Advertised Auto Negotiation: ");
    first
        && first_lines(text)
            .take(40)
            .any(|line| line.trim() == "Driver Info:")
}

/// Keys of `nic get` that are about the link's partner, waking up and the like.
const KNOWN: &[&str] = &[
    "Advertised Auto Negotiation",
    "Advertised Link Modes",
    "Auto Negotiation",
    "Backing DPUId",
    "Cable Type",
    "Current Message Level",
    "Driver Info",
    "PHYAddress",
    "Pause Autonegotiate",
    "Pause RX",
    "Pause TX",
    "Supported Ports",
    "Supports Auto Negotiation",
    "Supports Pause",
    "Supports Wakeon",
    "Transceiver",
    "Virtual Address",
    "Wakeon",
    "Link Detected",
    "Link Status",
    "Name",
    "Bus Info",
    "Driver",
    "Firmware Version",
    "Version",
    "RSS",
    "Speed",
    "Duplex",
];

pub(super) fn read_get(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let body = whole_lines(text, &mut notes);
    // Some copies lost the indentation of the first line.
    let body = body
        .lines()
        .map(|line| format!(" {line}\n"))
        .collect::<String>();
    for block in blocks(&body, &mut notes) {
        for one in split(block, "Advertised Auto Negotiation") {
            got(text, &one, snapshot, &mut notes);
        }
    }
    notes.finish(snapshot);
}

/// `esxcli network nic get -n vmnic0`.
fn of_command<'a>(text: &Text<'a>) -> Option<&'a str> {
    let command = text.command?;
    let mut words = command.split_whitespace();
    let about = command.contains("network nic");
    words.find(|word| about && ["-n", "--nic-name"].contains(word))?;
    words.next()
}

/// The adapter of one output; several may be in a text, then the command names none of them.
fn got(text: &Text<'_>, block: &Block<'_>, snapshot: &mut Snapshot, notes: &mut Notes<'_>) {
    for (key, _) in block.fields.iter().filter(|(key, _)| !KNOWN.contains(key)) {
        notes.add(&format!("key {key}"), &quoted(key), "not understood");
    }
    let alone = snapshot.interfaces.is_empty();
    let name = block
        .get("Name")
        .or_else(|| of_command(text).filter(|_| alone));
    let Some(name) = name else {
        notes.add(
            "name",
            "the adapter",
            "it is not named, nor is it in the command",
        );
        return;
    };
    if let Some(to) = nic(name, snapshot, notes) {
        fill(block, to);
    }
}

fn fill(block: &Block<'_>, to: &mut Interface) {
    to.driver = block.get("Driver").map(|name| Driver {
        name: name.to_owned(),
        version: block.get("Version").map(str::to_owned),
        firmware: block.get("Firmware Version").map(str::to_owned),
        bus: block.get("Bus Info").map(str::to_owned),
    });
    to.carrier = block.flag("Link Detected");
    for key in ["Auto Negotiation", "Pause RX", "Pause TX"] {
        let value = block.get(key).map(|value| (key.to_owned(), setting(value)));
        to.properties.extend(value);
    }
}

/// Counters that every platform has.
const COUNTERS: &[(&str, &str)] = &[
    ("Packets received", "rx_packets"),
    ("Packets sent", "tx_packets"),
    ("Bytes received", "rx_bytes"),
    ("Bytes sent", "tx_bytes"),
    ("Receive packets dropped", "rx_dropped"),
    ("Transmit packets dropped", "tx_dropped"),
    ("Total receive errors", "rx_errors"),
    ("Total transmit errors", "tx_errors"),
];

fn stats_of(line: &str) -> Option<&str> {
    line.trim().strip_prefix("NIC statistics for ")
}

pub(super) fn recognises_stats(text: &Text<'_>) -> bool {
    stats_of(first_line(text)).is_some()
}

pub(super) fn read_stats(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let body = whole_lines(text, &mut notes);
    for block in blocks(body, &mut notes) {
        let Some(name) = stats_of(block.title) else {
            notes.line(block.title);
            continue;
        };
        let Some(to) = nic(name.trim_end_matches(':'), snapshot, &mut notes) else {
            continue;
        };
        for (key, value) in &block.fields {
            match (value.parse(), COUNTERS.iter().find(|(name, _)| name == key)) {
                (Ok(count), Some((_, name))) => drop(to.counters.insert((*name).to_owned(), count)),
                (Ok(count), None) => drop(to.statistics.insert((*key).to_owned(), count)),
                (Err(_), _) => notes.line(key),
            }
        }
    }
    notes.finish(snapshot);
}
