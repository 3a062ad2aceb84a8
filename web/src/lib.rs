//! coalescope in a browser: what the page and its worker call.
//!
//! The same crates as in the program judge captures and write text, JSON and the page of a report, in a Web Worker. Nothing
//! but a file's own slices is read, and nothing is sent anywhere.

mod answer;
mod asked;
mod hosts;
mod slices;

use coalescope_capture::facts::Trace;
use coalescope_capture::provenance::describe;
use coalescope_capture::series::{Series, series};
use coalescope_capture::{Options, Progress, trace};
use coalescope_host::safe::{printable_line, sh};
use coalescope_knowledge::shown;
use coalescope_report::{
    DRAWN_CONNECTIONS, Is, Made, Report, Source, TextOptions, drawn_frames, with_causes,
};
use std::sync::Once;
use std::sync::atomic::AtomicBool;
use wasm_bindgen::prelude::*;

use answer::Answer;
use asked::Asked;

/// Connections to list, and columns: as `trace` prints into a pipe.
const LISTED: usize = 20;
/// Connections kept of one point: as the program does.
const MAX_CONNECTIONS: usize = 1_000_000;

#[wasm_bindgen(raw_module = "./slices.js")]
extern "C" {
    /// How far reading is: which reading, bytes behind us.
    #[wasm_bindgen(js_name = tellProgress)]
    fn tell_progress(step: &str, bytes: f64);
    /// What a bug says of itself. Memory that has run out says nothing.
    #[wasm_bindgen(js_name = tellBug)]
    fn tell_bug(words: &str);
}

static LISTENING: Once = Once::new();

/// What captures and hosts come to.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Judged {
    asked: Asked,
    answer: Answer,
    /// Files that are neither captures nor of hosts, and why.
    left_out: Vec<String>,
}

/// Reads captures and what hosts printed, and judges them. `asked` is JSON, see [`asked`].
///
/// # Errors
///
/// What is wrong with them, in words, a line each.
#[wasm_bindgen]
pub fn analyse(asked: &str) -> Result<Judged, String> {
    LISTENING.call_once(|| std::panic::set_hook(Box::new(|bug| tell_bug(&bug.to_string()))));
    let mut asked: Asked = serde_json::from_str(asked).map_err(|error| error.to_string())?;
    let (hosts, left_out) = hosts::read(&mut asked)?;
    if hosts.is_none() {
        asked.count()?;
    }
    let captured = (!asked.points.is_empty()).then(|| captured(&asked));
    let captured = captured.transpose()?;
    let answer = Answer::of(&asked, hosts, captured)?;
    Ok(Judged {
        asked,
        answer,
        left_out,
    })
}

fn captured(asked: &Asked) -> Result<Trace, String> {
    let read = trace(asked.inputs()?, &options(asked), &mut telling("reading"));
    read.map_err(|error| with_causes(&error))
}

/// Tells how far a reading is, at most once for so many bytes: each call out of WebAssembly takes as long as some frames.
fn telling(step: &'static str) -> impl FnMut(Progress) {
    const EACH: u64 = 1 << 20;
    let mut next = 0;
    move |progress| {
        if progress.consumed_bytes >= next {
            next = progress.consumed_bytes + EACH;
            tell_progress(step, progress.consumed_bytes as f64);
        }
    }
}

fn options(asked: &Asked) -> Options {
    Options {
        threads: 1,
        separate: asked.compare,
        points_by_interface: asked.by_interface,
        max_connections: MAX_CONNECTIONS,
        ..Options::default()
    }
}

/// The frames of a few connections, by a second reading.
fn pictures(asked: &Asked, report: &Report) -> Result<Vec<Series>, String> {
    let (trace, diagnosis) = (report.trace(), report.diagnosis());
    let chosen = shown(trace, diagnosis, DRAWN_CONNECTIONS);
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let limit = drawn_frames(chosen.len(), trace.points.len());
    let found = series(
        asked.inputs()?,
        &options(asked),
        (trace, &chosen),
        limit,
        &mut telling("drawing"),
    );
    found.map_err(|error| format!("the second reading failed: {}", with_causes(&error)))
}

/// What one would type to have the same of the program.
fn command(asked: &Asked) -> String {
    let kind = match (asked.compare, asked.by_interface) {
        (true, _) => " --compare",
        (_, true) => " --points-by-interface",
        _ => "",
    };
    let told = |word: &str| sh(&printable_line(word)).into_owned();
    let hosts = asked.host_names();
    let from: Vec<_> = hosts
        .map(|host| format!(" --from {}", told(host)))
        .collect();
    let from = from.concat();
    let command = if from.is_empty() { "trace" } else { "diagnose" };
    let each = asked.points.iter().flat_map(|point| {
        let files = point.files.iter();
        let words = files.map(|file| format!("{}={}", point.name, file.name));
        words.map(|word| told(&word))
    });
    format!(
        "coalescope {command}{from}{kind} {}",
        each.collect::<Vec<_>>().join(" ")
    )
    .trim_end()
    .to_owned()
}

fn sources(asked: &Asked) -> Vec<Source> {
    let stop = AtomicBool::new(false);
    let mut sources = hosts::sources(asked, &stop);
    for point in &asked.points {
        for file in &point.files {
            tell_progress("hashing", 0.0);
            let mut open = || Ok(Box::new(file.reader()) as Box<dyn std::io::Read + Send>);
            sources.push(Source {
                about: Some(point.name.clone()),
                name: file.name.clone(),
                is: Is::capture(describe(&file.name, &mut open, &stop)),
            });
        }
    }
    sources
}

#[wasm_bindgen]
impl Judged {
    /// As `trace` prints it.
    ///
    /// # Errors
    ///
    /// If memory runs out.
    pub fn text(&self) -> Result<String, String> {
        let options = TextOptions {
            connections: Some(LISTED),
            ..TextOptions::default()
        };
        written(|out| self.answer.document().write_text(out, &options))
    }

    /// As `trace --format json` prints it.
    ///
    /// # Errors
    ///
    /// If memory runs out.
    pub fn json(&self) -> Result<String, String> {
        written(|out| self.answer.document().write_json(out))
    }

    /// What the captures come to, in a line; empty where nothing is wrong.
    #[must_use]
    pub fn impact(&self) -> String {
        let traced = self.answer.traced();
        let impact = traced.and_then(|report| report.diagnosis().verdict.impact.clone());
        impact.unwrap_or_default()
    }

    /// What was left out, was not read, or looked odd.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let warnings = self.answer.document().warnings();
        self.left_out.iter().cloned().chain(warnings).collect()
    }

    /// The first lines.
    #[must_use]
    pub fn verdict(&self) -> String {
        self.answer.verdict()
    }

    /// As `trace --report` writes it: the captures are read again, for its pictures and for their hashes. Nothing else can
    /// be asked afterwards.
    ///
    /// # Errors
    ///
    /// If memory runs out.
    pub fn page(self) -> Result<String, String> {
        let answer = self.answer.with_pictures(&self.asked);
        let made = Made {
            command: command(&self.asked),
            at_unix_s: self.asked.now_unix_s as u64,
            sources: sources(&self.asked),
        };
        written(|out| answer.document().write_html(&made, out))
    }
}

fn written(
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<String, String> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}
