//! Why a command could not be run.

use crate::settings;
use std::io;

/// Why a command could not be run, or why its end is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is not a vantage.
    #[error("{text}: {problem}; write it as here, ns/NAME or ssh:HOST")]
    Vantage {
        /// What was written.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// There is no command.
    #[error("there is no command to run; write it after --")]
    Empty,
    /// The kernel takes no such word.
    #[error("the word {word} of the command has a zero byte in it, which no argument can have")]
    Zero {
        /// The word.
        word: String,
    },
    /// There is no such program, or it cannot be executed.
    #[error(
        "cannot execute {program} for the vantage {vantage}: {}",
        reason(problem)
    )]
    Program {
        /// The program.
        program: String,
        /// Where it was to be run.
        vantage: String,
        /// What the kernel said.
        problem: io::Error,
    },
    /// The network namespace cannot be entered.
    #[error(transparent)]
    Namespace(#[from] settings::Error),
    /// ssh itself failed: how the command ended, if it was run at all, is not known.
    #[error(
        "ssh to {host} failed: {last}; try `ssh -o BatchMode=yes {} true`",
        coalescope_host::safe::sh(host)
    )]
    Ssh {
        /// The host.
        host: String,
        /// Its last words.
        last: String,
    },
    /// A short command of ours failed.
    #[error("`{command}` at {vantage} {why}{}", words(last))]
    Failed {
        /// The command.
        command: String,
        /// Where.
        vantage: String,
        /// How it ended.
        why: String,
        /// The last line of its standard error; may be empty.
        last: String,
    },
    /// The system refused something that running a command takes.
    #[error("cannot {action}: {problem}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        problem: io::Error,
    },
}

impl Error {
    /// The error for a word with a zero byte.
    pub(super) fn zero(word: &str) -> Self {
        Self::Zero {
            word: word.replace('\0', "\\0"),
        }
    }

    /// For `map_err`; `action` is what was tried.
    pub(super) fn system<T: Into<io::Error>>(action: &'static str) -> impl FnOnce(T) -> Self {
        move |problem| Self::System {
            action,
            problem: problem.into(),
        }
    }
}

fn reason(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::NotFound => {
            "there is no such program in PATH, or not the interpreter that it names; install it"
                .to_owned()
        }
        io::ErrorKind::PermissionDenied => "it is not executable for this user".to_owned(),
        _ => problem.to_string(),
    }
}

fn words(last: &str) -> String {
    if last.is_empty() {
        String::new()
    } else {
        format!(": {last}")
    }
}

/// The last line that is not empty, without escape sequences of a terminal.
pub(super) fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let mut lines = text.lines().rev().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|letter| !letter.is_control()).collect()
}
