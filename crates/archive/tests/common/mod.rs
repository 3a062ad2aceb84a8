//! Simulated captures in pieces, traced as they are, and as an archive.

use std::io::Cursor;

use coalescope_archive::{Folder, Place, PointFile, ShardBatch, Write, digest};
use coalescope_capture::facts::Trace;
use coalescope_capture::file::Source;
use coalescope_capture::{Options, PointInput, trace};
use coalescope_simulate::{Element, Format, Scenario, rotated, run};

/// A point's capture in pieces.
pub(crate) struct Pieces {
    pub(crate) point: String,
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

/// Captures of a scenario at all of its points, each cut at these parts of it.
pub(crate) fn captures(mut scenario: Scenario, cuts: &[f64]) -> Vec<Pieces> {
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.format = Format::default();
        }
    }
    let outcome = run(&scenario);
    let pieces = outcome.points.iter().map(|point| Pieces {
        files: named(&point.name, rotated(&point.bytes, cuts)),
        point: point.name.clone(),
    });
    pieces.collect()
}

fn named(point: &str, files: Vec<Vec<u8>>) -> Vec<(String, Vec<u8>)> {
    let files = files.into_iter().zip(0..);
    files
        .map(|(bytes, number)| (format!("{point}-{number}"), bytes))
        .collect()
}

pub(crate) fn source(name: &str, bytes: &[u8]) -> Source {
    let size = bytes.len() as u64;
    let reader = Box::new(Cursor::new(bytes.to_vec()));
    Source::from_reader(name, reader, Some(size)).expect("a capture")
}

pub(crate) fn from_files(points: &[Pieces]) -> Trace {
    let input = |pieces: &Pieces| PointInput {
        name: pieces.point.clone(),
        sources: pieces
            .files
            .iter()
            .map(|(name, bytes)| (name.clone(), source(name, bytes)))
            .collect(),
    };
    let inputs = points.iter().map(input).collect();
    trace(inputs, &Options::default(), &mut |_| {}).expect("good inputs")
}

/// Where each file of the points stands.
pub(crate) fn places(points: &[Pieces], shards: u32) -> Vec<(Place, &str, &[u8])> {
    let files = (0..).zip(points).flat_map(|(point, pieces)| {
        (0..).zip(&pieces.files).map(move |(file, (name, bytes))| {
            let place = Place {
                point,
                point_name: pieces.point.clone(),
                file,
                points: points.len() as u16,
                shards,
            };
            (place, name.as_str(), bytes.as_slice())
        })
    });
    files.collect()
}

/// All rows, in the order in which they came, and what was said at the end of each file.
pub(crate) fn digested(points: &[Pieces], shards: u32) -> (Vec<ShardBatch>, Vec<PointFile>) {
    let (mut batches, mut ends) = (Vec::new(), Vec::new());
    for (place, name, bytes) in places(points, shards) {
        let mut digest = digest(name.to_owned(), source(name, bytes), place);
        batches.extend((&mut digest).map(|batch| batch.expect("rows")));
        ends.push(digest.finish());
    }
    (batches, ends)
}

/// An archive in a folder.
pub(crate) fn archived(points: &[Pieces], shards: u32, path: &std::path::Path) -> Folder {
    let archive = Write::begin(path, shards).expect("a new folder");
    let mut files = Vec::new();
    for (place, name, bytes) in places(points, shards) {
        let digest = digest(name.to_owned(), source(name, bytes), place);
        files.push(archive.add(digest, |_| true).expect("room"));
    }
    archive.finish(&files).expect("room");
    Folder::open(path).expect("an archive")
}

/// The first line in which two traces differ.
pub(crate) fn difference(one: &Trace, other: &Trace) -> Option<(String, String)> {
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let mut lines = one.lines().zip(other.lines());
    let differ = lines.find(|(one, other)| one != other);
    let differ = differ.map(|(one, other)| (one.to_owned(), other.to_owned()));
    let longer = || (one.len() != other.len()).then(|| (one.clone(), other.clone()));
    differ.or_else(longer)
}
