//! Help and usage errors as wide as the terminal.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};
use coalescope_host::safe::{printable, printable_line};
use coalescope_report::{glued, unglued, wrapped};

use super::{Cli, ColorArg};
use crate::speech;

/// What stands before commands that are to be copied.
const COMMANDS: [&str; 3] = ["Example:", "Examples:", "Where shells look for them:"];

/// Reads the arguments.
///
/// # Errors
///
/// If they are wrong, or ask for help or the version.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let width = speech::width();
    let command = fitted(Cli::command(), width)
        .term_width(width)
        .max_term_width(0);
    Cli::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

/// Prints help, or what is wrong with the arguments.
pub(crate) fn explain(error: &clap::Error) -> ExitCode {
    let shown = parse(shown_arguments()).err();
    let shown = shown.filter(|shown| shown.kind() == error.kind());
    let wants_colour = shown.is_some();
    let error = shown.as_ref().unwrap_or(error);
    let text = error.render();
    let is_terminal = match error.use_stderr() {
        true => io::stderr().is_terminal(),
        false => io::stdout().is_terminal(),
    };
    // Escape sequences of ours could not be told from those of an argument as it is.
    let text = match wants_colour && speech::wants_colour(asked_color(), is_terminal) {
        true => text.ansi().to_string(),
        false => printable(&text.to_string()).into_owned(),
    };
    let text = match error.use_stderr() && is_terminal {
        true => speech::fitted(&text, speech::error_width()) + "\n",
        false => unglued(&text),
    };
    // Whoever closed the pipe has seen enough of it.
    let _ = match error.use_stderr() {
        true => io::stderr().write_all(text.as_bytes()),
        false => io::stdout().write_all(text.as_bytes()),
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}

/// The arguments without what a terminal would obey, for errors that quote them.
fn shown_arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(|argument| match argument.to_str() {
        Some(text) => printable_line(text).into_owned().into(),
        None => argument,
    })
}

/// What --color says, where the arguments could not be read.
fn asked_color() -> ColorArg {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let is = |word: &str| {
        let joined = format!("--color={word}");
        arguments.iter().any(|argument| *argument == *joined)
            || arguments
                .windows(2)
                .any(|two| two[0] == *"--color" && two[1] == *word)
    };
    match (is("always"), is("never")) {
        (true, _) => ColorArg::Always,
        (_, true) => ColorArg::Never,
        _ => ColorArg::Auto,
    }
}

/// Wraps what stands below the options, of a command and of those below it.
fn fitted(command: Command, width: usize) -> Command {
    let notes = command.get_after_help().map(ToString::to_string);
    let command = match notes {
        Some(notes) => command.after_help(notes_at(&notes, width)),
        None => command,
    };
    command.mut_subcommands(|below| fitted(below, width))
}

/// Paragraphs are filled; commands stay whole; other indented lines hang.
fn notes_at(notes: &str, width: usize) -> String {
    let mut lines = Vec::new();
    let mut paragraph = String::new();
    let mut are_commands = false;
    for line in notes.lines().chain([""]) {
        if !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':') {
            paragraph.push_str(line);
            paragraph.push(' ');
            continue;
        }
        lines.extend(
            wrapped(paragraph.trim_end(), width, "", "")
                .into_iter()
                .filter(|line| !line.is_empty()),
        );
        paragraph.clear();
        match line {
            line if line.starts_with(' ') && are_commands => lines.push(glued(line)),
            line if line.starts_with(' ') => {
                lines.extend(wrapped(line.trim_start(), width, "  ", "     "));
            }
            line => {
                are_commands = COMMANDS.contains(&line);
                lines.push(line.to_owned());
            }
        }
    }
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_filled_and_commands_stay_whole() {
        let notes = "Examples:\n  coalescope fix --apply --persist\n\nWithout --apply\nnothing is changed.\n\nExit codes:\n  0  done, or nothing to fix";
        let narrow = unglued(&notes_at(notes, 20));
        let expected = "Examples:\n  coalescope fix --apply --persist\n\nWithout --apply\nnothing is changed.\n\nExit codes:\n  0  done, or\n     nothing to fix";
        assert_eq!(narrow, expected);
        assert_eq!(notes_at("one\ntwo", 20), "one two");
    }
}
