//! Rows in the place of captures: whatever pieces a point's capture is cut into, each made into rows by itself, what is
//! traced from the rows is what is traced from the files, to the last word.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use coalescope_capture::facts::Trace;
use coalescope_capture::rows::{self, Digests, Heads, PointRows, Row, Rows};
use coalescope_capture::{Options, PointInput, trace, trace_parts};
use coalescope_simulate::{Element, Format, rotated, run, stories, story};
use common::source;
use proptest::prelude::*;

/// Rows in memory.
struct Kept(std::vec::IntoIter<Row>);

impl Rows for Kept {
    fn next(&mut self, row: &mut Row) -> Result<bool, String> {
        let next = self.0.next();
        Ok(next.map(|next| *row = next).is_some())
    }
}

/// A point's capture in pieces.
type Files = (String, Vec<Vec<u8>>);

fn from_files(points: &[Files]) -> Trace {
    let inputs = points.iter().map(input).collect();
    trace(inputs, &Options::default(), &mut |_| {}).expect("good inputs")
}

fn input((name, files): &Files) -> PointInput {
    let sources = named(name, files).map(|(file, bytes)| (file.clone(), source(&file, bytes)));
    PointInput {
        name: name.clone(),
        sources: sources.collect(),
    }
}

fn named(point: &str, files: &[Vec<u8>]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let files = files.iter().cloned().zip(0..);
    files.map(move |(bytes, number)| (format!("{point}-{number}"), bytes))
}

fn from_rows(points: &[Files]) -> Trace {
    let heads = if points.len() == 1 {
        Heads::Alone
    } else {
        Heads::Compared
    };
    let point = |(name, files): &Files| {
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for ((file, bytes), number) in named(name, files).zip(0..) {
            let source = source(&file, bytes);
            let mut digests = Digests::new(number, file, source, heads);
            while digests.read(|row| all.push(row.clone())) {}
            ends.push(digests.finish());
        }
        PointRows {
            name: name.clone(),
            files: ends,
            rows: Box::new(Kept(all.into_iter())),
        }
    };
    let points = points.iter().map(point).collect();
    rows::trace(points, &Options::default(), &mut |_| {}).expect("good rows")
}

/// Captures of a story at all of its points, each cut.
fn captures(name: &str, seed: u64, cuts: &[f64]) -> Vec<Files> {
    captures_of(name, seed, cuts, 1)
}

/// The same with so many connections at least.
fn captures_of(name: &str, seed: u64, cuts: &[f64], connections: usize) -> Vec<Files> {
    let mut scenario = story(name).expect("a story");
    scenario.seed = seed;
    scenario.connections = scenario.connections.max(connections);
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.format = Format::default();
        }
    }
    let outcome = run(&scenario);
    let points = outcome.points.iter();
    points
        .map(|point| (point.name.clone(), rotated(&point.bytes, cuts)))
        .collect()
}

fn assert_same(files: &Trace, rows: &Trace) -> Result<(), TestCaseError> {
    let (files, rows) = (format!("{files:#?}"), format!("{rows:#?}"));
    let differs = files.lines().zip(rows.lines()).find(|(a, b)| a != b);
    prop_assert_eq!(differs, None);
    prop_assert_eq!(files.len(), rows.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_are_traced_as_files_are(
        place in 0..stories().len(),
        seed in any::<u64>(),
        cuts in prop::collection::vec(0.0..1.0, 0..8),
    ) {
        let points = captures(stories()[place].name, seed, &cuts);
        assert_same(&from_files(&points), &from_rows(&points))?;
    }

    /// A point that stands alone is asked less of its payloads, and more of its clock.
    #[test]
    fn rows_of_one_point_are_traced_as_its_files_are(
        place in 0..stories().len(),
        seed in any::<u64>(),
        cuts in prop::collection::vec(0.0..1.0, 0..8),
        point in any::<prop::sample::Index>(),
    ) {
        let mut points = captures(stories()[place].name, seed, &cuts);
        let point = point.index(points.len());
        points = vec![points.swap_remove(point)];
        // Ring files in the wrong order.
        if seed.is_multiple_of(4) {
            points[0].1.reverse();
        }
        assert_same(&from_files(&points), &from_rows(&points))?;
    }

    /// Two files of a point, written at the same time for a while.
    #[test]
    fn rows_of_files_that_overlap_are_traced_as_the_files_are(
        place in 0..stories().len(),
        seed in any::<u64>(),
        ends in 0.3..0.9,
        begins in 0.1..0.9,
        alone in any::<bool>(),
    ) {
        let name = stories()[place].name;
        let mut points = captures(name, seed, &[ends]);
        for (point, other) in points.iter_mut().zip(captures(name, seed, &[ends * begins])) {
            point.1.truncate(1);
            point.1.extend(other.1.into_iter().skip(1));
        }
        points.truncate(if alone { 1 } else { points.len() });
        assert_same(&from_files(&points), &from_rows(&points))?;
    }

    /// One thread reads, the others follow some of the connections each.
    #[test]
    fn threads_that_share_connections_out_say_the_same(
        place in 0..stories().len(),
        seed in any::<u64>(),
        cuts in prop::collection::vec(0.0..1.0, 0..8),
        point in any::<prop::sample::Index>(),
        connections in 1..12_usize,
        threads in 2..7_usize,
    ) {
        let mut points = captures_of(stories()[place].name, seed, &cuts, connections);
        let point = points.swap_remove(point.index(points.len()));
        let options = Options { threads, ..Options::default() };
        let shared = trace_parts(input(&point), &options, &mut |_| {}).expect("good inputs");
        let whole = from_files(&[point]);
        match shared {
            Some(shared) => assert_same(&whole, &shared)?,
            None => prop_assert!(whole.points[0].doubled_frames > 0),
        }
    }
}

/// What connections share has to be followed in order.
#[test]
fn more_connections_than_are_kept_are_not_shared_out() {
    let point = || captures_of("healthy-gro", 1, &[0.5], 8).swap_remove(0);
    let found = |max_connections| {
        let options = Options {
            threads: 3,
            max_connections,
            ..Options::default()
        };
        let trace = trace_parts(input(&point()), &options, &mut |_| {}).expect("good inputs");
        trace.map(|trace| trace.points[0].connections.len())
    };
    assert_eq!([found(0), found(8), found(7)], [Some(8), Some(8), None]);
}
