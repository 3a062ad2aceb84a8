//! `ifconfig`, with `-v` and `-m`, of FreeBSD, OpenBSD and macOS.

mod address;
mod block;
mod kind;
mod lines;
mod options;

use std::collections::BTreeSet;

use self::block::{Block, blocks, glue, head, mended};
use super::super::Text;
use crate::model::{Platform, Snapshot};
use crate::text::notes::{Notes, first_line, first_lines, quoted, whole_lines};

/// The first line is an interface with flags as BSD prints them. Linux's has decimal flags and two
/// spaces before `mtu`, Solaris' an index behind it, NetBSD's flags begin with `0x`.
pub(super) fn recognises(text: &Text<'_>) -> bool {
    let first = first_line(text);
    let second = first_lines(text).nth(1).unwrap_or_default();
    head(first).is_some() || glue(first, second).is_some()
}

pub(super) fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = mended(whole_lines(text, &mut notes));
    let blocks = blocks(&body, &mut notes);
    snapshot.platform = platform(&blocks);
    if snapshot.platform.is_none() && !blocks.is_empty() {
        let why = "which BSD printed it cannot be told";
        notes.add("platform", "the platform", why);
    }
    let mut seen = BTreeSet::new();
    for block in &blocks {
        if seen.insert(block.head.name) {
            lines::read(block, snapshot, &mut notes);
        } else {
            let what = quoted(block.head.name);
            let why = "a second interface of this name: another host or time, left out";
            notes.add(&format!("again {what}"), &what, why);
        }
    }
    kind::pairs(snapshot);
    notes.finish(snapshot);
}

/// What only the ifconfig of macOS prints: capabilities, and how it checks addresses.
const OF_MACOS: [&str; 6] = [
    "TXSTATUS",
    "SW_TIMESTAMP",
    "CHANNEL_IO",
    "PARTIAL_CSUM",
    "ZEROINVERT_CSUM",
    "<PERFORMNUD,DAD>",
];

fn is_macos(blocks: &[Block<'_>]) -> bool {
    let names = ["utun", "awdl", "llw", "anpi"];
    blocks.iter().any(|block| {
        let named = names.iter().any(|name| block.head.name.starts_with(name));
        let mut lines = block.lines.iter().filter(|line| line.contains("options="));
        let own = lines.any(|line| OF_MACOS.iter().any(|word| line.contains(word)));
        named || own || block.head.has("SMART")
    })
}

/// Only FreeBSD prints the metric; OpenBSD and macOS have lines and flags of their own.
fn platform(blocks: &[Block<'_>]) -> Option<Platform> {
    let line = |begins: &str| {
        let mut lines = blocks.iter().flat_map(|block| &block.lines);
        lines.any(|line| line.starts_with(begins))
    };
    let mut lines = blocks.iter().flat_map(|block| &block.lines);
    let llprio = lines.any(|line| line.contains(" llprio "));
    if is_macos(blocks) {
        Some(Platform::Macos)
    } else if blocks.iter().any(|block| block.head.metric) {
        Some(Platform::Freebsd)
    } else if line("lladdr ") || line("hwfeatures=") || llprio {
        Some(Platform::Openbsd)
    } else {
        None
    }
}
