//! Runs a simulated story through the analysis.

use std::io::Cursor;

use coalescope_capture::file::Source;
use coalescope_capture::{Options, PointInput, facts, trace};
use coalescope_simulate::{Element, Format, Outcome, Scenario, run, story};

/// The facts of a scenario's points, and the truth.
pub(crate) fn traced(scenario: &Scenario) -> (facts::Trace, Outcome) {
    traced_with(scenario, &Options::default())
}

/// The same with options.
pub(crate) fn traced_with(scenario: &Scenario, options: &Options) -> (facts::Trace, Outcome) {
    let outcome = run(scenario);
    let input = |(name, bytes): (String, Vec<u8>)| PointInput {
        sources: vec![(name.clone(), source(&name, bytes))],
        name,
    };
    let files = outcome
        .points
        .iter()
        .map(|point| (point.name.clone(), point.bytes.clone()));
    let trace = trace(files.map(input).collect(), options, &mut |_| {}).expect("inputs are good");
    (trace, outcome)
}

/// A capture in memory.
pub(crate) fn source(name: &str, bytes: Vec<u8>) -> Source {
    let size = bytes.len() as u64;
    Source::from_reader(name, Box::new(Cursor::new(bytes)), Some(size)).expect("a capture")
}

/// A story whose captures are classic ones in microseconds.
pub(crate) fn simulated(name: &str) -> Outcome {
    let mut scenario = story(name).expect("a story");
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.format = Format::default();
        }
    }
    run(&scenario)
}
