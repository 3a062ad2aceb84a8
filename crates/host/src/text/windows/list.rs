//! `| Format-List`: `Name : value`, the colons below each other, long values over several lines.

use super::record::{Cell, Record};
use crate::text::notes::Notes;

/// Where the colon of a property is, in bytes: the name before it is ASCII.
pub(super) fn column(line: &str) -> Option<usize> {
    let at = line.find(':')?;
    let (before, after) = (line.get(..at)?, line.get(at + 1..)?);
    let name = before.strip_suffix(' ')?.trim_end();
    let letter = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let word = name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"_()".contains(&b));
    let apart = after.is_empty() || after.starts_with(' ');
    (letter && word && apart).then_some(at)
}

/// Names of the first object's properties.
pub(super) fn first_names(body: &str) -> Vec<&str> {
    let lines = body.trim_start_matches('\u{feff}').lines();
    let lines = lines.skip_while(|line| line.trim().is_empty()).take(500);
    let object = lines.take_while(|line| !line.trim().is_empty());
    object
        .filter_map(|line| line.get(..column(line)?))
        .map(str::trim_end)
        .collect()
}

/// A property while it is read.
struct Open<'a> {
    name: &'a str,
    parts: Vec<&'a str>,
}

pub(super) fn records(body: &str, notes: &mut Notes<'_>) -> Vec<Record> {
    let mut all = Vec::new();
    let mut record = Record::default();
    let mut open: Option<Open<'_>> = None;
    let mut colon = None;
    for line in body.lines() {
        if line.trim().is_empty() {
            close(open.take(), true, &mut record);
            keep(&mut record, &mut all);
            colon = None;
        } else if let Some(at) = column(line).filter(|at| colon.is_none_or(|colon| colon == *at)) {
            close(open.take(), true, &mut record);
            colon = Some(at);
            open = property(line, at);
        } else if let (Some(at), Some(open)) = (colon.filter(|at| indented(line, *at)), &mut open) {
            open.parts.extend(line.get(at + 2..));
        } else {
            notes.line(line);
        }
    }
    close(open, false, &mut record);
    keep(&mut record, &mut all);
    all
}

fn property(line: &str, colon: usize) -> Option<Open<'_>> {
    let name = line.get(..colon)?.trim_end();
    let value = line.get(colon + 1..)?;
    let parts = vec![value.strip_prefix(' ').unwrap_or(value)];
    Some(Open { name, parts })
}

/// The rest of a value begins below its beginning.
fn indented(line: &str, colon: usize) -> bool {
    let blank = line.get(..colon + 2);
    blank.is_some_and(|blank| blank.bytes().all(|b| b == b' '))
}

fn close(open: Option<Open<'_>>, ended: bool, record: &mut Record) {
    let Some(open) = open else { return };
    let cell = match joined(&open.parts) {
        // With nothing behind it the value may have gone on, unless it is of a kind that is short.
        Some(text) if ended || short(&text) => Cell::printed(&text),
        Some(text) => Cell::Cut(text),
        None => Cell::Cut(open.parts.concat()),
    };
    record.fields.push((open.name.to_owned(), cell));
}

fn short(text: &str) -> bool {
    let number = text.parse::<i64>().is_ok();
    number || ["", "True", "False", "Enabled", "Disabled"].contains(&text)
}

/// Puts a value together. It is broken between words, or within one that is wider than the room: of
/// a line that is one word and the widest it cannot be told which.
fn joined(parts: &[&str]) -> Option<String> {
    let (last, broken) = parts.split_last()?;
    let width = parts.iter().map(|part| part.trim_end().len()).max()?;
    let mut text = String::new();
    for part in broken {
        let part = part.trim_end();
        if !part.trim_start().contains(' ') && part.len() == width {
            return None;
        }
        text.push_str(part);
        text.push(' ');
    }
    text.push_str(last);
    Some(text.trim().to_owned())
}

fn keep(record: &mut Record, all: &mut Vec<Record>) {
    let record = std::mem::take(record);
    if !record.fields.is_empty() {
        all.push(record);
    }
}
