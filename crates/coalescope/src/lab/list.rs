//! `coalescope lab show`, and finding incidents by name or file.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};
use coalescope_incident::Incident;

use crate::cli::LabRunArgs;
use crate::{Outcome, incidents};

/// Prints an incident's file, as a template for others.
pub(crate) fn show(name: &str) -> anyhow::Result<Outcome> {
    let text = Incident::text_of(name).with_context(|| incidents::not_built(name))?;
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// The incidents given by name or by file.
pub(crate) fn chosen(args: &LabRunArgs) -> anyhow::Result<Vec<Incident>> {
    if args.all {
        let all: Result<Vec<_>, _> = Incident::names().map(Incident::named).collect();
        return Ok(all?);
    }
    if args.names.is_empty() {
        bail!("which incident? `coalescope lab list` lists them; --all is all that the lab builds");
    }
    args.names.iter().map(|name| one(name)).collect()
}

/// An incident by its name, or by a path if the text looks like one.
pub(crate) fn one(name: &str) -> anyhow::Result<Incident> {
    let path = Path::new(name);
    let is_file = name.contains('/') || path.extension().is_some_and(|ending| ending == "yaml");
    if !is_file {
        if !incidents::is_built(name) {
            bail!(incidents::not_built(name));
        }
        return Ok(Incident::named(name)?);
    }
    Ok(Incident::read(path)?)
}
