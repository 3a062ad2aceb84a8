//! Two transfers side by side.

use coalescope_knowledge::Comparison;

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use crate::words::comparison::ROWS;
use crate::words::units::UNKNOWN;

const INDENT: usize = 2;

pub(crate) fn show(page: &mut Page, comparison: &Comparison) {
    let Comparison { first, second, .. } = comparison;
    let names = [first, second].map(|transfer| transfer.point.as_str());
    let mut table = Grid::new(["", names[0], names[1]]).with([0], Column::Name);
    for (title, value) in ROWS {
        let both =
            [first, second].map(|transfer| value(transfer).unwrap_or_else(|| UNKNOWN.to_owned()));
        let [one, other] = both;
        table.row([title.to_owned(), one, other]);
    }
    page.gap();
    page.table(&table, INDENT, |_| Tone::Plain);
}
