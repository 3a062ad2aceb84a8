//! Advanced settings, and the version.

use super::super::Text;
use super::blocks::{Block, blocks, field, setting, split};
use crate::model::{Distribution, Platform, Setting, Snapshot};
use crate::text::notes::{Notes, first_line, first_lines, whole_lines};

pub(super) fn recognises_list(text: &Text<'_>) -> bool {
    let mut fields = first_lines(text)
        .take(3)
        .map(|line| line.trim().split_once(':'));
    let path = fields.next().flatten();
    let path = path.is_some_and(|(key, value)| key == "Path" && value.trim().starts_with('/'));
    path && fields.flatten().any(|(key, _)| key == "Type")
}

pub(super) fn read_list(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let body = whole_lines(text, &mut notes);
    // Some copies lost the indentation.
    let body: String = body.lines().map(|line| format!(" {line}\n")).collect();
    for block in blocks(&body, &mut notes) {
        for one in split(block, "Path") {
            advanced(&one, snapshot, &mut notes);
        }
    }
    notes.finish(snapshot);
}

/// Integers and texts have their value under keys of their own.
fn advanced(block: &Block<'_>, snapshot: &mut Snapshot, notes: &mut Notes<'_>) {
    let Some(path) = block.get("Path").filter(|path| path.starts_with("/Net/")) else {
        return;
    };
    let integer = |text: &str| text.parse().ok().map(Setting::Number);
    let value = match block.get("Type") {
        Some("integer") => block.get("Int Value").and_then(integer),
        // A text is one even if it looks like a number; it may well be empty.
        Some("string") if block.has("String Value") => {
            let text = block.get("String Value").unwrap_or_default();
            Some(Setting::Text(text.to_owned()))
        }
        _ => None,
    };
    match value {
        Some(value) => set(path, &value, snapshot, notes),
        None => notes.add("no value", path, "its value is not there"),
    }
}

fn set(path: &str, value: &Setting, snapshot: &mut Snapshot, notes: &mut Notes<'_>) {
    let settings = &mut snapshot.settings;
    let old = settings
        .entry(path.to_owned())
        .or_insert_with(|| value.clone());
    if old != value {
        let why = "twice with different values: perhaps of two hosts; the first is taken";
        notes.add(&format!("again {path}"), path, why);
    }
}

/// `Value of Vmxnet3HwLRO is 1`.
fn advcfg(line: &str) -> Option<(&str, &str)> {
    line.trim().strip_prefix("Value of ")?.split_once(" is ")
}

pub(super) fn recognises_advcfg(text: &Text<'_>) -> bool {
    let word = |(name, _): (&str, &str)| !name.contains(' ');
    advcfg(first_line(text)).is_some_and(word)
}

/// The path is in the command only.
pub(super) fn read_advcfg(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let paths = text.command.unwrap_or_default().split_whitespace();
    let paths: Vec<&str> = paths.filter(|word| word.starts_with('/')).collect();
    for line in whole_lines(text, &mut notes).lines() {
        let Some((name, value)) = advcfg(line) else {
            notes.line(line);
            continue;
        };
        match paths
            .iter()
            .find(|path| path.rsplit('/').next() == Some(name))
        {
            Some(path) => set(path, &setting(value.trim()), snapshot, &mut notes),
            None => {
                let why = "its path is not known: name it in the command, or use `esxcli system \
                    settings advanced list`";
                notes.add("path", name, why);
            }
        }
    }
    notes.finish(snapshot);
}

pub(super) fn recognises_version(text: &Text<'_>) -> bool {
    let mut lines = first_lines(text).take(1);
    let product = lines.next().unwrap_or_default().trim();
    product == "Product: VMware ESXi" || product == "Product: VMware ESX"
}

pub(super) fn read_version(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    let body: String = body.lines().map(|line| format!(" {line}\n")).collect();
    let value = |key: &str| {
        let mut fields = body.lines().filter_map(field);
        fields
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    };
    snapshot.platform = Some(Platform::Esxi);
    let build = value("Build").and_then(|build| build.rsplit('-').next());
    if let (Some(version), Some(build)) = (value("Version"), build) {
        version_of(version, build, snapshot);
    }
    notes.finish(snapshot);
}

fn version_of(version: &str, build: &str, snapshot: &mut Snapshot) {
    snapshot.platform = Some(Platform::Esxi);
    snapshot.kernel = Some(format!("{version}-{build}"));
    snapshot.distribution = Some(Distribution {
        id: "esxi".to_owned(),
        version: Some(version.to_owned()),
        name: Some(format!("VMware ESXi {version} build-{build}")),
    });
}

/// `VMware ESXi 7.0.3 build-20328353`; `vmware -vl` adds a line.
fn vmware(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim().strip_prefix("VMware ESXi ")?;
    let (version, build) = rest.split_once(" build-")?;
    let number = build.bytes().all(|b| b.is_ascii_digit());
    (number && !build.is_empty() && !version.contains(' ')).then_some((version, build))
}

pub(super) fn recognises_vmware(text: &Text<'_>) -> bool {
    first_lines(text).take(3).count() <= 2 && vmware(first_line(text)).is_some()
}

pub(super) fn read_vmware(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    if let Some((version, build)) = body.lines().find_map(vmware) {
        version_of(version, build, snapshot);
    }
    notes.finish(snapshot);
}
