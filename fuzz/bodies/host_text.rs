//! Any bytes as a text that a command printed. The first line is the command.

use coalescope_host::sources::normalise;
use coalescope_host::text::{Text, read};

pub(super) fn run(data: &[u8]) {
    let text = normalise(data.to_vec());
    let (command, body) = text.split_once('\n').unwrap_or(("", &text));
    for command in [None, Some(command)] {
        let text = Text {
            origin: "fuzz",
            command,
            body,
        };
        let Some(reading) = read(&text) else {
            continue;
        };
        assert!(!reading.kind.is_empty());
        // What was read can be saved, and is the same when it is read again.
        let saved = serde_json::to_value(&reading.snapshot).expect("a snapshot is JSON");
        let again = serde_json::from_value(saved).expect("what was written is read");
        assert_eq!(reading.snapshot, again);
    }
}
