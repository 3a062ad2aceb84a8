//! The `coalescope` command: arguments in, report out.
//!
//! It is a library so that manual pages and completions can be made from the one definition of its
//! arguments, [`Cli`].

mod check;
mod cli;
mod demo;
mod diagnose;
mod hosts;
mod inputs;
mod interrupt;
mod lab;
mod output;
mod progress;
mod replay;
mod rules;
mod schema;
mod trace;

use std::io;
use std::process::ExitCode;

use clap::Parser;

pub use cli::{
    CheckArgs, Cli, CollectArgs, Command, DemoArgs, DiagnoseArgs, DiagnoseOutput, Format,
    HostFormat, LabCommand, LiveArgs, OutputArgs, ReplayArgs, ReplayFormat, RulesArgs,
    RulesCommand, RulesOutput, SchemaArgs, SchemaName, TraceArgs, WireArgs, WireFormat,
};

/// How a command ended, when it could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing wrong was found, or the work is done.
    Done,
    /// Something was found.
    Findings,
}

impl Outcome {
    fn of(has_findings: bool) -> Self {
        if has_findings {
            Self::Findings
        } else {
            Self::Done
        }
    }
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        // Whoever reads the report has seen enough of it (`| head`).
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::tell(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Runs a command.
///
/// # Errors
///
/// If the arguments or the input are of no use, or the report cannot be written.
pub fn run(cli: Cli) -> anyhow::Result<Outcome> {
    match cli.command {
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Collect(args) => check::collect(&args),
        Command::Rules(command) => rules::run(&command),
        Command::Schema(args) => schema::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Lab(LabCommand::Wire(args)) => lab::wire(&args),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
