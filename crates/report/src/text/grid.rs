//! Tables without lines, which keep within the width and break no word.
//!
//! A table is laid out in the first way that fits: as it is; with heads wrapped between words; with
//! columns of words wrapped as well; each row as a paragraph. (`comfy-table` breaks a word in a
//! narrow column, and has no other layout to fall back to.)

use coalescope_host::safe::{printable, printable_line};
use textwrap::core::display_width;

use super::wrap::{glued, wrapped};

/// Width between two columns.
const GAP: usize = 2;
/// Width of the indent and comma of a pair in a paragraph.
const BESIDE_PAIR: usize = 3;
/// Least width of a column of words: a narrower one reads like a list.
const LEAST_WORDS: usize = 16;

/// The alignment of a column, and whether its cells may be wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Right-aligned, never wrapped.
    Number,
    /// Left-aligned, never wrapped: a name, an address, a word.
    Name,
    /// Left-aligned, wrapped between words on a narrow page.
    Words,
}

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    heads: Vec<String>,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// A table as lines: those of the head, and those of each row.
#[derive(Debug)]
pub(crate) struct Laid {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table of numbers. A line break in a head is kept even if there is room.
    pub(crate) fn new<H: Into<String>>(heads: impl IntoIterator<Item = H>) -> Self {
        let heads = heads
            .into_iter()
            .map(|head| printable(&head.into()).into_owned());
        let heads: Vec<String> = heads.collect();
        Self {
            columns: vec![Column::Number; heads.len()],
            heads,
            rows: Vec::new(),
        }
    }

    /// Sets the kind of columns.
    pub(crate) fn with(mut self, numbers: impl IntoIterator<Item = usize>, column: Column) -> Self {
        for number in numbers {
            if let Some(known) = self.columns.get_mut(number) {
                *known = column;
            }
        }
        self
    }

    /// Adds a row. Cells may be names from files: invisible characters must not count in the width.
    pub(crate) fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells = cells
            .into_iter()
            .map(|cell| printable_line(&cell.into()).into_owned());
        self.rows.push(cells.collect());
    }

    /// Whether the table fits without wrapped words and without paragraphs.
    pub(crate) fn fits(&self, width: usize) -> bool {
        total(&self.least_widths()) <= width
    }

    /// Whether the table fits as a table, perhaps with wrapped words.
    pub(crate) fn is_table(&self, width: usize) -> bool {
        self.widths(width).is_some()
    }

    /// Lays the table out in `width` columns at most, except for a longer word.
    pub(crate) fn laid(&self, width: usize) -> Laid {
        match self.widths(width) {
            Some(widths) => Laid {
                head: self.head(&widths),
                rows: self
                    .rows
                    .iter()
                    .map(|row| self.line(row, &widths))
                    .collect(),
            },
            None => Laid {
                head: Vec::new(),
                rows: self
                    .rows
                    .iter()
                    .map(|row| self.stacked(row, width))
                    .collect(),
            },
        }
    }

    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let tries = [self.natural_widths(), self.least_widths()];
        let fitting = tries.into_iter().find(|widths| total(widths) <= width);
        fitting.or_else(|| self.shrunk_widths(width))
    }

    fn natural_widths(&self) -> Vec<usize> {
        self.each(|grid, n| {
            let head = grid.heads[n].lines().map(display_width).max();
            grid.cell_width(n).max(head.unwrap_or(0))
        })
    }

    /// The least widths without wrapped cells.
    fn least_widths(&self) -> Vec<usize> {
        self.each(|grid, n| grid.cell_width(n).max(longest_word(&grid.heads[n])))
    }

    /// Widths if columns of words share what the other columns leave.
    fn shrunk_widths(&self, width: usize) -> Option<Vec<usize>> {
        let floors = self.each(|grid, n| match grid.columns[n] {
            Column::Words => grid.floor(n),
            _ => usize::MAX,
        });
        shrunk(self.least_widths(), &floors, width)
    }

    /// The least width of a column of words.
    fn floor(&self, n: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(n));
        let longest = cells.map(|cell| longest_word(cell)).max().unwrap_or(0);
        let wanted = LEAST_WORDS.min(self.cell_width(n));
        longest.max(longest_word(&self.heads[n])).max(wanted)
    }

    fn each(&self, width: impl Fn(&Self, usize) -> usize) -> Vec<usize> {
        (0..self.heads.len()).map(|n| width(self, n)).collect()
    }

    fn cell_width(&self, n: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(n));
        cells.map(|cell| display_width(cell)).max().unwrap_or(0)
    }

    /// The lines of the head, aligned at the bottom.
    fn head(&self, widths: &[usize]) -> Vec<String> {
        if self.heads.iter().all(String::is_empty) {
            return Vec::new();
        }
        let heads = self.heads.iter().zip(widths);
        let mut cells: Vec<Vec<String>> =
            heads.map(|(head, width)| in_lines(head, *width)).collect();
        let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
        for cell in &mut cells {
            let above = vec![String::new(); lines - cell.len()];
            cell.splice(0..0, above);
        }
        self.joined(&cells, widths)
    }

    fn line(&self, row: &[String], widths: &[usize]) -> Vec<String> {
        let cells = row.iter().zip(widths);
        let cells: Vec<Vec<String>> = cells.map(|(cell, width)| in_lines(cell, *width)).collect();
        self.joined(&cells, widths)
    }

    /// A row of cells with several lines each.
    fn joined(&self, cells: &[Vec<String>], widths: &[usize]) -> Vec<String> {
        let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| {
            let mut line = String::new();
            for ((cell, width), column) in cells.iter().zip(widths).zip(&self.columns) {
                let text = cell.get(at).map_or("", String::as_str);
                let space = " ".repeat(width.saturating_sub(display_width(text)));
                match column {
                    Column::Number => line.extend([space.as_str(), text]),
                    Column::Name | Column::Words => line.extend([text, space.as_str()]),
                }
                line.push_str(&" ".repeat(GAP));
            }
            line.trim_end().to_owned()
        };
        (0..lines).map(line).collect()
    }

    /// A row as a paragraph: its name, then each head with its cell.
    fn stacked(&self, row: &[String], width: usize) -> Vec<String> {
        let is_named = self
            .columns
            .first()
            .is_some_and(|first| *first != Column::Number);
        let name = row.first().filter(|name| is_named && !name.is_empty());
        let rest = self.heads.iter().zip(row).skip(usize::from(is_named));
        let pairs = rest.filter(|(_, cell)| !cell.is_empty());
        let pairs: Vec<String> = pairs.map(|(head, cell)| pair(head, cell, width)).collect();
        let text = pairs.join(", ");
        let indent = if name.is_some() { "  " } else { "" };
        // A connection's name is two addresses.
        let mut lines = name.map_or_else(Vec::new, |name| in_lines(name, width));
        lines.extend(wrapped(&text, width, indent, indent));
        lines
    }
}

/// `rate 343 KB/s`, on one line if it fits.
fn pair(head: &str, cell: &str, width: usize) -> String {
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    let both = format!("{head} {cell}").trim_start().to_owned();
    if display_width(&both) + BESIDE_PAIR <= width {
        glued(&both)
    } else {
        both
    }
}

/// Shrinks the widest column that is above its least width, until all columns fit. Uses numbers
/// only: a cell may list ten thousand names and so take as many steps, none of which may read the
/// rows again.
fn shrunk(mut widths: Vec<usize>, floors: &[usize], width: usize) -> Option<Vec<usize>> {
    while total(&widths) > width {
        let room = (0..widths.len()).filter(|n| widths[*n] > floors[*n]);
        let widest = room.max_by_key(|n| widths[*n])?;
        widths[widest] -= 1;
    }
    Some(widths)
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn longest_word(text: &str) -> usize {
    text.split_whitespace()
        .map(display_width)
        .max()
        .unwrap_or(0)
}

/// The lines of a text, each wrapped between words if it is too long.
fn in_lines(text: &str, width: usize) -> Vec<String> {
    let natural = text.lines().all(|line| display_width(line) <= width);
    if natural {
        return text.lines().map(str::to_owned).collect();
    }
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    wrapped(&words, width, "", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(["", "\nbytes", "round trip\ntime", "why"])
            .with([0], Column::Name)
            .with([3], Column::Words);
        grid.row([
            "one",
            "1.62 MB",
            "10 ms",
            "the window of the receiver is full",
        ]);
        grid.row(["another", "1 KB", "9 ms", "loss"]);
        grid
    }

    /// Two hosts of ten thousand interfaces differ in each of them.
    #[test]
    fn a_cell_that_lists_very_many_names_keeps_within_the_page() {
        let mut grid = Grid::new(["what", "where"]).with([0, 1], Column::Words);
        let names: Vec<_> = (0..10_000).map(|number| format!("eth{number}")).collect();
        grid.row(["one".to_owned(), "eth0 eth1".to_owned()]);
        grid.row(["all".to_owned(), names.join(", ")]);
        assert_eq!(grid.widths(80).map(|widths| total(&widths)), Some(80));
    }

    #[test]
    fn columns_give_down_to_their_floors() {
        let of = |width| shrunk(vec![10, 50, 30], &[usize::MAX, 20, 25], width);
        assert_eq!(of(94), Some(vec![10, 50, 30]));
        assert_eq!(of(70), Some(vec![10, 28, 28]));
        assert_eq!(of(59), Some(vec![10, 20, 25]));
        assert_eq!(of(58), None);
    }

    fn text(width: usize) -> String {
        let laid = grid().laid(width);
        let rows = laid.rows.into_iter().flatten();
        laid.head
            .into_iter()
            .chain(rows)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn as_it_is() {
        let wide = "                  round trip
           bytes        time  why
one      1.62 MB       10 ms  the window of the receiver is full
another     1 KB        9 ms  loss";
        assert_eq!(text(70), wide);
    }

    #[test]
    fn heads_are_wrapped_first_then_words() {
        let narrower = "                  round
                   trip
           bytes   time  why
one      1.62 MB  10 ms  the window of the receiver is full
another     1 KB   9 ms  loss";
        assert_eq!(text(59), narrower);
        let words = "                  round
                   trip
           bytes   time  why
one      1.62 MB  10 ms  the window of the
                         receiver is full
another     1 KB   9 ms  loss";
        assert_eq!(text(42), words);
    }

    #[test]
    fn a_row_is_a_paragraph_at_last() {
        let stacked = "one
  bytes 1.62 MB,
  round trip time 10 ms,
  why the window of the
  receiver is full
another
  bytes 1 KB,
  round trip time 9 ms,
  why loss";
        assert_eq!(text(24), stacked);
    }

    #[test]
    fn nothing_is_cut_at_any_width() {
        for width in 10..80 {
            let text = text(width);
            for word in ["1.62", "another", "receiver", "bytes", "window"] {
                assert!(text.contains(word), "{width}:\n{text}");
            }
            let widest = text.lines().map(display_width).max();
            assert!(widest <= Some(width.max(22)), "{width}:\n{text}");
        }
    }
}
