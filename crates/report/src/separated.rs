//! Comma-separated values (RFC 4180): a header, and a row for each thing that a report lists.

use std::borrow::Cow;
use std::io::{self, Write};

use coalescope_host::safe::printable;
use csv::{ByteRecord, ErrorKind, Terminator, Writer, WriterBuilder};
use serde::Serialize;
use serde_json::Value;

use crate::document::AT_ONCE;

/// Prints a header and rows.
pub(crate) fn write(
    out: &mut dyn Write,
    header: &[String],
    rows: impl IntoIterator<Item = io::Result<Vec<String>>>,
) -> io::Result<()> {
    let mut out = writer(out);
    record(&mut out, header)?;
    for row in rows {
        record(&mut out, &row?)?;
    }
    out.flush()
}

fn writer(out: &mut dyn Write) -> Writer<&mut dyn Write> {
    WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .buffer_capacity(AT_ONCE)
        .from_writer(out)
}

fn record(out: &mut Writer<&mut dyn Write>, cells: &[String]) -> io::Result<()> {
    let cells = cells.iter().map(|cell| inert(cell));
    out.write_record(cells.map(Cow::into_owned)).map_err(plain)
}

/// A closed pipe (`| head`) has to stay an I/O error.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Characters that begin a formula in a spreadsheet, also after white space (OWASP, CSV injection).
const FORMULA: [char; 9] = [
    '=', '+', '-', '@', '|', '%', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}',
];
/// White space at the begin of a cell that may begin a formula by itself (OWASP).
const BREAKS: [char; 3] = ['\t', '\r', '\n'];

/// A cell that a spreadsheet takes for text or a number: a formula gets an apostrophe in front, and
/// invisible characters become U+FFFD.
fn inert(cell: &str) -> Cow<'_, str> {
    let shown = printable(cell);
    let (space, word) = shown.split_at(shown.len() - shown.trim_start().len());
    let begins = space.contains(BREAKS) || word.starts_with(FORMULA);
    if begins && !is_number(&shown) {
        return Cow::Owned(format!("'{shown}"));
    }
    shown
}

/// `-12.5e3`, as this program writes numbers.
fn is_number(cell: &str) -> bool {
    let is_of_one = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | 'e' | '+');
    cell.chars().all(is_of_one) && cell.parse::<f64>().is_ok()
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Empty,
    Integer(u64),
    Number(f64),
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    /// Appends the text of the value, as in JSON.
    fn put(&self, row: &mut ByteRecord, scratch: &mut Vec<u8>) -> io::Result<()> {
        scratch.clear();
        match self {
            Self::Integer(number) => serde_json::to_writer(&mut *scratch, number)?,
            Self::Number(number) if number.is_finite() => {
                serde_json::to_writer(&mut *scratch, number)?;
            }
            Self::Empty | Self::Number(_) => {}
            Self::Text(text) => {
                row.push_field(inert(text).as_bytes());
                return Ok(());
            }
        }
        row.push_field(scratch);
        Ok(())
    }
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(impl From<$type> for Cell<'_> {
            fn from(number: $type) -> Self {
                Self::Integer(u64::from(number))
            }
        })*
    };
}

integers!(u16 u32 u64);

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Empty, Into::into)
    }
}

/// Prints a header and rows of many cells, without intermediate strings: `fill` passes the cells
/// one after the other.
pub(crate) fn write_cells<T>(
    out: &mut dyn Write,
    header: &[String],
    things: impl IntoIterator<Item = T>,
    mut fill: impl FnMut(&T, &mut dyn FnMut(Cell<'_>)),
) -> io::Result<()> {
    let mut out = writer(out);
    record(&mut out, header)?;
    let (mut row, mut scratch) = (ByteRecord::new(), Vec::new());
    for thing in things {
        row.clear();
        let mut done = Ok(());
        fill(&thing, &mut |cell| {
            if done.is_ok() {
                done = cell.put(&mut row, &mut scratch);
            }
        });
        done?;
        out.write_byte_record(&row).map_err(plain)?;
    }
    out.flush()
}

/// Prints fields by their paths in the JSON: `to_client.frames` is the column `to_client_frames`.
pub(crate) fn write_fields<T: Serialize>(
    out: &mut dyn Write,
    fields: &[&str],
    things: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    let header: Vec<String> = fields.iter().map(|path| path.replace('.', "_")).collect();
    let rows = things.into_iter().map(|thing| {
        let thing = serde_json::to_value(thing)?;
        Ok(fields.iter().map(|path| cell(&thing, path)).collect())
    });
    write(out, &header, rows)
}

/// The value at a path, empty for null. The elements of a list are joined by semicolons.
pub(crate) fn cell(value: &Value, path: &str) -> String {
    match value {
        Value::Array(all) => {
            let cells: Vec<String> = all.iter().map(|one| cell(one, path)).collect();
            cells.join("; ")
        }
        Value::Object(fields) => {
            let (name, rest) = path.split_once('.').unwrap_or((path, ""));
            fields
                .get(name)
                .map_or_else(String::new, |one| cell(one, rest))
        }
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(fields: &[&str], things: &[Value]) -> String {
        let mut out = Vec::new();
        write_fields(&mut out, fields, things).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_are_found_within_others_and_in_lists() {
        let thing = json!({"a": {"b": 1.5}, "list": [{"text": "x"}, {"text": "y"}], "none": null, "is": true});
        let fields = ["a.b", "list.text", "none", "is", "missing.too"];
        assert_eq!(
            text(&fields, &[thing]),
            "a_b,list_text,none,is,missing_too\r\n1.5,x; y,,true,\r\n"
        );
    }

    #[test]
    fn no_cell_is_a_formula_and_numbers_stay_numbers() {
        for hostile in [
            "=1+1",
            "+cmd|' /C calc'!A0",
            "-2+3",
            "@SUM(A1)",
            "|x",
            " =1",
            "=",
            "-",
            "\u{2000}-1",
            "\u{a0}=1",
            " \u{3000}@x",
            " \nx",
        ] {
            assert_eq!(inert(hostile), format!("'{hostile}"));
        }
        assert_eq!(inert("\t=1"), "' =1");
        assert_eq!(inert("\n=1"), "'\n=1");
        for fine in [
            "-1.5", "1e-7", "-2e-9", "eth0", "x=1", "a-b", "", "10.0.0.1",
        ] {
            assert_eq!(inert(fine), fine);
        }
        let thing = json!({"a": -1.5, "b": "=1", "c": ["-x", "y"]});
        assert_eq!(
            text(&["a", "b", "c"], &[thing]),
            "a,b,c\r\n-1.5,'=1,'-x; y\r\n"
        );
    }

    #[test]
    fn commas_quotes_and_line_breaks_are_quoted() {
        let things = [
            json!({"a": "1,2"}),
            json!({"a": "\"q\""}),
            json!({"a": "l\nm"}),
        ];
        assert_eq!(
            text(&["a"], &things),
            "a\r\n\"1,2\"\r\n\"\"\"q\"\"\"\r\n\"l\nm\"\r\n"
        );
    }
}
