//! `ConvertTo-Json`: one object, or an array of them.

use serde_json::{Map, Value};

use super::super::Text;
use super::record::{Cell, Record};
use crate::text::notes::Notes;

pub(super) fn records(text: &Text<'_>, notes: &mut Notes<'_>) -> Vec<Record> {
    let body = text.body.trim_start_matches('\u{feff}').trim();
    match serde_json::from_str::<Value>(body) {
        Ok(Value::Array(objects)) => objects
            .iter()
            .filter_map(|one| object(one, notes))
            .collect(),
        Ok(Value::Object(outer)) => wrapped(&outer, notes),
        Ok(_) => Vec::new(),
        Err(error) => {
            let what = format!("the JSON, at its line {}", error.line());
            notes.add("json", &what, "cut or damaged: nothing of it is read");
            Vec::new()
        }
    }
}

/// Windows PowerShell puts some arrays into an object with `value` and `Count`.
fn wrapped(outer: &Map<String, Value>, notes: &mut Notes<'_>) -> Vec<Record> {
    match (outer.get("value"), outer.get("Count")) {
        (Some(Value::Array(objects)), Some(_)) => objects
            .iter()
            .filter_map(|one| object(one, notes))
            .collect(),
        _ => vec![record(outer)],
    }
}

fn object(value: &Value, notes: &mut Notes<'_>) -> Option<Record> {
    if let Value::Object(map) = value {
        return Some(record(map));
    }
    notes.add("element", "an element of the array", "not an object");
    None
}

fn record(map: &Map<String, Value>) -> Record {
    let field = |(key, value): (&String, &Value)| Some((key.clone(), cell(value)?));
    Record {
        fields: map.iter().filter_map(field).collect(),
    }
}

fn cell(value: &Value) -> Option<Cell> {
    match value {
        Value::Array(list) => Some(Cell::Many(list.iter().filter_map(one).collect())),
        Value::Object(map) => {
            let number = |(key, value): (&String, &Value)| Some((key.clone(), value.as_u64()?));
            Some(Cell::Nested(map.iter().filter_map(number).collect()))
        }
        other => one(other).map(Cell::One),
    }
}

fn one(value: &Value) -> Option<String> {
    match value {
        Value::Bool(true) => Some("True".to_owned()),
        Value::Bool(false) => Some("False".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.trim().to_owned()),
        _ => None,
    }
}
