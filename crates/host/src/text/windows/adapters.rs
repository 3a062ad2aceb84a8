//! Adapters: kind, RSC, LSO, counters.

use super::super::Text;
use super::forms::records;
use super::record::{Cell, Record, name};
use crate::model::{Driver, Feature, Interface, Platform, Setting, Snapshot};
use crate::names::CUT_DESCRIPTION;
use crate::text::notes::{Notes, mac};

/// Calls `read` with each adapter of a text.
fn each(
    text: &Text<'_>,
    snapshot: &mut Snapshot,
    read: fn(&Record, &mut Interface, &mut Notes<'_>),
) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    for record in records(text, &mut notes) {
        if let Some(name) = name(&record, &mut notes) {
            if snapshot.interfaces.contains_key(name) {
                let why = "a second adapter of this name: perhaps of another host, left out";
                notes.add(&format!("again {name}"), name, why);
                continue;
            }
            let interface = snapshot.interface_mut(name);
            describe(&record, interface, &mut notes);
            read(&record, interface, &mut notes);
        }
    }
    notes.finish(snapshot);
}

fn describe(record: &Record, to: &mut Interface, notes: &mut Notes<'_>) {
    let keys = ["InterfaceDescription", "ifDesc"];
    to.description = record.any(&keys, notes).map(str::to_owned);
    if let Some(Cell::Cut(part)) = keys.iter().find_map(|key| record.cell(key)) {
        let part = Setting::Text(part.clone());
        to.properties.insert(CUT_DESCRIPTION.to_owned(), part);
    }
    // Adapters that a virtual switch makes for its host, whatever they were renamed to.
    let description = to.description.as_deref().unwrap_or_default();
    if description.starts_with("Hyper-V Virtual Ethernet Adapter") || is_named_so(&to.name) {
        to.kind = Some("vethernet".to_owned());
    }
}

/// `vEthernet (vSwitch0)`, the name that it gets, in every language.
fn is_named_so(name: &str) -> bool {
    name.starts_with("vEthernet (") && name.ends_with(')')
}

pub(super) fn read_rsc(text: &Text<'_>, snapshot: &mut Snapshot) {
    each(text, snapshot, |record, to, notes| {
        for (feature, family) in [("rsc-ipv4", "IPv4"), ("rsc-ipv6", "IPv6")] {
            rsc(feature, family, record, to, notes);
        }
    });
}

/// RSC may be enabled and not work; the reason is a property.
fn rsc(feature: &str, family: &str, record: &Record, to: &mut Interface, notes: &mut Notes<'_>) {
    let wanted = record.flag(&format!("{family}Enabled"), notes);
    let state = format!("{family}OperationalState");
    match record.flag(&state, notes) {
        Some(active) => {
            let works = Feature {
                active,
                wanted,
                fixed: None,
            };
            to.features.insert(feature.to_owned(), works);
        }
        None if wanted.is_some() => {
            let why = "whether it is enabled is there, whether it works is not";
            notes.add(&state, &state, why);
        }
        None => {}
    }
    let reason = format!("{family}FailureReason");
    if let Some(value) = record.setting(&reason, notes) {
        to.properties.insert(reason, value);
    }
}

pub(super) fn read_lso(text: &Text<'_>, snapshot: &mut Snapshot) {
    each(text, snapshot, |record, to, notes| {
        let switches = [
            ("lso-v1-ipv4", "V1IPv4Enabled"),
            ("lso-v2-ipv4", "IPv4Enabled"),
            ("lso-v2-ipv6", "IPv6Enabled"),
        ];
        for (feature, key) in switches {
            if let Some(active) = record.flag(key, notes) {
                let feature_of = Feature {
                    active,
                    ..Feature::default()
                };
                to.features.insert(feature.to_owned(), feature_of);
            }
        }
    });
}

pub(super) fn read_adapters(text: &Text<'_>, snapshot: &mut Snapshot) {
    each(text, snapshot, |record, to, notes| {
        let index = record.any(&["ifIndex", "InterfaceIndex"], notes);
        to.index = index.and_then(|index| index.parse().ok());
        to.mac = record.text("MacAddress", notes).and_then(mac);
        to.mtu_bytes = record.number("MtuSize", notes);
        status(record, to, notes);
        // Without a carrier it is nothing, or what the card could do.
        let linked = to.carrier == Some(true);
        to.speed_bps = speed(record, notes).filter(|_| linked);
        driver(record, to, notes);
        if to.kind.is_none() && record.flag("HardwareInterface", notes) == Some(true) {
            to.kind = Some("physical".to_owned());
        }
    });
}

fn status(record: &Record, to: &mut Interface, notes: &mut Notes<'_>) {
    let Some(status) = record.text("Status", notes) else {
        // `| fl` shows its parts instead.
        to.up = record
            .text("AdminStatus", notes)
            .and_then(|status| is(status, "Up", "Down"));
        let state = record.text("MediaConnectionState", notes);
        to.carrier = state.and_then(|state| is(state, "Connected", "Disconnected"));
        return;
    };
    (to.up, to.carrier) = match status {
        "Up" => (Some(true), Some(true)),
        "Disconnected" => (Some(true), Some(false)),
        "Disabled" => (Some(false), None),
        "Not Present" => (None, None),
        _ => {
            notes.add("status", &format!("Status `{status}`"), "not understood");
            (None, None)
        }
    };
}

/// One of two words; others are not understood.
fn is(word: &str, yes: &str, no: &str) -> Option<bool> {
    (word == yes || word == no).then_some(word == yes)
}

/// `10 Gbps`; with `| fl` the unit may be in the property's name.
fn speed(record: &Record, notes: &mut Notes<'_>) -> Option<u64> {
    let units = [
        ("Gbps", 1_000_000_000.0),
        ("Mbps", 1_000_000.0),
        ("Kbps", 1e3),
        ("bps", 1.0),
    ];
    let named = |(unit, _): &&(&str, f64)| record.has(&format!("LinkSpeed({unit})"));
    if let Some((unit, factor)) = units.iter().find(named) {
        return times(record.text(&format!("LinkSpeed({unit})"), notes)?, *factor);
    }
    let (number, unit) = record.text("LinkSpeed", notes)?.split_once(' ')?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    times(number, *factor)
}

fn times(number: &str, factor: f64) -> Option<u64> {
    let digits = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let bits = number.parse::<f64>().ok().filter(|_| digits)? * factor;
    // Whole bits, of less than the fastest link by far.
    (bits < 1e15).then(|| format!("{bits:.0}").parse().ok())?
}

fn driver(record: &Record, to: &mut Interface, notes: &mut Notes<'_>) {
    let file = record.text("DriverFileName", notes);
    let version = record.any(&["DriverVersionString", "DriverVersion"], notes);
    if let Some(file) = file {
        to.driver = Some(Driver {
            name: file.strip_suffix(".sys").unwrap_or(file).to_owned(),
            version: version.map(str::to_owned),
            ..Driver::default()
        });
    }
}

/// Counters that every platform has.
const COUNTERS: &[(&str, &str)] = &[
    ("ReceivedBytes", "rx_bytes"),
    ("SentBytes", "tx_bytes"),
    ("ReceivedPacketErrors", "rx_errors"),
    ("OutboundPacketErrors", "tx_errors"),
    ("ReceivedDiscardedPackets", "rx_dropped"),
    ("OutboundDiscardedPackets", "tx_dropped"),
];

/// Others, by their own names.
const STATISTICS: &[&str] = &[
    "ReceivedUnicastPackets",
    "ReceivedMulticastPackets",
    "ReceivedBroadcastPackets",
    "SentUnicastPackets",
    "SentMulticastPackets",
    "SentBroadcastPackets",
];

pub(super) fn read_statistics(text: &Text<'_>, snapshot: &mut Snapshot) {
    each(text, snapshot, |record, to, notes| {
        for (key, counter) in COUNTERS {
            let count = record.number(key, notes);
            let counter = count.map(|count| ((*counter).to_owned(), count));
            to.counters.extend(counter);
        }
        for key in STATISTICS {
            let count = record.number(key, notes);
            to.statistics
                .extend(count.map(|count| ((*key).to_owned(), count)));
        }
        if let Some(Cell::Nested(counts)) = record.cell("RscStatistics") {
            let named = counts.iter().filter(|(key, _)| key.starts_with("Coalesc"));
            let named = named.map(|(key, count)| (format!("Rsc.{key}"), *count));
            to.statistics.extend(named);
        }
    });
}
