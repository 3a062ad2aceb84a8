//! Printing the report.

use std::io::{self, IsTerminal, Write};

use coalescope_report::{Report, TextOptions};

use crate::cli::{Format, OutputArgs};

/// Prints the report to standard output, which gets nothing else.
pub(crate) fn print(report: &Report, args: OutputArgs) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => {
            // Text has a section for them.
            for warning in report.warnings() {
                tell(&format!("warning: {warning}"));
            }
            report.write_json(&mut out)
        }
        Format::Text => {
            let options = TextOptions {
                connections: Some(args.connections).filter(|&n| n > 0),
                colour: wants_colour(),
            };
            report.write_text(&mut out, &options)
        }
    }
}

/// Says something on standard error; that nobody listens there is no reason to end.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Colour is for a terminal that can show it, unless NO_COLOR (no-color.org) forbids it.
fn wants_colour() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}
