//! Printing the report.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::time::SystemTime;

use coalescope_host::safe::printable_line;
#[cfg(target_os = "linux")]
use coalescope_report::{AbReport, FixReport, UndoReport, WireReport};
use coalescope_report::{
    CheckReport, DiagnoseReport, LabReport, ReplayReport, Report, TextOptions, wrapped,
};

#[cfg(target_os = "linux")]
use crate::cli::{AbFormat, WireFormat};
use crate::cli::{
    CheckFormat, DiagnoseOutput, FailOn, Format, HostFormat, LabFormat, OutputArgs, ReplayFormat,
};
use crate::speech;

/// Prints the report to standard output, which gets nothing else.
pub(crate) fn print(report: &Report, args: OutputArgs) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => {
            warn(report.warnings());
            // Programs need no indentation, and of many connections it is most of the document.
            if out.is_terminal() {
                report.write_json(&mut out)
            } else {
                report.write_compact_json(&mut out)
            }
        }
        Format::Csv => {
            warn(report.warnings());
            report.write_csv(&mut out)
        }
        Format::Text => report.write_text(&mut out, &text_options(args.connections)),
    }
}

/// The same for a replay.
pub(crate) fn print_replay(
    report: &ReplayReport,
    format: ReplayFormat,
    connections: usize,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        ReplayFormat::Json => {
            warn(report.warnings());
            report.write_json(&mut out)
        }
        ReplayFormat::Csv => {
            warn(report.warnings());
            report.write_csv(&mut out)
        }
        ReplayFormat::Text => report.write_text(&mut out, &text_options(connections)),
    }
}

/// The same for a check.
pub(crate) fn print_check(
    report: &CheckReport,
    format: CheckFormat,
    fail_on: FailOn,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    // As text it says itself what was not read.
    if format != CheckFormat::Text {
        warn(report.warnings());
    }
    match format {
        CheckFormat::Text => report.write_text(&mut out, &text_options(0)),
        CheckFormat::Json => report.write_json(&mut out),
        CheckFormat::Csv => report.write_csv(&mut out),
        CheckFormat::Junit => {
            let fails = |blame| fail_on.includes(blame);
            report.write_junit(&mut out, &fails, SystemTime::now())
        }
        CheckFormat::Sarif => report.write_sarif(&mut out),
        CheckFormat::Openmetrics => report.write_openmetrics(&mut out),
    }
}

/// The same for a diagnosis.
pub(crate) fn print_diagnose(report: &DiagnoseReport, args: DiagnoseOutput) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match args.format {
        HostFormat::Json => {
            warn(report.warnings());
            report.write_json(&mut out)
        }
        HostFormat::Text => report.write_text(&mut out, &text_options(args.connections)),
    }
}

/// The same for an experiment.
#[cfg(target_os = "linux")]
pub(crate) fn print_ab(report: &AbReport, format: AbFormat) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        AbFormat::Json => {
            warn(report.warnings());
            report.write_json(&mut out)
        }
        AbFormat::Csv => {
            warn(report.warnings());
            report.write_csv(&mut out)
        }
        AbFormat::Text => report.write_text(&mut out, &text_options(0)),
    }
}

/// The same for what mends findings.
#[cfg(target_os = "linux")]
pub(crate) fn print_fix(report: &FixReport, format: HostFormat) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        HostFormat::Json => report.write_json(&mut out),
        HostFormat::Text => report.write_text(&mut out, &text_options(0)),
    }
}

/// The same for what was taken back.
#[cfg(target_os = "linux")]
pub(crate) fn print_undo(report: &UndoReport, format: HostFormat) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        HostFormat::Json => report.write_json(&mut out),
        HostFormat::Text => report.write_text(&mut out, &text_options(0)),
    }
}

/// The same for the lab.
pub(crate) fn print_lab(report: &LabReport, format: LabFormat) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        LabFormat::Json => report.write_json(&mut out),
        LabFormat::Csv => report.write_csv(&mut out),
        LabFormat::Text => report.write_text(&mut out, &text_options(0)),
    }
}

/// The same for a wire.
#[cfg(target_os = "linux")]
pub(crate) fn print_wire(report: &WireReport, format: WireFormat) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        WireFormat::Json => {
            warn(&report.warnings);
            report.write_json(&mut out)
        }
        WireFormat::Text => report.write_text(&mut out, &text_options(0)),
    }
}

/// Says in a line what a demonstration came to.
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

/// What text says before its result.
fn warn(warnings: impl IntoIterator<Item = impl Display>) {
    for warning in warnings {
        speech::tell(&printable_line(&format!("warning: {warning}")));
    }
}
