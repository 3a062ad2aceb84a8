//! A capture as `trace` takes it.

use std::io::Cursor;

use coalescope_capture::PointInput;
use coalescope_capture::file::Source;

/// A point with one capture.
pub(crate) fn input(name: &str, bytes: Vec<u8>) -> PointInput {
    let reader = Box::new(Cursor::new(bytes));
    let source = Source::from_reader(name, reader, None).expect("a capture");
    PointInput {
        name: name.to_owned(),
        sources: vec![(name.to_owned(), source)],
    }
}
