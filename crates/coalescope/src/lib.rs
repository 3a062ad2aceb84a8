//! The `coalescope` command: arguments in, report out.
//!
//! It is a library so that manual pages and completions can be made from the one definition of its
//! arguments, [`Cli`].

mod check;
mod cli;
mod confine;
mod demo;
mod diagnose;
mod digest;
mod explained;
mod generated;
mod hosts;
mod incidents;
mod interrupt;
mod lab;
mod made;
mod output;
mod page;
mod pictures;
mod place;
mod progress;
mod replay;
mod rules;
mod schema;
mod scratch;
mod serve;
mod speech;
mod suggest;
mod system;
mod trace;
mod watch;
mod web;

use std::io;
use std::process::ExitCode;
use std::time::Instant;

pub use cli::{
    AbArgs, AbFormat, CheckArgs, CheckFormat, Cli, CollectArgs, ColorArg, Command, CompletionsArgs,
    DemoArgs, DiagnoseArgs, DiagnoseOutput, DigestArgs, ExportArgs, FixArgs, Format, GetArgs,
    HostFormat, LabCommand, LabFormat, LabRunArgs, LabShellArgs, LiveArgs, ManArgs, MemoryArgs,
    OutputArgs, ReplayArgs, ReplayFormat, ReportArgs, RulesArgs, RulesCommand, RulesOutput,
    SchemaArgs, SchemaName, SenseArg, SpeechArgs, TraceArgs, UndoArgs, WatchArgs, WatchFormat,
    WatchedArgs, WebArgs, WireArgs, WireFormat,
};

use system::changes;

/// The outcome of a command that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing wrong was found, or the work is done.
    Done,
    /// Something was found.
    Findings,
    /// The work failed; the report has the reason, and the state before is restored.
    Failed,
    /// A setting could not be restored.
    Unrestored,
    /// Too little was read to exclude a fault.
    Undecided,
}

impl Outcome {
    fn of(has_findings: bool) -> Self {
        if has_findings {
            Self::Findings
        } else {
            Self::Done
        }
    }

    /// The outcome of judging hosts: a finding comes before undecided rules.
    fn judged(has_findings: bool, is_decided: bool) -> Self {
        match (has_findings, is_decided) {
            (true, _) => Self::Findings,
            (false, true) => Self::Done,
            (false, false) => Self::Undecided,
        }
    }
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    // Before there is a second thread.
    if let Some(code) = changes::serve_if_asked() {
        return code;
    }
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return cli::explain(&error),
    };
    let begun = Instant::now();
    let done = run(cli);
    speech::detail(|| format!("done in {}", speech::took(begun)));
    match done {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Ok(Outcome::Failed) => ExitCode::from(2),
        Ok(Outcome::Unrestored) => ExitCode::from(3),
        Ok(Outcome::Undecided) => ExitCode::from(4),
        // The reader of the report has closed the pipe (`| head`).
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            speech::error(&format!("error: {}", explained::explained(&error)));
            ExitCode::from(2)
        }
    }
}

/// Runs a command.
///
/// # Errors
///
/// If the arguments or the input cannot be used, or the report cannot be written.
pub fn run(cli: Cli) -> anyhow::Result<Outcome> {
    speech::begin(cli.speech);
    match cli.command {
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Export(args) => system::export::run(&args),
        Command::Web(args) => web::run(&args),
        Command::Ab(args) => changes::ab::run(&args),
        Command::Fix(args) => changes::fix::run(&args),
        Command::Undo(args) => changes::undo::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Digest(args) => digest::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Collect(args) => check::collect(&args),
        Command::Rules(command) => rules::run(&command),
        Command::Schema(args) => schema::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Lab(command) => lab::run(&command),
        Command::Completions(args) => generated::completions(&args),
        Command::Man(args) => generated::man(&args),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
