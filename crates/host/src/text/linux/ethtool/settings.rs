//! `ethtool eth0`: speed and link.

use crate::model::{Interface, Snapshot};
use crate::text::linux::out::{Out, is_name};
use crate::text::notes::first_line;
use crate::text::{Reader, Text};

/// `ethtool eth0`.
pub(in crate::text::linux) const SETTINGS: Reader = Reader {
    name: "ethtool",
    recognises: |text| header(first_line(text)).is_some() || is_grepped(text),
    read,
};

/// Beginnings of lines that say nothing that the model holds.
const OTHERS: [&str; 22] = [
    "Supported ",
    "Supports ",
    "Advertised ",
    "Link partner ",
    "Duplex",
    "Auto-negotiation",
    "Port",
    "PHYAD",
    "Transceiver",
    "MDI-X",
    "Wake-on",
    "SecureOn",
    "Current message level",
    "Lanes",
    "master-slave",
    "SQI",
    "Cannot get wake-on-lan settings",
    "Cannot get link status",
    "Cannot get device settings",
    "No data available",
    "Link down reason",
    "netlink error",
];

/// `ethtool eth0 | grep Speed`: without the heading, whose interface the command names.
fn is_grepped(text: &Text<'_>) -> bool {
    let mut words = text.command.unwrap_or_default().split_whitespace();
    let asks = words.next().is_some_and(|word| word.ends_with("ethtool"))
        && words
            .next()
            .is_some_and(|word| is_name(word) && !word.starts_with('-'));
    asks && block(first_line(text)).is_some()
}

fn header(line: &str) -> Option<&str> {
    let name = line.strip_prefix("Settings for ")?.strip_suffix(':')?;
    is_name(name).then_some(name)
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, SETTINGS.name, snapshot);
    let grepped = is_grepped(text).then(|| out.interface_of_command());
    let mut name = grepped.flatten().unwrap_or_default();
    for line in out.lines() {
        if let Some(next) = header(line) {
            name = next;
            out.interface(name, Interface::default());
        } else if let Some(block) = block(line) {
            out.interface(name, block);
        } else if !is_other(line) {
            out.unknown(line);
        }
    }
    out.finish();
}

fn block(line: &str) -> Option<Interface> {
    let mut block = Interface::default();
    match line.trim().split_once(": ")? {
        ("Speed", "Unknown!") => {}
        ("Speed", value) => block.speed_bps = Some(speed(value)?),
        ("Link detected", value) => block.carrier = Some(yes(value)?),
        _ => return None,
    }
    Some(block)
}

fn speed(value: &str) -> Option<u64> {
    let mbps: u64 = value.strip_suffix("Mb/s")?.parse().ok()?;
    mbps.checked_mul(1_000_000)
}

/// `no (Autoneg)` has a reason.
fn yes(value: &str) -> Option<bool> {
    match value.split(' ').next()? {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// Known lines, and those that only go on with a list of link modes or message levels.
fn is_other(line: &str) -> bool {
    let line = line.trim();
    let goes_on = !line.contains(':');
    goes_on || OTHERS.iter().any(|other| line.starts_with(other))
}
