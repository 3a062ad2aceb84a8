//! Commands that change settings and restore them: `ab`, `fix` and `undo`.

pub(crate) mod ab;
pub(crate) mod fix;
mod places;
pub(crate) mod undo;

use std::io;

use coalescope_change::journal;
use coalescope_report::{Document, FixReport, UndoReport, document};
use schemars::Schema;

use crate::cli::{Form, SchemaName};
use crate::made::{made, of_this_host};
use crate::page::PageFile;
use crate::{Outcome, output, speech};

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

/// Prints the report of work that is done, whose outcome is the exit code whatever becomes of the printing: a script would
/// take an error for "nothing was changed". `state` says what is in force.
pub(crate) fn print_done(
    report: &dyn Document,
    form: impl Into<Form>,
    outcome: Outcome,
    state: &str,
) -> Outcome {
    match output::print(report, form, 0) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => speech::error(&format!(
            "error: the report cannot be written to standard output: {error}; {state}"
        )),
        _ => {}
    }
    outcome
}

/// Prints a report of this host on which nothing was changed, and writes its page.
pub(crate) fn print_and_write(
    report: &dyn Document,
    page: &PageFile,
    form: impl Into<Form>,
) -> anyhow::Result<()> {
    output::print_with_page(report, form, 0, page, || made(of_this_host()))
}

/// As [`print_done`], and writes the page of the report: neither can undo the work.
pub(crate) fn print_and_write_done(
    report: &dyn Document,
    page: &PageFile,
    form: impl Into<Form>,
    outcome: Outcome,
    state: &str,
) -> Outcome {
    if let Err(error) = page.write(report, || made(of_this_host())) {
        speech::error(&format!("error: {error:#}; {state}"));
    }
    print_done(report, form, outcome, state)
}
