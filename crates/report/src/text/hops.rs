//! For each hop, what became of the frames.

use coalescope_capture::facts::Hop;
use coalescope_knowledge::Finding;

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use super::strip;
use crate::words::hops::{brief, cell, is_accused, outcome_table, test, timing, title, told};

const INDENT: usize = 4;

pub(crate) fn show(page: &mut Page, hops: &[Hop], findings: &[Finding]) {
    let (told, left_out) = told(hops);
    if told.is_empty() && left_out.is_empty() {
        return;
    }
    page.heading("Hops: what became of data frames");
    for hop in told {
        page.paragraph("  ", "    ", &title(hop), Tone::Plain);
        outcomes(page, hop, is_accused(hop, findings));
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

fn outcomes(page: &mut Page, hop: &Hop, accused: bool) {
    let (columns, rows) = outcome_table(hop);
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
