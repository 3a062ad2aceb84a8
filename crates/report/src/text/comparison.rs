//! Two transfers side by side.

use coalescope_knowledge::Comparison;
use comfy_table::{CellAlignment, ContentArrangement};

use super::WIDTH;
use super::page::{self, Page, Tone, printable};
use crate::words::comparison::ROWS;
use crate::words::units::UNKNOWN;

const INDENT: usize = 2;
/// What the indent leaves of the page.
const COLUMNS: u16 = (WIDTH - INDENT) as u16;

pub(crate) fn show(page: &mut Page, comparison: &Comparison) {
    let Comparison { first, second } = comparison;
    let names = [first, second].map(|transfer| printable(&transfer.point));
    let mut table = page::table(["", &names[0], &names[1]]);
    // Names may be long, so here cells may be broken.
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COLUMNS);
    for (title, value) in ROWS {
        let both = [first, second]
            .map(|transfer| value(transfer).map_or(UNKNOWN.to_owned(), |text| printable(&text)));
        let [one, other] = both;
        table.add_row([title.to_owned(), one, other]);
    }
    page::align(&mut table, 0, CellAlignment::Left);
    page.gap();
    page.table(&table, INDENT, |_| Tone::Plain);
}
