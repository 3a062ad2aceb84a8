//! `coalescope schema`.

use std::io::{self, Write};

use coalescope_host::model::Snapshot;
use coalescope_knowledge::rules::Rule;
use coalescope_report::AbReport;
use schemars::schema_for;

use crate::Outcome;
use crate::cli::{SchemaArgs, SchemaName};

pub(crate) fn run(args: &SchemaArgs) -> anyhow::Result<Outcome> {
    let schema = match args.name {
        SchemaName::Host => schema_for!(Snapshot),
        SchemaName::Ab => schema_for!(AbReport),
        SchemaName::Rules => schema_for!(Vec<Rule>),
    };
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &schema).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(Outcome::Done)
}
