//! Reports are as wide as the terminal, whatever they are about.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod html_reports;
mod widths;

use std::io::Cursor;

use coalescope_capture::file::Source;
use coalescope_capture::{Options, PointInput, trace};
use coalescope_knowledge::judge;
use coalescope_report::{Document, Report, TextOptions};
use coalescope_simulate::{Outcome, run, stories, story};

/// Names of points as people give them, and one that is a path.
const NAMES: [&str; 2] = [
    "lb1",
    "a-capture-with-a-rather-long-name-of-its-own.2026-11-25",
];

/// What `trace` has to say of a simulated network.
fn traced(outcome: &Outcome) -> Report {
    let points = outcome.points.iter().map(|point| {
        let bytes = Box::new(Cursor::new(point.bytes.clone()));
        let source = Source::from_reader(&point.name, bytes, None).unwrap();
        PointInput {
            name: point.name.clone(),
            sources: vec![(point.name.clone(), source)],
        }
    });
    let trace = trace(points.collect(), &Options::default(), &mut |_| {}).unwrap();
    let diagnosis = judge(&trace);
    Report::new(trace, diagnosis)
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn every_story_fits_every_width() {
    for one in stories() {
        let report = traced(&run(&story(one.name).unwrap()));
        widths::fits(one.name, false, |options| {
            text(|out| report.write_text(out, options).unwrap())
        });
    }
}

#[test]
fn every_kind_of_report_fits_every_width() {
    for name in NAMES {
        for (kind, report) in reports(name) {
            widths::fits(&format!("{kind} of {name}"), false, |options| {
                text(|out| report.write_text(out, options).unwrap())
            });
        }
    }
}

/// Each kind of report, full of a name.
fn reports(name: &str) -> Vec<(&'static str, Box<dyn Document>)> {
    let mut reports: Vec<(_, Box<dyn Document>)> = vec![
        ("trace", Box::new(html_reports::trace(name, 3))),
        ("diagnose", Box::new(html_reports::diagnosis(name))),
        ("check", Box::new(html_reports::check(name))),
        ("lab", Box::new(html_reports::lab(name))),
        ("replay", Box::new(html_reports::replay(name))),
        ("watch", Box::new(html_reports::watch(name))),
    ];
    #[cfg(target_os = "linux")]
    reports.extend::<[(_, Box<dyn Document>); 2]>([
        ("fix", Box::new(html_reports::fix(name))),
        ("undo", Box::new(html_reports::undo(name))),
    ]);
    reports
}

#[test]
fn what_was_not_read_comes_before_the_result_and_is_left_out_if_brief() {
    let report = html_reports::trace("lb1", 1);
    let options = TextOptions::default();
    let whole = text(|out| report.write_text(out, &options).unwrap());
    assert!(whole.starts_with("warning: "), "{whole}");
    let result = &report.diagnosis().verdict.text;
    let brief = TextOptions {
        brief: true,
        ..options
    };
    let brief = text(|out| report.write_text(out, &brief).unwrap());
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(&brief), words(result));
}
