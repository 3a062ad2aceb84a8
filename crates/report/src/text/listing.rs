//! A list of names, each with words about it.

use super::grid::{Column, Grid};

/// One line per row: the first cells side by side, and the last column wrapped to the width.
#[must_use]
pub fn listing(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let last = columns.saturating_sub(1);
    let mut grid = Grid::new(vec![""; columns])
        .with(0..last, Column::Name)
        .with([last], Column::Words);
    for row in rows {
        grid.row(row.iter().map(String::as_str));
    }
    let lines = grid.laid(width).rows.into_iter().flatten();
    lines.map(|line| line + "\n").collect()
}
