//! Runs a simulated story through the analysis.

use std::io::Cursor;
use std::sync::Arc;

use coalescope_capture::file::{Again, Source};
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

/// A capture in memory, which can be read again, as files can.
pub(crate) fn source(name: &str, bytes: Vec<u8>) -> Source {
    let size = bytes.len() as u64;
    let bytes: Arc<[u8]> = bytes.into();
    let first = Box::new(Cursor::new(Arc::clone(&bytes)));
    let source = Source::from_reader(name, first, Some(size)).expect("a capture");
    let again: Again = Arc::new(move || Ok(Box::new(Cursor::new(Arc::clone(&bytes)))));
    source.with_again(Some(again))
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
