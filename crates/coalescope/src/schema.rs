//! `coalescope schema`.

use std::io::{self, Write};

use clap::ValueEnum;
use coalescope_host::model::Snapshot;
use coalescope_incident::Incident;
use coalescope_knowledge::rules::Rule;
use coalescope_report::{
    AbReport, CheckReport, DiagnoseReport, Document, LabReport, ReplayReport, Report, WatchReport,
    WireReport, document, listing,
};
use coalescope_watch::{facts::Watched, record};
use schemars::{Schema, schema_for};

use crate::cli::{SchemaArgs, SchemaName};
use crate::system::changes;
use crate::{Outcome, rules, speech};

pub(crate) fn run(args: &SchemaArgs) -> anyhow::Result<Outcome> {
    let Some(name) = args.name else { return list() };
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &schema(name)?).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(Outcome::Done)
}

/// The schema of a format. In output, fields that are always there are required; in files that
/// people write, they may be left out.
fn schema(name: SchemaName) -> anyhow::Result<Schema> {
    Ok(match name {
        SchemaName::Trace => Report::schema(),
        SchemaName::Check => CheckReport::schema(),
        SchemaName::Diagnose => DiagnoseReport::schema(),
        SchemaName::Ab => AbReport::schema(),
        SchemaName::Replay => ReplayReport::schema(),
        SchemaName::Lab => LabReport::schema(),
        SchemaName::LabWire => WireReport::schema(),
        SchemaName::Watch => WatchReport::schema(),
        SchemaName::WatchRecord => document::schema::<Watched>(record::SCHEMA),
        SchemaName::RulesList => rules::list_schema(),
        SchemaName::RulesTest => rules::test_schema(),
        SchemaName::Host => schema_for!(Snapshot),
        SchemaName::Rules => schema_for!(Vec<Rule>),
        SchemaName::Incident => schema_for!(Incident),
        SchemaName::Fix | SchemaName::Undo | SchemaName::Journal => changes::schema(name)?,
    })
}

fn list() -> anyhow::Result<Outcome> {
    let values = SchemaName::value_variants().iter();
    let rows = values.filter_map(|value| {
        let value = value.to_possible_value()?;
        let help = value.get_help().map(ToString::to_string);
        Some(vec![value.get_name().to_owned(), help.unwrap_or_default()])
    });
    let text = listing(&rows.collect::<Vec<_>>(), speech::width());
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Outcome::Done)
}
