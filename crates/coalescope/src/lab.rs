//! `coalescope lab`: the incidents, live and simulated.
//!
//! `chain` measures, then runs this program's own commands on the lab's hosts: `check`, `trace` over captures of the
//! path's points, `ab`, `fix`, `undo`. Namespaces have names (`cs-PID-ROOM`), written down under a lock first, so that
//! the next command can remove what a killed one left. With `--kernel uml`, `uml` boots user-mode Linux and runs this
//! program's `lab run` there; the guest's JSON is the report.

#[cfg(target_os = "linux")]
mod chain;
#[cfg(target_os = "linux")]
mod commands;
mod judged;
mod list;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod others;
mod simulated;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod uml;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(target_os = "linux")]
pub(crate) use live::demo;

use crate::cli::LabCommand;
#[cfg(target_os = "linux")]
use crate::cli::LabKernel;
use crate::{Outcome, incidents, scratch, speech};

/// Nothing is run live here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn demo(_: crate::cli::Format) -> anyhow::Result<bool> {
    speech::tell(
        "not here: incidents are run live on Linux only; so captures of a simulated one instead",
    );
    Ok(false)
}

/// Runs one of them.
#[cfg(target_os = "linux")]
pub(crate) fn run(command: &LabCommand) -> anyhow::Result<Outcome> {
    if matches!(command, LabCommand::Run(_) | LabCommand::Shell(_)) {
        clean_folders();
    }
    match command {
        LabCommand::List => incidents::list(),
        LabCommand::Show { name } => list::show(name),
        LabCommand::Run(args) if args.simulated => simulated::run(args),
        LabCommand::Run(args) if args.kernel == LabKernel::Uml => uml::run(args),
        LabCommand::Run(args) => live::run(args),
        LabCommand::Shell(args) => live::shell(args),
        LabCommand::Clean => live::clean(),
        LabCommand::Wire(args) => wire::wire(args),
        LabCommand::Get(args) => wire::get(args),
    }
}

/// Runs one of them, as far as it needs no namespaces.
#[cfg(not(target_os = "linux"))]
pub(crate) fn run(command: &LabCommand) -> anyhow::Result<Outcome> {
    match command {
        LabCommand::List => incidents::list(),
        LabCommand::Show { name } => list::show(name),
        LabCommand::Run(args) if args.simulated => {
            clean_folders();
            simulated::run(args)
        }
        LabCommand::Run(_) => anyhow::bail!(
            "incidents are run live in network namespaces of Linux: run it there, or with --simulated"
        ),
        _ => anyhow::bail!("the lab is made of network namespaces of Linux: run it there"),
    }
}

/// Removes the folders of labs that were killed.
fn clean_folders() {
    for folder in scratch::clean() {
        let folder = folder.display();
        speech::tell(&format!("removed what a killed lab had left: {folder}"));
    }
}
