//! Comma-separated values (RFC 4180): a header, and a row for each thing that a report lists.

use std::io::{self, Write};

use csv::{ErrorKind, Terminator, Writer, WriterBuilder};
use serde::Serialize;
use serde_json::Value;

/// Prints a header and rows.
pub(crate) fn write(
    out: &mut dyn Write,
    header: &[String],
    rows: impl IntoIterator<Item = io::Result<Vec<String>>>,
) -> io::Result<()> {
    let mut out = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    record(&mut out, header)?;
    for row in rows {
        record(&mut out, &row?)?;
    }
    out.flush()
}

/// That nobody reads on (`| head`) has to stay the error that it is.
fn record(out: &mut Writer<&mut dyn Write>, cells: &[String]) -> io::Result<()> {
    out.write_record(cells)
        .map_err(|error| match error.into_kind() {
            ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        })
}

/// Prints fields of things that are JSON elsewhere, and are called the same here: `to_client.frames` is
/// the column `to_client_frames`.
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

/// What a path leads to, empty for null. What is in lists is joined by semicolons.
fn cell(value: &Value, path: &str) -> String {
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
