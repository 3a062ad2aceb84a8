//! Tables of `esxcli`: a line of dashes as wide as each column, two spaces between.

use crate::text::notes::{Notes, quoted};

/// A row: headings and values.
pub(super) type Row<'a> = Vec<(&'a str, &'a str)>;

/// Columns of a table: esxcli has fewer.
const MOST_COLUMNS: usize = 64;

/// Places of the columns, in bytes.
fn columns(dashes: &str) -> Option<Vec<(usize, usize)>> {
    let mut columns = Vec::new();
    let mut at = 0;
    for part in dashes.trim_end().split("  ").take(MOST_COLUMNS) {
        let whole = !part.is_empty() && part.bytes().all(|b| b == b'-');
        columns.push((at, whole.then_some(at + part.len())?));
        at += part.len() + 2;
    }
    Some(columns)
}

/// The headings of a text that begins with a table.
pub(super) fn headings(body: &str) -> Option<Vec<&str>> {
    let mut lines = body.lines().filter(|line| !line.trim().is_empty());
    let header = lines.next()?;
    let columns = columns(lines.next()?)?;
    let words = columns
        .iter()
        .map(|(start, end)| slice(header, *start, *end));
    words.collect()
}

fn slice(line: &str, start: usize, end: usize) -> Option<&str> {
    let end = end.min(line.len());
    Some(line.get(start..end)?.trim())
}

/// Rows whose values stand below their headings.
pub(super) fn rows<'a>(body: &'a str, notes: &mut Notes<'_>) -> Vec<Row<'a>> {
    let headings = headings(body).unwrap_or_default();
    let mut lines = body.lines().filter(|line| !line.trim().is_empty());
    let dashes = lines.nth(1).unwrap_or_default();
    let mut columns = columns(dashes).unwrap_or_default();
    // The last may be wider than its dashes after an edit; nothing is behind it.
    columns
        .last_mut()
        .into_iter()
        .for_each(|last| last.1 = usize::MAX);
    let mut rows = Vec::new();
    for line in lines {
        match row(line, &columns) {
            Some(values) => rows.push(headings.iter().copied().zip(values).collect()),
            None => notes.add(
                "row",
                &quoted(line),
                "values do not stand below their headings",
            ),
        }
    }
    rows
}

fn row<'a>(line: &'a str, columns: &[(usize, usize)]) -> Option<Vec<&'a str>> {
    let gaps = columns
        .iter()
        .skip(1)
        .map(|(start, _)| start.checked_sub(2).zip(Some(*start)));
    for gap in gaps {
        let (from, to) = gap?;
        let to = to.min(line.len());
        if from < to && line.get(from..to)?.trim() != "" {
            return None;
        }
    }
    // A row that ends early lacks values, or is cut.
    let (last, _) = columns.last()?;
    if line.len() < *last {
        return None;
    }
    columns
        .iter()
        .map(|(start, end)| slice(line, *start, *end))
        .collect()
}

/// The value below a heading, if it is not empty.
pub(super) fn get<'a>(row: &Row<'a>, heading: &str) -> Option<&'a str> {
    let (_, value) = row.iter().find(|(name, _)| *name == heading)?;
    (!value.is_empty()).then_some(*value)
}
