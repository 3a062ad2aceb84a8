//! Messages of all commands: how many, how wide, and in which colours.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::time::Instant;

use coalescope_host::model::Snapshot;
use coalescope_host::safe::{printable, printable_line};
use coalescope_report::{WIDTH, figure, wrapped};

use crate::cli::{ColorArg, SpeechArgs};

/// Narrower terminals are treated as if they had this many columns.
const NARROWEST: usize = 60;

/// How many messages are printed besides results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Level {
    /// Errors only.
    Quiet,
    /// Warnings and progress as well.
    #[default]
    Usual,
    /// What is read, from where, and how long it takes as well.
    Verbose,
}

#[derive(Clone, Copy, Debug, Default)]
struct Manner {
    level: Level,
    color: ColorArg,
}

/// Options of the process, set once, before the first message.
static MANNER: OnceLock<Manner> = OnceLock::new();

/// Sets the options from the command line.
pub(crate) fn begin(args: SpeechArgs) {
    let level = match (args.quiet, args.verbose) {
        (true, _) => Level::Quiet,
        (false, true) => Level::Verbose,
        (false, false) => Level::Usual,
    };
    let color = args.color;
    // A second call in the same process changes nothing.
    let _ = MANNER.set(Manner { level, color });
}

fn manner() -> Manner {
    MANNER.get().copied().unwrap_or_default()
}

/// Whether only results are printed.
pub(crate) fn is_quiet() -> bool {
    manner().level == Level::Quiet
}

/// Whether details are printed.
pub(crate) fn is_verbose() -> bool {
    manner().level == Level::Verbose
}

/// Width of a line on standard output, in columns.
pub(crate) fn width() -> usize {
    columns(terminal_size::terminal_size_of(io::stdout()))
}

/// Width of a line on standard error, which may be a terminal even if standard output is not.
pub(crate) fn error_width() -> usize {
    columns(terminal_size::terminal_size_of(io::stderr()))
}

/// `COLUMNS`, else the terminal's, else 100.
fn columns(terminal: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    let columns = env::var("COLUMNS").ok();
    let asked = columns.and_then(|columns| columns.trim().parse().ok());
    let found = asked.or_else(|| terminal.map(|(width, _)| usize::from(width.0)));
    found.unwrap_or(WIDTH).max(NARROWEST)
}

/// Whether standard output is coloured.
pub(crate) fn colour() -> bool {
    wants_colour(manner().color, io::stdout().is_terminal())
}

/// Whether to use colours: on a terminal that can show them, unless NO_COLOR (no-color.org) is set;
/// the option overrides both.
pub(crate) fn wants_colour(asked: ColorArg, is_terminal: bool) -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    match asked {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => is_terminal && !is_set("NO_COLOR") && !is_dumb,
    }
}

/// Prints a message on standard error, unless only results are wanted.
pub(crate) fn tell(text: &str) {
    if !is_quiet() {
        say(text);
    }
}

/// Prints a detail if `-v` was given: which file was read, or how long a step took.
pub(crate) fn detail(text: impl FnOnce() -> String) {
    if is_verbose() {
        say(&text());
    }
}

/// How long something took, in words.
pub(crate) fn took(begun: Instant) -> String {
    figure(begun.elapsed().as_secs_f64(), Some("s"))
}

/// Prints an error, always.
pub(crate) fn error(text: &str) {
    say(text);
}

/// Prints to standard error; a closed standard error is ignored. On a terminal, lines are wrapped;
/// in a file or pipe, each message is one line. Messages may contain names from files and archives,
/// so escape sequences are replaced.
fn say(text: &str) {
    let mut out = io::stderr();
    let text = printable(text);
    let text = match out.is_terminal() {
        true => fitted(&text, error_width()),
        false => text.into_owned(),
    };
    let _ = writeln!(out, "{text}");
}

/// Wraps the lines of a message; a command, which begins with `$`, is not wrapped.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    let lines = text.lines().flat_map(|line| match line.starts_with("$ ") {
        true => vec![line.to_owned()],
        false => wrapped(line, width, "", "  "),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A host in brief: its name and the number of its interfaces.
pub(crate) fn in_brief(snapshot: &Snapshot) -> String {
    let name = snapshot.name.as_deref().unwrap_or("a host without a name");
    let name = printable_line(name);
    format!("{name}, {} interfaces", snapshot.interfaces.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_says_more_than_the_terminal() {
        assert!(wants_colour(ColorArg::Always, false));
        assert!(!wants_colour(ColorArg::Never, true));
        assert!(!wants_colour(ColorArg::Auto, false));
    }

    #[test]
    fn messages_are_wrapped_between_words_and_commands_are_not() {
        let text = "a message of several words\n$ coalescope trace a.pcap b.pcap";
        let fitted = fitted(text, 16);
        assert_eq!(
            fitted,
            "a message of\n  several words\n$ coalescope trace a.pcap b.pcap"
        );
    }
}
