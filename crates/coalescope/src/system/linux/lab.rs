//! The lab's incidents, live.
//!
//! `chain` measures, then runs this program's own commands on the lab's hosts: `check`, `trace` over captures of the
//! path's points, `ab`, `fix`, `undo`. Namespaces have names (`cs-PID-ROOM`), written down under a lock first, so that
//! the next command can remove what a killed one left. With `--kernel uml`, `uml` boots user-mode Linux and runs this
//! program's `lab run` there; the guest's JSON is the report.

mod chain;
mod commands;
mod live;
mod others;
mod stopped;
mod table;
mod uml;
mod wire;

use crate::Outcome;
use crate::cli::LabRunArgs;
use crate::cli::lab::LabKernel;

pub(crate) use live::{clean, demo, shell};
pub(crate) use wire::{get, wire};

/// Runs incidents, in namespaces here or in a guest.
pub(crate) fn run(args: &LabRunArgs) -> anyhow::Result<Outcome> {
    match args.kernel {
        LabKernel::Uml => uml::run(args),
        LabKernel::Native => live::run(args),
    }
}
