//! Reports in all formats, and JSON documents, which begin with the name of their schema.

use std::io::{self, BufWriter, Write};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::json;

use crate::made::Made;
use crate::seen::Seen;
use crate::text::options::TextOptions;

/// A report in every format. Printing fails if the output cannot be written, or if the report has no such format.
pub trait Document {
    /// The JSON Schema of what [`write_json`](Self::write_json) prints.
    #[must_use]
    fn schema() -> Schema
    where
        Self: Sized;

    /// What was left out, was not read, or is unusual. The text format contains the warnings itself.
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

    /// Prints the JSON for programs: without line breaks if it is long.
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

    /// Prints text for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()>;

    /// Writes a self-contained page: HTML with its styles, scripts and pictures, and a list of its inputs.
    ///
    /// # Errors
    ///
    /// If the page cannot be written, or the report has none.
    fn write_html(&self, _: &Made, _: &mut dyn Write) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// A whole document: its schema, then the fields of the body.
#[derive(Serialize)]
struct Titled<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// Size of a write: with smaller ones, writing costs more than making a large document.
pub(crate) const AT_ONCE: usize = 256 * 1024;

/// Prints one document: `schema`, its name and version, comes before the fields of `body`.
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

/// Prints a document without line breaks, for programs: a fifth to a third shorter and faster.
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

/// The JSON Schema (draft 2020-12) of the document that [`write()`] prints of a `T`. Fields that
/// are always printed are required.
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
