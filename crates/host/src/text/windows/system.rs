//! Which Windows it is: `ver`, `systeminfo`, `Get-ComputerInfo`, the registry, .NET.

use super::super::Text;
use super::forms::records;
use super::record::{LANGUAGE, Record};
use crate::model::{Distribution, Platform, Snapshot};
use crate::text::notes::{Notes, first_line, first_lines, whole_lines};

/// `Microsoft Windows [Version 10.0.17763.1999]`: the word differs between languages only.
pub(super) fn recognises_ver(text: &Text<'_>) -> bool {
    first_lines(text).take(2).count() == 1 && ver(first_line(text)).is_some()
}

fn ver(line: &str) -> Option<&str> {
    let inside = line.trim().strip_prefix("Microsoft Windows [")?;
    let version = inside.strip_suffix(']')?.rsplit(' ').next()?;
    is_version(version).then_some(version)
}

fn is_version(text: &str) -> bool {
    let number = |part: &str| part.parse::<u32>().is_ok();
    text.split('.').count() >= 3 && text.split('.').all(number)
}

pub(super) fn read_ver(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let version = ver(whole_lines(text, &mut notes));
    if let Some(version) = version {
        snapshot.platform = Some(Platform::Windows);
        snapshot.kernel = Some(version.to_owned());
    }
    notes.finish(snapshot);
}

/// Label and value of `OS Name:          Microsoft Windows Server 2019`.
fn labelled(line: &str) -> Option<(&str, &str)> {
    let (label, value) = line.split_once(':')?;
    let top = !label.starts_with(' ') && value.starts_with([' ', '\u{a0}']);
    top.then(|| (label.trim_end(), value.trim()))
}

/// The first three lines are host, product and version in every language.
pub(super) fn recognises_systeminfo(text: &Text<'_>) -> bool {
    let lines: Vec<_> = first_lines(text).take(3).filter_map(labelled).collect();
    // What findstr leaves of it, as Microsoft's documents have it, has no host.
    let ([_, (_, product), (_, version)] | [("OS Name", product), ("OS Version", version)]) =
        lines.as_slice()
    else {
        return false;
    };
    let version = version.split(' ').next().unwrap_or_default();
    product.contains("Windows") && is_version(version)
}

pub(super) fn read_systeminfo(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    let body = whole_lines(text, &mut notes);
    let labels: Vec<_> = body.lines().filter_map(labelled).collect();
    let english = labels
        .first()
        .is_some_and(|(label, _)| matches!(*label, "Host Name" | "OS Name"));
    // The first three are the same in every language.
    let first = ["Host Name", "OS Name", "OS Version"].into_iter();
    if !english && !labels.is_empty() {
        notes.add("language", "systeminfo", LANGUAGE);
        for (label, (_, value)) in first.zip(labels) {
            fact(label, value, snapshot, &mut notes);
        }
        return notes.finish(snapshot);
    }
    for (label, value) in labels {
        fact(label, value, snapshot, &mut notes);
    }
    notes.finish(snapshot);
}

fn fact(label: &str, value: &str, snapshot: &mut Snapshot, notes: &mut Notes<'_>) {
    match label {
        "Host Name" if snapshot.name.is_some() => {
            let why = "a second host in one text: the first is taken";
            notes.add("second", "systeminfo", why);
        }
        "Host Name" => snapshot.name = Some(value.to_owned()),
        "OS Name" if snapshot.distribution.is_none() => snapshot.distribution = product(value),
        "OS Version" if snapshot.kernel.is_none() => {
            let version = value
                .split(' ')
                .next()
                .filter(|version| is_version(version));
            snapshot.kernel = version.map(str::to_owned);
        }
        _ => {}
    }
}

/// `Microsoft Windows Server 2012 R2 Datacenter`.
fn product(name: &str) -> Option<Distribution> {
    let bare = name.strip_prefix("Microsoft ").unwrap_or(name);
    let known = [
        ("Windows Server ", "windows-server"),
        ("Hyper-V Server ", "hyper-v-server"),
        ("Windows ", "windows"),
    ];
    let mut begins = known.iter();
    let (id, rest) = begins.find_map(|(begin, id)| Some((*id, bare.strip_prefix(begin)?)))?;
    let mut words = rest.split(' ');
    let year = words
        .next()
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let second = words.next().filter(|word| *word == "R2");
    let version = match (year, second) {
        (Some(year), Some(second)) => Some(format!("{year} {second}")),
        (year, _) => year.map(str::to_owned),
    };
    Some(Distribution {
        id: id.to_owned(),
        version,
        name: Some(name.to_owned()),
    })
}

/// `Get-ComputerInfo`, or the registry's CurrentVersion.
pub(super) fn read_computer(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    let all = records(text, &mut notes);
    if all.len() > 1 {
        notes.add(
            "several",
            "a second host",
            "several objects: the first is taken",
        );
    }
    if let Some(record) = all.first() {
        snapshot.kernel = build(record, &mut notes);
        // The registry's ProductName is wrong: on Windows 11 it says Windows 10.
        snapshot.distribution = record.text("OsName", &mut notes).and_then(product);
        let name = record.any(&["CsDNSHostName", "CsName"], &mut notes);
        snapshot.name = name.map(str::to_owned);
        let cpus = record.number("CsNumberOfLogicalProcessors", &mut notes);
        snapshot.cpus = cpus.and_then(|cpus| cpus.try_into().ok());
    }
    notes.finish(snapshot);
}

/// `10.0.17763`, with the update's revision if it is there.
fn build(record: &Record, notes: &mut Notes<'_>) -> Option<String> {
    let major = record.text("CurrentMajorVersionNumber", notes);
    let minor = record.text("CurrentMinorVersionNumber", notes);
    let build = record.text("CurrentBuild", notes);
    let registry = major.zip(minor).zip(build);
    let registry = registry.map(|((major, minor), build)| format!("{major}.{minor}.{build}"));
    let version = record.text("OsVersion", notes).map(str::to_owned);
    let version = version.or(registry).filter(|version| is_version(version))?;
    let revision = record.any(&["WindowsUBR", "UBR"], notes);
    match revision.filter(|revision| revision.parse::<u32>().is_ok()) {
        Some(revision) => Some(format!("{version}.{revision}")),
        None => Some(version),
    }
}

/// .NET Framework says `10.0.17763.0` whatever the revision is: it is left out.
pub(super) fn read_os_version(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    for record in records(text, &mut notes).iter().take(1) {
        let version = record.text("VersionString", &mut notes);
        let version = version.and_then(|text| text.strip_prefix("Microsoft Windows NT "));
        let version = version
            .map(str::to_owned)
            .or_else(|| in_parts(record, &mut notes));
        if let Some(version) = version.filter(|version| is_version(version)) {
            snapshot.platform = Some(Platform::Windows);
            let version = version.strip_suffix(".0").unwrap_or(&version);
            snapshot.kernel = Some(version.to_owned());
        }
    }
    notes.finish(snapshot);
}

/// `[Environment]::OSVersion.Version`
fn in_parts(record: &Record, notes: &mut Notes<'_>) -> Option<String> {
    let parts = ["Major", "Minor", "Build"].map(|part| record.text(part, notes));
    let parts: Option<Vec<&str>> = parts.into_iter().collect();
    parts.map(|parts| parts.join("."))
}
