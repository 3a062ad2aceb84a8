//! Captures to an archive.

use std::thread;

use coalescope_archive::{Place, PointFile, Write, check, digest, each};

use crate::error::Error;
use crate::inputs::{self, Input, Point};
use crate::interrupt::Interrupt;

/// Checks the beginnings of all captures, before work is done.
///
/// # Errors
///
/// All captures that cannot be read, or are no captures.
pub fn check_begins(points: &[Point], interrupt: &Interrupt) -> Result<(), Error> {
    let mut refused = Vec::new();
    let mut all = Vec::new();
    for point in points {
        let begins = point.inputs.iter().map(|input| input.begin(interrupt));
        let (begun, failed): (Vec<_>, Vec<_>) = begins.partition(Result::is_ok);
        refused.extend(failed.into_iter().filter_map(Result::err));
        let begun = begun.into_iter().filter_map(Result::ok).collect();
        all.push((point.name.clone(), begun));
    }
    inputs::refuse(refused)?;
    Ok(check(&all)?)
}

/// Digests all captures with at most this number of threads; returns the warnings of each.
///
/// # Errors
///
/// If a capture cannot be read, or the archive cannot be written.
pub fn digest_all(
    points: &[Point],
    archive: &Write,
    shards: u32,
    threads: usize,
    interrupt: &Interrupt,
) -> Result<Vec<PointFile>, Error> {
    let files = files(points, shards)?;
    let work = |(place, input): &(Place, &Input)| -> Result<PointFile, Error> {
        let source = input.source(interrupt)?;
        let digest = digest(input.name.clone(), source, place.clone());
        let file = archive.add(digest, |_| !interrupt.is_set())?;
        Ok(PointFile {
            given: input.given,
            ..file
        })
    };
    each(&files, threads, work, || Error::Broken)
}

/// Each file with its place in the archive.
fn files(points: &[Point], shards: u32) -> Result<Vec<(Place, &Input)>, Error> {
    let count = u16::try_from(points.len()).map_err(|_| Error::Points(points.len()))?;
    let place = |point: u16, name: &str, file: u32| Place {
        point,
        point_name: name.to_owned(),
        file,
        points: count,
        shards,
    };
    let files = (0..).zip(points).flat_map(|(number, point)| {
        let inputs = (0..).zip(&point.inputs);
        inputs.map(move |(file, input)| (place(number, &point.name, file), input))
    });
    Ok(files.collect())
}

/// Number of files to read at the same time; the default if none is given.
#[must_use]
pub fn threads(given: Option<u16>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    given.map_or_else(cores, usize::from)
}
