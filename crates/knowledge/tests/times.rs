//! What the times of a capture do not show is not said.

mod common;

use coalescope_knowledge::{Diagnosis, Id, Merging, judge};
use coalescope_simulate::{run, stories, story};
use common::{input, make_classic, records, traced, word};

/// The captures of a story, classic ones.
fn simulated(name: &str) -> Vec<(String, Vec<u8>)> {
    let mut scenario = story(name).expect("a story");
    make_classic(&mut scenario);
    let points = run(&scenario).points.into_iter();
    points.map(|point| (point.name, point.bytes)).collect()
}

/// The records of a classic capture, with other times: each time is given in microseconds since the first second.
fn retimed(bytes: &[u8], time: impl Fn(u32, u32) -> (u32, u32)) -> Vec<Vec<u8>> {
    let retimed = records(bytes).into_iter().map(|mut record| {
        let (s, us) = time(word(&record, 0), word(&record, 4));
        record[..4].copy_from_slice(&s.to_le_bytes());
        record[4..8].copy_from_slice(&us.to_le_bytes());
        record
    });
    retimed.collect()
}

fn judged(points: &[(String, Vec<u8>)]) -> (Diagnosis, Vec<String>) {
    let trace = traced(
        points
            .iter()
            .map(|(name, bytes)| input(name, bytes.clone())),
    );
    let warnings = trace.points.iter().flat_map(|point| point.warnings.clone());
    (judge(&trace), warnings.collect())
}

#[test]
fn where_the_clock_stands_nothing_is_called_sound() {
    for story in stories() {
        let still = simulated(story.name).into_iter().map(|(name, bytes)| {
            let records = retimed(&bytes, |_, _| (1_700_000_000, 5));
            (name, [&bytes[..24], &records.concat()].concat())
        });
        let (said, warnings) = judged(&still.collect::<Vec<_>>());
        let about = format!("{}: {:?} {:?}", story.name, said.verdict.text, warnings);
        assert!(
            warnings
                .iter()
                .any(|warning| warning.contains("the same time")),
            "{about}"
        );
        assert!(
            said.findings
                .iter()
                .all(|finding| finding.id != Id::Healthy),
            "{about}"
        );
        assert_ne!(said.verdict.merging, Merging::Innocent, "{about}");
    }
}

/// Whether segments are said to overtake each other, in captures in which one of so many frames changes places with the next.
fn overtaken(points: &[(String, Vec<u8>)], every: usize) -> bool {
    let unsorted = points.iter().map(|(name, bytes)| {
        let mut records = retimed(bytes, |s, us| (s, us));
        let mut at = every;
        while at + 1 < records.len() {
            if records[at][..8] != records[at + 1][..8] {
                records.swap(at, at + 1);
            }
            at += every;
        }
        (name.clone(), [&bytes[..24], &records.concat()].concat())
    });
    let (said, _) = judged(&unsorted.collect::<Vec<_>>());
    said.findings
        .iter()
        .any(|finding| finding.id == Id::ReorderedBeforeMerge)
}

/// A file has neighbours in the wrong order, with the times that are theirs. Frames of one time stay in the file's order: a
/// capture is written as frames come.
#[test]
fn the_order_of_records_in_a_file_says_nothing_against_their_times() {
    for story in stories() {
        let points = simulated(story.name);
        let is_overtaken = overtaken(&points, 1 << 40);
        for every in [20, 5] {
            let said = overtaken(&points, every);
            assert!(!said || is_overtaken, "{}: one of {every}", story.name);
        }
    }
}
