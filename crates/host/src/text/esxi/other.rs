//! Output of ESXi that is recognised so that it is nobody else's, and not used.

use super::super::Text;
use crate::model::{Platform, Snapshot};
use crate::text::notes::{Notes, first_line, first_lines};

pub(super) fn recognises(text: &Text<'_>) -> bool {
    what(text).is_some()
}

fn what(text: &Text<'_>) -> Option<(&'static str, &'static str)> {
    let first = first_line(text);
    let words: Vec<&str> = first.trim_start_matches('"').split_whitespace().collect();
    if words == ["DevID", "D:B:S.F", "DevName", "TrackID", "Version", "Name"] {
        Some(("DDP packages", "says nothing of merging: not used"))
    } else if is_log(first) {
        Some((
            "the VMkernel's log",
            "not used; `esxcli` tells what is set now",
        ))
    } else if first_lines(text)
        .take(20)
        .any(|line| line.trim().starts_with("Usage: esxcli "))
    {
        Some((
            "esxcli",
            "it printed how it is used, not what was asked for",
        ))
    } else {
        None
    }
}

/// `2023-11-11T03:32:59.783Z cpu37:2098285)ixgben: ...`.
fn is_log(line: &str) -> bool {
    let Some((time, rest)) = line.split_once("Z cpu") else {
        return false;
    };
    let stamp = |b: u8| b.is_ascii_digit() || b"-T:.".contains(&b);
    let (cpu, _) = rest.split_once(')').unwrap_or_default();
    let place = |b: u8| b.is_ascii_digit() || b == b':';
    time.bytes().all(stamp) && cpu.contains(':') && cpu.bytes().all(place)
}

pub(super) fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    if let Some((what, why)) = what(text) {
        snapshot.platform = Some(Platform::Esxi);
        notes.add("other", what, why);
    }
    notes.finish(snapshot);
}
