//! No text is two readers'.

use super::super::{Text, esxi, windows};
use super::READERS;

#[path = "../../../tests/other_text/bsd.rs"]
mod bsd;
#[path = "../../../tests/other_text/esxi.rs"]
mod esxi_samples;
#[path = "../../../tests/other_text/windows.rs"]
mod windows_samples;

#[test]
fn every_sample_has_one_reader() {
    let samples = [
        bsd::SAMPLES,
        windows_samples::SAMPLES,
        esxi_samples::SAMPLES,
    ];
    for (origin, command, body) in samples.into_iter().flatten() {
        let text = Text {
            origin,
            command: *command,
            body,
        };
        let readers = [READERS, windows::READERS, esxi::READERS];
        let readers = readers.into_iter().flatten();
        let known = readers.filter(|reader| (reader.recognises)(&text));
        let names: Vec<_> = known.map(|reader| reader.name).collect();
        assert_eq!(names.len(), 1, "{origin}: {names:?}");
    }
}
