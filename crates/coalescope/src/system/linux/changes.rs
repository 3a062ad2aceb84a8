//! Commands that change settings and restore them: `ab`, `fix` and `undo`.

pub(crate) mod ab;
pub(crate) mod fix;
mod places;
pub(crate) mod undo;

use coalescope_change::journal;
use coalescope_report::{Document, FixReport, UndoReport, document};
use schemars::Schema;

use crate::cli::SchemaName;

pub(crate) use coalescope_change::guardian::serve_if_asked;
pub(crate) use places::mention_left;

/// The schemas of their output and files.
pub(crate) fn schema(name: SchemaName) -> anyhow::Result<Schema> {
    Ok(match name {
        SchemaName::Fix => FixReport::schema(),
        SchemaName::Undo => UndoReport::schema(),
        _ => document::schema::<journal::Journal>(journal::SCHEMA),
    })
}
