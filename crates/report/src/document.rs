//! What a command prints, whatever the form; and JSON documents, which begin with the name of their schema.

use std::io::{self, BufWriter, Write};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::json;

use crate::made::Made;
use crate::seen::Seen;
use crate::text::options::TextOptions;

/// What a command has to say, in every form in which it can be said. Each form fails only if it cannot be written;
/// one that a report does not have says so.
pub trait Document {
    /// The JSON Schema of what [`write_json`](Self::write_json) prints.
    #[must_use]
    fn schema() -> Schema
    where
        Self: Sized;

    /// What was left out, was not read, or looked odd. Text says so itself.
    #[must_use]
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Prints one JSON document, indented.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn write_json(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Prints the same document for programs: in one line where it is long.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn write_compact_json(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_json(out)
    }

    /// Prints lines of comma-separated values (RFC 4180), with a header.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or has no rows.
    fn write_csv(&self, _: &mut dyn Write) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Prints for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()>;

    /// Writes a page that stands by itself: HTML with its styles, scripts and pictures, and what it was made from.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or is not shown as a page.
    fn write_html(&self, _: &Made, _: &mut dyn Write) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// A whole document; its fields are printed in this order.
#[derive(Serialize)]
struct Titled<'a, T> {
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
    serde_json::to_writer_pretty(&mut out, &Titled { schema, body })?;
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
    serde_json::to_writer(&mut out, &Titled { schema, body })?;
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
