//! The `coalescope` command: arguments in, report out.
//!
//! It is a library so that manual pages and completions can be made from the one definition of its
//! arguments, [`Cli`].

mod cli;
mod demo;
mod inputs;
mod interrupt;
mod lab;
mod output;
mod progress;
mod replay;
mod trace;

use std::io;
use std::process::ExitCode;

use clap::Parser;

pub use cli::{
    Cli, Command, DemoArgs, Format, LabCommand, OutputArgs, ReplayArgs, ReplayFormat, TraceArgs,
    WireArgs, WireFormat,
};

/// How a command ended, when it could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing wrong was found, or the work is done.
    Done,
    /// Something was found.
    Findings,
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
        Command::Trace(args) => trace::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Lab(LabCommand::Wire(args)) => lab::wire(&args),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
