//! `Get-VMSwitch` and `Get-VMNetworkAdapter`.

use std::collections::BTreeMap;

use super::super::Text;
use super::forms::records;
use super::record::{Cell, Record, name};
use crate::model::{Platform, Setting, Snapshot, VirtualSwitch};
use crate::text::notes::Notes;

/// Properties kept as they are; the others say nothing of merging or of who uses the switch.
const PROPERTIES: &[&str] = &[
    "AllowManagementOS",
    "BandwidthReservationMode",
    "DefaultQueueVmmqEnabled",
    "DefaultQueueVrssEnabled",
    "EmbeddedTeamingEnabled",
    "IovEnabled",
    "PacketDirectEnabled",
    "PacketDirectInUse",
    "RscOffloadEnabled",
];

pub(super) fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    let all = records(text, &mut notes);
    let asked = asked(text).filter(|_| all.len() == 1);
    for record in all {
        let own = record.text("Name", &mut notes).or(asked);
        let Some(name) = own.or_else(|| name(&record, &mut notes)) else {
            continue;
        };
        if !same_host(&record, snapshot, &mut notes) {
            continue;
        }
        if snapshot.switches.contains_key(name) {
            let why = "a second switch of this name: perhaps of another host, left out";
            notes.add(&format!("again {name}"), name, why);
            continue;
        }
        let switch = switch(&record, &mut notes);
        snapshot.switches.insert(name.to_owned(), switch);
    }
    notes.finish(snapshot);
}

/// The switch that the command names: `Get-VMSwitch -Name vSwitch0 | Select-Object *RSC*`.
fn asked<'a>(text: &Text<'a>) -> Option<&'a str> {
    let command = text.command?.split('|').next()?;
    let mut words = command.split_whitespace();
    let is_it = words.next()?.eq_ignore_ascii_case("Get-VMSwitch");
    let first = words.next().filter(|_| is_it)?;
    let name = match first.starts_with('-') {
        true if first.eq_ignore_ascii_case("-Name") => words.next()?,
        true => return None,
        false => first,
    };
    let rest = command.split_once(name).map(|(_, rest)| rest.trim());
    let is_whole = rest.is_some_and(str::is_empty) && !name.contains(['*', ',', '$']);
    is_whole.then(|| name.trim_matches(['"', '\'']))
}

/// Cmdlets can ask other hosts as well: what is not of the first is left out.
fn same_host(record: &Record, snapshot: &mut Snapshot, notes: &mut Notes<'_>) -> bool {
    let Some(name) = record.text("ComputerName", notes) else {
        return true;
    };
    let first = snapshot.name.get_or_insert_with(|| name.to_owned());
    let same = first == name;
    if !same {
        let what = format!("ComputerName `{name}`");
        notes.add("computer", &what, "a second host in one text: left out");
    }
    same
}

fn switch(record: &Record, notes: &mut Notes<'_>) -> VirtualSwitch {
    let mut switch = VirtualSwitch {
        product: Some("hyper-v".to_owned()),
        kind: kind(record, notes),
        software_rsc: record.flag("SoftwareRscEnabled", notes),
        uplinks: uplinks(record, notes),
        ..VirtualSwitch::default()
    };
    for key in PROPERTIES {
        let value = record.setting(key, notes);
        switch
            .properties
            .extend(value.map(|value| ((*key).to_owned(), value)));
    }
    switch
}

/// As text, or as ConvertTo-Json's number of it.
fn kind(record: &Record, notes: &mut Notes<'_>) -> Option<String> {
    let kind = match record.text("SwitchType", notes)? {
        "External" | "2" => "external",
        "Internal" | "1" => "internal",
        "Private" | "0" => "private",
        other => {
            notes.add("type", &format!("SwitchType `{other}`"), "not understood");
            return None;
        }
    };
    Some(kind.to_owned())
}

/// All members of a team, or the one adapter.
fn uplinks(record: &Record, notes: &mut Notes<'_>) -> Vec<String> {
    match record.cell("NetAdapterInterfaceDescriptions") {
        Some(Cell::Many(list)) if !list.is_empty() => list.clone(),
        _ => {
            let one = record.text("NetAdapterInterfaceDescription", notes);
            // What stands for a team is no adapter.
            let one = one.filter(|one| *one != "Teamed-Interface");
            one.map(str::to_owned).into_iter().collect()
        }
    }
}

/// Adapters of guests are no interfaces of the host.
pub(super) fn read_vm_adapters(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    let mut guests: BTreeMap<String, i64> = BTreeMap::new();
    for record in records(text, &mut notes) {
        let is_guest = record.flag("IsManagementOs", &mut notes) == Some(false);
        let switch = record.text("SwitchName", &mut notes);
        if let Some(switch) = switch.filter(|_| is_guest) {
            *guests.entry(switch.to_owned()).or_default() += 1;
        }
    }
    for (switch, number) in guests {
        let switch = snapshot.switches.entry(switch).or_default();
        let guests = Setting::Number(number);
        switch
            .properties
            .insert("guest adapters".to_owned(), guests);
    }
    notes.finish(snapshot);
}
