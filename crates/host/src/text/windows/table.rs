//! `| Format-Table`: columns by the line of dashes, which are as wide as the headings only.

use super::record::{Cell, Record};
use crate::text::notes::{Notes, quoted};

/// Lines within which a table has to begin.
const BEGINS_WITHIN: usize = 12;

/// Columns of the narrowest table that PowerShell may have wrapped or cut.
const NARROWEST: usize = 72;

/// Columns of a table: no line has room for more.
const MOST_COLUMNS: usize = 64;

/// The heading of a table.
pub(super) struct Header {
    columns: Vec<Column>,
    /// Lines up to and with the dashes.
    lines: usize,
}

/// A column; places in characters.
struct Column {
    name: String,
    start: usize,
    /// Behind the dashes.
    end: usize,
}

impl Header {
    pub(super) fn names(&self) -> Vec<&str> {
        self.columns
            .iter()
            .map(|column| column.name.as_str())
            .collect()
    }
}

/// The first heading of a text.
pub(super) fn header(body: &str) -> Option<Header> {
    let body = body.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = body.lines().take(BEGINS_WITHIN).collect();
    let dashes = lines.iter().position(|line| is_dashes(line))?;
    let above = lines.get(..dashes)?;
    let blank = above.iter().rposition(|line| line.trim().is_empty());
    let names = above.get(blank.map_or(0, |at| at + 1)..)?;
    let columns = columns(lines.get(dashes)?, names)?;
    let lines = dashes + 1;
    Some(Header { columns, lines })
}

fn is_dashes(line: &str) -> bool {
    line.contains("--") && line.trim_end().bytes().all(|b| b == b'-' || b == b' ')
}

fn columns(dashes: &str, names: &[&str]) -> Option<Vec<Column>> {
    let mut columns = underlined(dashes)?;
    for line in names {
        add_names(&mut columns, line);
    }
    let named = columns.iter().all(|column| !column.name.is_empty());
    named.then_some(columns)
}

/// Where the columns are, still without names.
fn underlined(dashes: &str) -> Option<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::new();
    let mut before = ' ';
    for (at, char) in dashes.chars().enumerate() {
        match (before, char) {
            (' ', '-') => columns.push(column(at)),
            ('-', ' ') => columns.last_mut()?.end = at,
            _ => {}
        }
        before = char;
    }
    if columns.len() > MOST_COLUMNS {
        return None;
    }
    let last = columns.last_mut()?;
    last.end = last.end.max(dashes.trim_end().len());
    Some(columns)
}

/// Long headings are broken over several lines.
fn add_names(columns: &mut [Column], line: &str) {
    let line: Vec<char> = line.chars().collect();
    let starts: Vec<usize> = columns.iter().map(|column| column.start).collect();
    for (at, column) in columns.iter_mut().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(line.len());
        column.name.push_str(&slice(&line, column.start, end));
    }
}

fn column(start: usize) -> Column {
    let name = String::new();
    Column {
        name,
        start,
        end: start,
    }
}

/// Characters of a line from one place to another, without blanks around.
fn slice(line: &[char], start: usize, end: usize) -> String {
    let end = end.min(line.len());
    let part: String = line.get(start..end).unwrap_or_default().iter().collect();
    part.trim().to_owned()
}

/// Rows while they are read.
#[derive(Default)]
struct Rows {
    all: Vec<Vec<Cell>>,
    /// The last row was left out: what follows may be its rest.
    broken: bool,
    /// Values go on in the line below (`-Wrap`).
    wrapped: bool,
    /// Characters of the longest line.
    wide: usize,
}

/// The rows of a table as objects.
pub(super) fn records(body: &str, notes: &mut Notes<'_>) -> Vec<Record> {
    let Some(header) = header(body) else {
        return Vec::new();
    };
    let body = body.trim_start_matches('\u{feff}');
    let lines = body.lines().skip(header.lines);
    let mut rows = Rows::default();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        if is_dashes(line) {
            let why = "a second table in one text: left out";
            notes.add("second", "what follows the first table", why);
            // Its headings were taken for a row.
            rows.all.pop();
            break;
        }
        put(line, &header.columns, &mut rows, notes);
    }
    if !body.ends_with("\n\n") && !body.ends_with("\n \n") {
        distrust(&mut rows, &header.columns);
    }
    let rows = rows.all.into_iter();
    rows.map(|row| record(row, &header.columns)).collect()
}

/// Adds a row, or marks what the row before it has of its values.
fn put(line: &str, columns: &[Column], rows: &mut Rows, notes: &mut Notes<'_>) {
    rows.wide = rows.wide.max(line.trim_end().chars().count());
    let Some(row) = cells(line, columns) else {
        let why = "a row whose values do not stand below their headings, or with wide characters: \
            use `| ConvertTo-Json`";
        notes.add("row", &quoted(line), why);
        rows.broken = true;
        return;
    };
    if !goes_on(&row, rows.all.first()) {
        rows.all.push(row);
        rows.broken = false;
        return;
    }
    rows.wrapped = true;
    if !rows.broken {
        mark(line, &row, rows, notes);
    }
}

/// Values of the last row that go on in this one are not whole.
fn mark(line: &str, rest: &[Cell], rows: &mut Rows, notes: &mut Notes<'_>) {
    if rest.first().is_some_and(|cell| !is_empty(cell)) {
        rows.all.pop();
        rows.broken = true;
        let why = "a name over two lines: the row is left out";
        notes.add("name", &quoted(line), why);
        return;
    }
    for (rest, cell) in rest.iter().zip(rows.all.last_mut().into_iter().flatten()) {
        if let (false, Cell::One(text)) = (is_empty(rest), &*cell) {
            *cell = Cell::Cut(text.clone());
        }
    }
}

/// A row that is the rest of the one before it: without a first value, with nothing but one, or
/// without what every row has.
fn goes_on(row: &[Cell], first: Option<&Vec<Cell>>) -> bool {
    let Some(first) = first else { return false };
    let full = row.iter().filter(|cell| !is_empty(cell)).count();
    let solid = |cell: &Cell| matches!(cell, Cell::One(text) if is_solid(text));
    let lacks = first
        .iter()
        .zip(row)
        .any(|(first, cell)| solid(first) && is_empty(cell));
    row.first().is_none_or(is_empty) || (full == 1 && row.len() > 1) || lacks
}

fn is_empty(cell: &Cell) -> bool {
    matches!(cell, Cell::One(text) if text.is_empty())
}

/// The values of a row; `None` if one is not below its heading.
fn cells(line: &str, columns: &[Column]) -> Option<Vec<Cell>> {
    let line: Vec<char> = line.trim_end().chars().collect();
    // Beyond the Latin, Greek and Cyrillic letters, characters may be two columns wide, or none.
    if line
        .iter()
        .any(|c| ('\u{300}'..'\u{370}').contains(c) || (*c > '\u{52f}' && *c != '…'))
    {
        return None;
    }
    let starts: Option<Vec<usize>> = (0..columns.len())
        .map(|at| start(&line, columns, at))
        .collect();
    let starts = starts?;
    let end = |at: usize| starts.get(at + 1).copied().unwrap_or(line.len());
    let cell = |(at, start): (usize, &usize)| whole(&slice(&line, *start, end(at)));
    Some(starts.iter().enumerate().map(cell).collect())
}

/// Where a value begins: below its heading, or before it if it ends where the heading does.
fn start(line: &[char], columns: &[Column], at: usize) -> Option<usize> {
    let column = columns.get(at)?;
    let Some(before) = column.start.checked_sub(1) else {
        return Some(column.start);
    };
    if line.get(before).is_none_or(|c| *c == ' ') {
        return Some(column.start);
    }
    let blank = line.get(..before)?.iter().rposition(|c| *c == ' ')?;
    let rest = line.get(column.start..)?;
    let word_end = column.start + rest.iter().position(|c| *c == ' ').unwrap_or(rest.len());
    let last = at + 1 == columns.len() && line.len() == column.end;
    (word_end == column.end || last).then_some(blank + 1)
}

/// `Mellanox ConnectX-5 Ethernet Ad...#2`: of a description Get-NetAdapter keeps the number at its end.
fn is_cut_within(text: &str) -> bool {
    let end = text.rsplit_once("...#").map(|(_, number)| number);
    end.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn whole(text: &str) -> Cell {
    let ends = ["...", "…"];
    let cut = ends
        .iter()
        .any(|dots| text.ends_with(dots) || text.starts_with(dots));
    if cut || is_cut_within(text) {
        Cell::Cut(text.to_owned())
    } else {
        Cell::printed(text)
    }
}

/// Nothing follows the last row: a text in it that may be wrapped may go on.
fn distrust(rows: &mut Rows, columns: &[Column]) {
    if !rows.wrapped && (rows.wide < NARROWEST || fits(&rows.all, columns)) {
        return;
    }
    let ends = columns.iter().skip(1).map(|column| Some(column.start));
    let ends = ends.chain(std::iter::once(None));
    let places = columns.iter().zip(ends);
    for (cell, (column, end)) in rows.all.last_mut().into_iter().flatten().zip(places) {
        let Cell::One(text) = &*cell else { continue };
        let room = end.map_or(24, |end| end.saturating_sub(column.start + 1));
        if goes_on_perhaps(text, room, rows.wrapped) {
            *cell = Cell::Cut(text.clone());
        }
    }
}

/// Every column is just as wide as its widest value or its heading, as `-AutoSize` makes them: then
/// nothing was too long for its place.
fn fits(rows: &[Vec<Cell>], columns: &[Column]) -> bool {
    let pairs = columns.iter().zip(columns.iter().skip(1)).enumerate();
    let mut widths = pairs.map(|(at, (column, next))| {
        let values = rows.iter().filter_map(|row| match row.get(at)? {
            Cell::One(text) | Cell::Cut(text) => Some(text.chars().count()),
            _ => None,
        });
        let widest = values.chain([column.name.chars().count()]).max();
        (
            next.start.saturating_sub(column.start + 1),
            widest.unwrap_or(0),
        )
    });
    columns.len() > 2 && widths.all(|(room, widest)| room == widest)
}

fn goes_on_perhaps(text: &str, room: usize, wrapped: bool) -> bool {
    let long = text.chars().count();
    let fixed = is_solid(text) || text.is_empty();
    let full = long >= room || (text.contains(' ') && long * 2 > room);
    full || (wrapped && !fixed)
}

/// A value as every row has one.
fn is_solid(text: &str) -> bool {
    text == "True" || text == "False" || text.parse::<i64>().is_ok()
}

fn record(row: Vec<Cell>, columns: &[Column]) -> Record {
    let names = columns.iter().map(|column| column.name.clone());
    Record {
        fields: names.zip(row).collect(),
    }
}
