//! A watch for people: summary, findings, interfaces, drops.

use std::io::{self, Write};

use coalescope_watch::facts::Watched;

use super::check::finding;
use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use super::{TextOptions, finish, notes, warn};
use crate::watch::WatchReport;
use crate::words::units::count;
use crate::words::watch::{
    CONNECTION_HEADS, HEADS, connection, dropped, estimated, little, lost, row, sample,
    slow_and_others, verdict,
};

const INDENT: usize = 2;
/// Dropped frames of one place that are listed.
const SAMPLES: usize = 3;
/// Places of drops that are listed.
const DROPS: usize = 20;
/// Connections that are listed.
const CONNECTIONS: usize = 20;

pub(crate) fn write(
    report: &WatchReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options);
    let warnings = not_seen(&report.watched);
    warn(&mut page, &warnings);
    let tone = match (report.has_findings(), report.is_decided()) {
        (true, _) => Tone::Bad,
        (false, true) => Tone::Good,
        (false, false) => Tone::Heading,
    };
    page.paragraph("", "", &verdict(&report.watched), tone);
    if page.is_brief() {
        return finish(&page, out);
    }
    for one in &report.findings {
        finding(&mut page, &[one]);
    }
    interfaces(&mut page, &report.watched);
    drops(&mut page, &report.watched);
    unknown(&mut page, &report.watched);
    connections(&mut page, &report.watched);
    notes(&mut page, &warnings);
    finish(&page, out)
}

fn interfaces(page: &mut Page, watched: &Watched) {
    if watched.interfaces.is_empty() {
        return;
    }
    page.heading("Interfaces");
    let mut table = Grid::new(HEADS)
        .with([0], Column::Name)
        .with([HEADS.len() - 1], Column::Words);
    for interface in &watched.interfaces {
        table.row(row(interface, watched.level));
    }
    page.table(&table, INDENT, |_| Tone::Plain);
    if let Some(text) = estimated(watched) {
        page.paragraph("  ", "  ", &text, Tone::Plain);
    }
}

/// Places where merged frames were dropped; drops of single frames alone are normal.
fn drops(page: &mut Page, watched: &Watched) {
    let all = watched.drops.iter();
    let all = all.filter(|drop| drop.died() > 0);
    let mut all = all.peekable();
    if all.peek().is_none() {
        return;
    }
    page.heading("Merged frames that died");
    for drop in all {
        page.paragraph("  - ", "    ", &dropped(drop), Tone::Plain);
        for one in drop.samples.iter().take(SAMPLES) {
            let text = sample(one, watched.begun_unix_s);
            page.paragraph("    ", "      ", &text, Tone::Plain);
        }
    }
}

/// Where frames were dropped of which nobody knows whether they were merged.
fn unknown(page: &mut Page, watched: &Watched) {
    let all = watched.drops.iter();
    let all: Vec<_> = all.filter(|drop| drop.unknown_frames > 0).collect();
    if all.is_empty() {
        return;
    }
    page.heading("Frames that were dropped on this host, merged or not");
    for drop in all.iter().take(DROPS) {
        page.paragraph("  - ", "    ", &dropped(drop), Tone::Plain);
    }
    let rest = all.len().saturating_sub(DROPS);
    if rest > 0 {
        let text = format!("{} more places: --format json", count(rest as u64));
        page.paragraph("  ", "  ", &text, Tone::Plain);
    }
}

/// Connections of this host, slow ones first.
fn connections(page: &mut Page, watched: &Watched) {
    if watched.connections.is_empty() {
        return;
    }
    page.heading("TCP connections of this host");
    let (slow, others) = slow_and_others(watched);
    let mut table = Grid::new(CONNECTION_HEADS).with([0], Column::Name);
    for one in slow.iter().chain(&others).take(CONNECTIONS) {
        table.row(connection(one));
    }
    page.table(&table, INDENT, |_| Tone::Plain);
    let rest = watched.connections.len().saturating_sub(CONNECTIONS);
    if rest > 0 {
        let text = format!("{} more: --format json, csv", count(rest as u64));
        page.paragraph("  ", "  ", &text, Tone::Plain);
    }
    for one in slow.iter().take(CONNECTIONS) {
        page.paragraph("  - ", "    ", &little(one), Tone::Bad);
    }
}

/// What is not visible, and frames that were not counted.
pub(crate) fn not_seen(watched: &Watched) -> Vec<String> {
    let unseen = watched.unseen.iter();
    let unseen = unseen.map(|unseen| format!("not seen: {}: {}", unseen.what, unseen.why));
    unseen.chain(lost(watched)).collect()
}
