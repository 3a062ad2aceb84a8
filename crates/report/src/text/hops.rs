//! The outcomes of the frames of each hop.

use coalescope_capture::facts::{DatagramHop, Hop};
use coalescope_knowledge::Finding;

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use super::strip;
use crate::words::hops::{
    Counts, brief, cell, datagram_table, is_accused, loses_datagrams, outcome_table,
    shown_and_others, test, timing, title,
};

const INDENT: usize = 4;

pub(crate) fn show(page: &mut Page, hops: &[Hop], findings: &[Finding]) {
    let (shown, left_out) = shown_and_others(hops);
    if shown.is_empty() && left_out.is_empty() {
        return;
    }
    page.heading("Hops: what became of data frames");
    for hop in shown {
        page.paragraph("  ", "    ", &title(hop), Tone::Plain);
        outcomes(page, outcome_table(hop), is_accused(hop, findings));
        strip::show(page, hop);
        if let Some(test) = test(hop) {
            page.paragraph("    ", "    ", &test, Tone::Plain);
        }
        page.paragraph("    ", "    ", &timing(hop), Tone::Plain);
    }
    if !left_out.is_empty() {
        page.paragraph("  ", "    ", &brief(&left_out), Tone::Plain);
    }
}

/// The outcomes of datagrams of each hop; hops without merged datagrams are left out.
pub(crate) fn show_datagrams(page: &mut Page, hops: &[DatagramHop], findings: &[Finding]) {
    let telling: Vec<_> = hops.iter().filter(|hop| hop.merged.seen > 0).collect();
    if telling.is_empty() {
        return;
    }
    page.heading("Hops: what became of UDP datagrams");
    for hop in telling {
        let title = format!("{} -> {}", hop.from, hop.to);
        page.paragraph("  ", "    ", &title, Tone::Plain);
        outcomes(page, datagram_table(hop), loses_datagrams(hop, findings));
    }
}

fn outcomes(page: &mut Page, (columns, rows): Counts<'_>, accused: bool) {
    let header = std::iter::once("").chain(columns.iter().map(|(title, _)| *title));
    let mut table = Grid::new(header).with([0], Column::Name);
    for (name, outcomes) in &rows {
        let cells = columns.iter().map(|column| cell(*column, outcomes));
        table.row(std::iter::once((*name).to_owned()).chain(cells));
    }
    page.table(&table, INDENT, |row| {
        if accused && row == 0 {
            Tone::Bad
        } else {
            Tone::Plain
        }
    });
}
