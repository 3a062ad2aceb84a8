//! A snapshot saved as JSON: one document, or an array of them.

use serde_json::Value;

use crate::model::{SCHEMA, Snapshot};

/// What a document is.
pub(super) enum Saved {
    Snapshot(Box<Snapshot>),
    /// It says that it is a snapshot, and cannot be read; why.
    Broken(String),
}

/// Reads the snapshots of a text; `None` if it does not say that it is one.
pub(super) fn read(text: &str) -> Option<Vec<Saved>> {
    if !is_saved(text) {
        return None;
    }
    Some(match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(all)) => all.into_iter().map(one).collect(),
        Ok(document) => vec![one(document)],
        Err(error) => vec![Saved::Broken(format!(
            "a snapshot that is cut or damaged ({error}): save it again"
        ))],
    })
}

/// The schema is written first.
fn is_saved(text: &str) -> bool {
    let begin = text.trim_start().trim_start_matches('[').trim_start();
    let Some(key) = begin.strip_prefix('{').map(str::trim_start) else {
        return false;
    };
    let value = key.strip_prefix("\"schema\"").map(str::trim_start);
    let value = value.and_then(|rest| rest.strip_prefix(':'));
    value.is_some_and(|rest| rest.trim_start().starts_with("\"coalescope/host/"))
}

fn one(document: Value) -> Saved {
    let schema = document.get("schema").and_then(Value::as_str);
    if schema != Some(SCHEMA) {
        let schema = schema.unwrap_or("none").to_owned();
        return Saved::Broken(format!(
            "a snapshot of schema {schema}, only {SCHEMA} is known: use a newer coalescope"
        ));
    }
    match serde_json::from_value(document) {
        Ok(snapshot) => Saved::Snapshot(Box::new(snapshot)),
        Err(error) => Saved::Broken(format!(
            "a snapshot with a field that is not known: {error}"
        )),
    }
}
