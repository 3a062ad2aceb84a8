//! Measures our merge engine beside others; `run` says how it is used.

mod clock;
mod engine;
mod floor;
mod frames;
mod goals;
mod id;
mod lineup;
mod measure;
mod options;
mod ours;
mod peer;
mod report;
mod tunrs;

use std::env;
use std::io;
use std::process::ExitCode;

use crate::goals::Rows;
use crate::options::Options;
use crate::report::Mode;

/// Measures one mode and prints its tables.
fn compare(options: &Options, mode: &Mode, cold: usize) -> io::Result<Rows> {
    let cold = options.cold(cold);
    let mut engines = lineup::engines(options, mode, cold)?;
    let mut all = Rows::new();
    for cache in ["warm", "cold"] {
        let mut rows = Vec::new();
        for load in options.loads(cache, cold) {
            eprintln!(
                "{}, {cache}: {} flows, runs of {}",
                mode.title, load.flows, load.run
            );
            rows.push(measure::measure(&mut engines, &load, options.rounds)?);
        }
        report::tables(mode, cache, &rows);
        all.push((cache, rows));
    }
    Ok(all)
}

fn run() -> io::Result<()> {
    let options = Options::new();
    let wanted = env::var("ONLY").unwrap_or_default();
    let is_wanted = |name| wanted.is_empty() || wanted == name;
    let (mut zero, mut copied) = (Rows::new(), Rows::new());
    println!("{} rounds.\n", options.rounds);
    if is_wanted("zero-copy") {
        zero = compare(&options, &report::ZERO_COPY, 131_072)?;
        println!();
    }
    if is_wanted("copying") {
        copied = compare(&options, &report::COPYING, 32_768)?;
    }
    if !options.small {
        goals::goals(&zero, &copied);
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
