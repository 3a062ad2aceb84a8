//! Tables that may be long: the first rows are HTML, the others are data for the script, which
//! sorts, filters and pages.

use std::io;

use maud::{Markup, html};

use super::embed;
use crate::words::units::count;

/// Rows without a script, and rows of a page. The script relies on this number.
const SHOWN: usize = 100;
/// Most rows of connections on one page; the number of others is printed. A connection takes about 130 bytes.
pub(crate) const MOST: usize = 100_000;

/// How a column is sorted and filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sorted by letters.
    Text,
    /// Sorted by the first number with its unit, as `units` writes it; aligned right.
    Number,
    /// Sorted by letters; with few values, one of which can be selected.
    Choice,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Choice => "choice",
        }
    }
}

/// A table.
pub(crate) struct Table<'a> {
    /// Once in a page; letters, digits and `-`.
    pub(crate) id: &'a str,
    /// What it lists.
    pub(crate) caption: &'a str,
    /// Heads of the columns.
    pub(crate) columns: &'a [(&'a str, Kind)],
    /// Rows in their first order. The first cell is the row's name.
    pub(crate) rows: &'a [Vec<String>],
    /// How many rows there are; more than `rows` if some are left out.
    pub(crate) of: usize,
}

impl Table<'_> {
    /// The table, and the data of further rows.
    ///
    /// # Errors
    ///
    /// If a row cannot be written as JSON.
    pub(crate) fn markup(&self) -> io::Result<Markup> {
        let (shown, rest) = self.rows.split_at(self.rows.len().min(SHOWN));
        let data = format!("{}-rows", self.id);
        let data = (!rest.is_empty()).then(|| embed::data(&data, rest));
        let data = data.transpose()?;
        Ok(html! {
            div.listing data-table=(self.id) {
                div.scroll tabindex="0" role="group" aria-label=(self.caption) {
                    table id=(self.id) {
                        caption { (self.caption) }
                        (self.head())
                        tbody { @for row in shown { (self.row(row)) } }
                    }
                }
                (self.left_out(rest.len()))
                @if let Some(data) = data { (data) }
            }
        })
    }

    fn head(&self) -> Markup {
        html! {
            thead { tr {
                @for (heading, kind) in self.columns {
                    th scope="col" data-kind=(kind.name()) { (heading) }
                }
            } }
        }
    }

    fn row(&self, cells: &[String]) -> Markup {
        html! {
            tr { @for (cell, (i, (_, kind))) in cells.iter().zip(self.columns.iter().enumerate()) {
                @if i == 0 { th scope="row" { (cell) } }
                @else if *kind == Kind::Number { td.number { (cell) } }
                @else { td { (cell) } }
            } }
        }
    }

    fn left_out(&self, rest: usize) -> Markup {
        let left_out = self.of.saturating_sub(self.rows.len());
        html! {
            @if rest > 0 {
                noscript { p { (count(rest as u64)) " more rows are shown if scripts may run." } }
            }
            @if left_out > 0 {
                p { (count(left_out as u64)) " more are left out of this page; " code { "--format json" } " has all." }
            }
        }
    }
}
