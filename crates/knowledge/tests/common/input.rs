//! Captures as `trace` takes them, and what that says.

use std::io::Cursor;

use coalescope_capture::facts::Trace;
use coalescope_capture::file::Source;
use coalescope_capture::{Options, PointInput, trace};

/// A point with one capture.
pub(crate) fn input(name: &str, bytes: Vec<u8>) -> PointInput {
    let reader = Box::new(Cursor::new(bytes));
    let source = Source::from_reader(name, reader, None).expect("a capture");
    PointInput {
        name: name.to_owned(),
        sources: vec![(name.to_owned(), source)],
    }
}

pub(crate) fn traced(inputs: impl IntoIterator<Item = PointInput>) -> Trace {
    let inputs = inputs.into_iter().collect();
    trace(inputs, &Options::default(), &mut |_| {}).expect("inputs are good")
}
