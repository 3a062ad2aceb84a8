//! Any bytes as a capture file: all frames are read, each is walked.

use coalescope_capture::file::Source;
use coalescope_wire::walk;
use std::io::Cursor;

pub(super) fn run(data: &[u8]) {
    let size = Some(data.len() as u64);
    let reader = Box::new(Cursor::new(data.to_vec()));
    let Ok(mut source) = Source::from_reader("fuzz", reader, size) else {
        return;
    };
    while let Some(frame) = source.next() {
        assert!(frame.data.len() as u64 <= u64::from(frame.original_len));
        let _ = walk(frame.link, frame.data, frame.original_len);
    }
    assert!(source.next().is_none());
    for warning in source.warnings() {
        assert!(!warning.to_string().is_empty());
    }
}
