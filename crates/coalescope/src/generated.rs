//! `coalescope completions` and `man`, made from the one definition of the arguments.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use crate::Outcome;
use crate::cli::{Cli, CompletionsArgs, ManArgs};

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    // Generated into memory first: the generator panics if a reader closes the pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "coalescope", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Outcome::Done)
}

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<Outcome> {
    match &args.out {
        Some(folder) => write_pages(folder)?,
        None => clap_mangen::Man::new(Cli::command()).render(&mut io::stdout().lock())?,
    }
    Ok(Outcome::Done)
}

fn write_pages(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {shown}"))?;
    clap_mangen::generate_to(Cli::command(), folder)
        .with_context(|| format!("cannot write manual pages into {shown}"))
}
