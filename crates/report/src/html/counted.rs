//! The table of what was counted on each interface.

use std::io;

use coalescope_watch::facts::Watched;
use maud::Markup;

use super::table::{Kind, Table};
use crate::words::watch::{HEADS, line, row};

/// Column of the names in the table of interfaces, and that of roles.
const WORDS: [usize; 2] = [0, HEADS.len() - 1];

/// Counts of each interface, in the columns of the terminal's table.
pub(super) fn interfaces(number: usize, watched: &Watched) -> io::Result<Markup> {
    let heads = HEADS.map(|head| head.replace('\n', " "));
    let columns = columns(&heads, &WORDS);
    let all = watched.interfaces.iter();
    let rows: Vec<Vec<String>> = all.map(|one| row(one, watched.level).to_vec()).collect();
    let table = Table {
        id: &format!("watched-{number}"),
        caption: &line(watched),
        columns: &columns,
        rows: &rows,
        of: rows.len(),
    };
    table.markup()
}

/// Columns of numbers, but for these.
pub(super) fn columns<'a>(heads: &'a [String], words: &[usize]) -> Vec<(&'a str, Kind)> {
    let kind = |column| match words.contains(&column) {
        true => Kind::Text,
        false => Kind::Number,
    };
    let heads = heads.iter().enumerate();
    heads.map(|(n, head)| (head.as_str(), kind(n))).collect()
}
