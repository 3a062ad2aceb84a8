//! Printing the report.

use std::io::{self, IsTerminal, Write};
use std::time::SystemTime;

use coalescope_host::safe::printable_line;
use coalescope_report::{CheckReport, Document, Made, TextOptions, wrapped};

use crate::cli::{CheckFormat, FailOn, Form};
use crate::page::PageFile;
use crate::speech;

/// Prints a report to standard output, which gets nothing else. Text lists at most `connections`
/// connections, or all if 0.
pub(crate) fn print(
    report: &dyn Document,
    form: impl Into<Form>,
    connections: usize,
) -> io::Result<()> {
    let form = form.into();
    let mut out = io::stdout().lock();
    // The text report lists omissions itself.
    if form != Form::Text {
        warn(report);
    }
    match form {
        Form::Text => report.write_text(&mut out, &text_options(connections)),
        Form::Json if out.is_terminal() => report.write_json(&mut out),
        Form::Json => report.write_compact_json(&mut out),
        Form::Csv => report.write_csv(&mut out),
    }
}

/// Prints a report, and writes its page if one is wanted. The report is printed even if the page could not be written.
pub(crate) fn print_with_page(
    report: &dyn Document,
    form: impl Into<Form>,
    connections: usize,
    page: &PageFile,
    made: impl FnOnce() -> Made,
) -> anyhow::Result<()> {
    let written = page.write(report, made);
    print(report, form, connections)?;
    written
}

/// Prints a check, which has further formats for other programs.
pub(crate) fn print_check(
    report: &CheckReport,
    format: CheckFormat,
    fail_on: FailOn,
) -> io::Result<()> {
    if let Some(form) = format.form() {
        return print(report, form, 0);
    }
    let mut out = io::stdout().lock();
    warn(report);
    match format {
        CheckFormat::Sarif => report.write_sarif(&mut out),
        CheckFormat::Openmetrics => report.write_openmetrics(&mut out),
        _ => {
            let fails = |blame| fail_on.includes(blame);
            report.write_junit(&mut out, &fails, SystemTime::now())
        }
    }
}

/// Prints the conclusion of a demonstration in one line.
pub(crate) fn print_story(story: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if !speech::is_quiet() {
        writeln!(out)?;
    }
    for line in wrapped(story, speech::width(), "", "") {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn text_options(connections: usize) -> TextOptions {
    TextOptions {
        connections: Some(connections).filter(|&n| n > 0),
        colour: speech::colour(),
        width: speech::width(),
        brief: speech::is_quiet(),
    }
}

fn warn(report: &dyn Document) {
    for warning in report.warnings() {
        speech::tell(&printable_line(&format!("warning: {warning}")));
    }
}
