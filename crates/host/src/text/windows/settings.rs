//! Advanced properties of adapters, and the global offload settings.

use super::super::Text;
use super::forms::records;
use super::record::{Cell, LANGUAGE, Record, name, setting};
use crate::model::{Platform, Setting, Snapshot};
use crate::text::notes::{Notes, quoted};

pub(super) fn read_advanced(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    for record in records(text, &mut notes) {
        let Some(name) = name(&record, &mut notes) else {
            continue;
        };
        let Some((key, value)) = advanced(&record, &mut notes) else {
            continue;
        };
        let properties = &mut snapshot.interface_mut(name).properties;
        if *properties
            .entry(key.clone())
            .or_insert_with(|| value.clone())
            != value
        {
            let why = "twice with different values: perhaps of two hosts; the first is taken";
            notes.add(&format!("again {key}"), &quoted(&key), why);
        }
    }
    notes.finish(snapshot);
}

/// Keyword and registry value are the same in every language.
fn advanced(record: &Record, notes: &mut Notes<'_>) -> Option<(String, Setting)> {
    if record.has("RegistryKeyword") {
        let key = record.text("RegistryKeyword", notes)?;
        let value = value(record, notes)?;
        return Some((key.to_owned(), value));
    }
    let key = record.text("DisplayName", notes)?;
    let value = record.text("DisplayValue", notes)?;
    if key.is_ascii() && value.is_ascii() {
        return Some((key.to_owned(), setting(value)));
    }
    notes.add(
        "language",
        &format!("DisplayName {}", quoted(key)),
        LANGUAGE,
    );
    None
}

/// `{9014}`; some keywords have a list of texts.
fn value(record: &Record, notes: &mut Notes<'_>) -> Option<Setting> {
    match record.cell("RegistryValue") {
        Some(Cell::Many(list)) if list.is_empty() => None,
        Some(Cell::Many(list)) if list.len() > 1 => Some(Setting::Text(list.join(","))),
        Some(_) => record.setting("RegistryValue", notes),
        None => record.setting("DisplayValue", notes),
    }
}

/// Settings that are on or off; 0 and 1 in JSON.
const SWITCHES: &[&str] = &[
    "ReceiveSideScaling",
    "ReceiveSegmentCoalescing",
    "Chimney",
    "TaskOffload",
    "NetworkDirect",
    "PacketCoalescingFilter",
];

pub(super) fn read_offload(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    let all = records(text, &mut notes);
    if all.len() > 1 {
        let why = "several objects where a host has one: perhaps of two hosts; the first is taken";
        notes.add("several", "Get-NetOffloadGlobalSetting", why);
    }
    for record in all.iter().take(1) {
        for key in SWITCHES {
            let value = record.text(key, &mut notes).map(switch);
            let named = value.map(|value| ((*key).to_owned(), value));
            snapshot.settings.extend(named);
        }
        let key = "NetworkDirectAcrossIPSubnets";
        let value = record.setting(key, &mut notes);
        snapshot
            .settings
            .extend(value.map(|value| (key.to_owned(), value)));
    }
    notes.finish(snapshot);
}

fn switch(text: &str) -> Setting {
    match text {
        "Enabled" | "1" => Setting::Flag(true),
        "Disabled" | "0" => Setting::Flag(false),
        other => setting(other),
    }
}
