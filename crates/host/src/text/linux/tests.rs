//! No text is of two kinds.

#[path = "../../../tests/linux_text/samples.rs"]
mod samples;

use super::super::{esxi, freebsd, windows};
use crate::text::Text;

/// Names of the readers that take a text.
fn takers(text: &Text<'_>) -> Vec<&'static str> {
    let all = [
        super::READERS,
        freebsd::READERS,
        windows::READERS,
        esxi::READERS,
    ];
    let readers = all.into_iter().flatten();
    let takers = readers.filter(|reader| (reader.recognises)(text));
    takers.map(|reader| reader.name).collect()
}

#[test]
fn samples_are_of_one_kind() {
    for sample in samples::all() {
        let text = Text {
            origin: sample.name,
            command: sample.command,
            body: sample.body,
        };
        assert_eq!(
            takers(&text).len(),
            1,
            "{}: {:?}",
            sample.name,
            takers(&text)
        );
    }
}

#[test]
fn a_host_without_a_name_has_a_kernel() {
    let text = Text {
        origin: "uname",
        command: Some("uname -a"),
        body: "Linux (none) 6.1.0 #1 Mon Jan 5 10:00:00 UTC 2026 x86_64 GNU/Linux\n",
    };
    assert_eq!(takers(&text), ["uname -a"]);
}
