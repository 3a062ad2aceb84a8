//! `coalescope lab`: the incidents, live and simulated.

pub(crate) mod exit;
pub(crate) mod list;
mod simulated;

use crate::cli::LabCommand;
use crate::system::lab;
use crate::{Outcome, incidents, scratch, speech};

/// Runs a command of the lab.
pub(crate) fn run(command: &LabCommand) -> anyhow::Result<Outcome> {
    if matches!(command, LabCommand::Run(_) | LabCommand::Shell(_)) {
        clean_folders();
    }
    match command {
        LabCommand::List => incidents::list(),
        LabCommand::Show { name } => list::show(name),
        LabCommand::Run(args) if args.simulated => simulated::run(args),
        LabCommand::Run(args) => lab::run(args),
        LabCommand::Shell(args) => lab::shell(args),
        LabCommand::Clean => lab::clean(),
        LabCommand::Wire(args) => lab::wire(args),
        LabCommand::Get(args) => lab::get(args),
    }
}

/// Removes the folders of labs that were killed.
fn clean_folders() {
    for folder in scratch::clean() {
        let folder = folder.display();
        speech::tell(&format!("removed what a killed lab had left: {folder}"));
    }
}
