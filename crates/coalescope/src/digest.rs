//! `coalescope digest`.

use std::thread;
use std::time::Instant;

use anyhow::{anyhow, bail};
use coalescope_archive::{Begin, Place, PointFile, Write, check, digest, each};

use crate::Outcome;
use crate::cli::DigestArgs;
use crate::confine::{self, Needs};
use crate::inputs::{self, Input, Point};
use crate::interrupt::Interrupt;
use crate::speech::{self, took};
use crate::system::memory;

pub(crate) fn run(args: &DigestArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let threads = threads(args.threads);
    let points = inputs::open(inputs::points(&args.files)?);
    let archive = Write::begin(&args.out, args.shards)?;
    confine::enter(&Needs::default().and_output(Some(&args.out)));
    let interrupt = Interrupt::listen()?;
    check(&begins(&points, &interrupt)?)?;
    memory::reading(inputs::display(&args.out));
    let begun = Instant::now();
    let files = files(&points, args.shards)?;
    let work = |(place, input): &(Place, &Input)| digested(&archive, place, input, &interrupt);
    let broken =
        || anyhow!("digesting ended early because of a bug in coalescope: please report it");
    let done = each(&files, threads, work, broken)?;
    archive.finish(&done)?;
    tell(&done);
    speech::detail(|| format!("digested it in {}", took(begun)));
    Ok(Outcome::Done)
}

/// Asked for before rights are given up: how many cores there are is in files.
fn threads(given: Option<u16>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    given.map_or_else(cores, usize::from)
}

/// How all files begin; what cannot be read is an error that names every one of them.
fn begins(points: &[Point], interrupt: &Interrupt) -> anyhow::Result<Vec<(String, Vec<Begin>)>> {
    let mut refused = Vec::new();
    let mut all = Vec::new();
    for point in points {
        let begins = point.inputs.iter().map(|input| begin(input, interrupt));
        let (begun, failed): (Vec<_>, Vec<_>) = begins.partition(Result::is_ok);
        refused.extend(failed.into_iter().filter_map(Result::err));
        let begun = begun.into_iter().filter_map(Result::ok).collect();
        all.push((point.name.clone(), begun));
    }
    match refused.is_empty() {
        true => Ok(all),
        false => Err(inputs::refused(refused)),
    }
}

fn begin(input: &Input, interrupt: &Interrupt) -> anyhow::Result<Begin> {
    let name = input.name.clone();
    if input.is_stream() {
        return Ok(Begin { name, first: None });
    }
    Ok(Begin::of(name, input.source(interrupt)?))
}

/// Each file, and where it stands.
fn files(points: &[Point], shards: u32) -> anyhow::Result<Vec<(Place, &Input)>> {
    let Ok(count) = u16::try_from(points.len()) else {
        bail!("{} points are more than an archive can have", points.len());
    };
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

fn digested(
    archive: &Write,
    place: &Place,
    input: &Input,
    interrupt: &Interrupt,
) -> anyhow::Result<PointFile> {
    let source = input.source(interrupt)?;
    let digest = digest(input.name.clone(), source, place.clone());
    Ok(archive.add(digest, |_| !interrupt.is_set())?)
}

/// Says what was read, and what was odd.
fn tell(done: &[PointFile]) {
    for warning in done.iter().flat_map(|file| &file.end.warnings) {
        speech::tell(&format!("warning: {warning}"));
    }
    let frames: u64 = done.iter().map(|file| file.end.frames).sum();
    let damaged = done
        .iter()
        .filter(|file| file.end.unreadable_bytes > 0)
        .count();
    let damaged = match damaged {
        0 => String::new(),
        some => format!("; {some} of the files could not be read to their end"),
    };
    speech::tell(&format!("{frames} frames of {} files{damaged}", done.len()));
}
