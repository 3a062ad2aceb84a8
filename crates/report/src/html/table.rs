//! Tables that may be long: the first rows are HTML, the others data for the script, which sorts,
//! filters and turns pages.

use std::io;

use maud::{Markup, html};

use super::embed;
use crate::words::units::count;

/// Rows that are there without a script, and on a page of the script's. The script counts on it.
const SHOWN: usize = 100;
/// Rows of connections on one page at most; what is beyond it is said to be left out. A connection
/// takes about 130 bytes.
pub(crate) const MOST: usize = 100_000;

/// How a column is sorted and filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By letters.
    Text,
    /// By the first number in it with its unit, as `units` writes them; to the right.
    Number,
    /// By letters; few values, of which one can be chosen.
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
    /// What stands over each column.
    pub(crate) columns: &'a [(&'a str, Kind)],
    /// Rows in the order in which they are shown first. The first cell says what the row is about.
    pub(crate) rows: &'a [Vec<String>],
    /// How many rows there are; more than `rows` if some are left out.
    pub(crate) of: usize,
}

impl Table<'_> {
    /// The table, and the data of rows that are not shown at first.
    ///
    /// # Errors
    ///
    /// If a row cannot be said in JSON.
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
