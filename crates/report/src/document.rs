//! JSON documents that begin with the name of their schema, and those schemas.

use std::io::{self, BufWriter, Write};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::json;

use crate::seen::Seen;

/// A whole document; its fields are printed in this order.
#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// Bytes written at once: writing less at a time costs more than making a large document does.
pub(crate) const AT_ONCE: usize = 256 * 1024;

/// Prints one document: `schema`, its name and version, stands before the fields of `body`.
///
/// # Errors
///
/// If it cannot be written.
pub fn write<T: Serialize>(schema: &'static str, body: &T, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(AT_ONCE, Seen::new(out));
    serde_json::to_writer_pretty(&mut out, &Document { schema, body })?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The same in one line, for programs: a fifth to a third shorter, and as much faster.
///
/// # Errors
///
/// If it cannot be written.
pub(crate) fn write_compact<T: Serialize>(
    schema: &'static str,
    body: &T,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(AT_ONCE, Seen::new(out));
    serde_json::to_writer(&mut out, &Document { schema, body })?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The JSON Schema (draft 2020-12) of what [`write()`] prints of a `T`. What is always printed is
/// required.
#[must_use]
pub fn schema<T: JsonSchema>(name: &'static str) -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let parts = schema.ensure_object();
    parts.insert("title".to_owned(), json!(name));
    let fields = parts.entry("properties").or_insert_with(|| json!({}));
    fields["schema"] = json!({ "description": "Name and version of this schema.", "const": name });
    let required = parts.entry("required").or_insert_with(|| json!([]));
    if let Some(names) = required.as_array_mut()
        && !names.contains(&json!("schema"))
    {
        names.insert(0, json!("schema"));
    }
    schema
}
