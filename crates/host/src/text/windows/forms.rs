//! The forms in which PowerShell prints objects: table, list, JSON.

use super::super::Text;
use super::record::Record;
use super::{json, list, table};
use crate::text::notes::{Notes, first_line, whole_lines};

/// The form of a text.
pub(super) enum Shape {
    Json,
    Table,
    List,
}

pub(super) fn shape(text: &Text<'_>) -> Option<Shape> {
    let first = first_line(text);
    if first.trim_start().starts_with(['[', '{']) {
        Some(Shape::Json)
    } else if table::header(text.body).is_some() {
        Some(Shape::Table)
    } else if list::column(first).is_some() {
        Some(Shape::List)
    } else {
        None
    }
}

/// All objects of a text.
pub(super) fn records(text: &Text<'_>, notes: &mut Notes<'_>) -> Vec<Record> {
    match shape(text) {
        Some(Shape::Json) => json::records(text, notes),
        Some(Shape::Table) => table::records(whole_lines(text, notes), notes),
        Some(Shape::List) => list::records(whole_lines(text, notes), notes),
        None => Vec::new(),
    }
}
