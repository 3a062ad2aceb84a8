//! How a page was made, full of a name.

use coalescope_capture::provenance::FileFacts;
use coalescope_report::{Is, Made, Source};

/// How a page was made, by a command and of files full of a name.
pub(crate) fn made(name: &str) -> Made {
    let source = |is| Source {
        about: Some(name.to_owned()),
        name: name.to_owned(),
        is,
    };
    let capture = FileFacts {
        size_bytes: 142_292,
        sha256: "0f".repeat(32),
        frames: 819,
        times_ns: Some((1_795_575_491_250_000_000, 1_795_575_494_000_000_000)),
        snap_len_bytes: Some((96, 96)),
        cut_frames: 471,
        unreadable_bytes: 12,
    };
    let file = Is::File {
        size_bytes: 10,
        sha256: "a0".repeat(32),
    };
    Made {
        command: format!("coalescope trace {name}"),
        at_unix_s: 1_795_575_491,
        sources: vec![
            source(Is::Capture(capture)),
            source(file),
            source(Is::Other(name.to_owned())),
        ],
    }
}
