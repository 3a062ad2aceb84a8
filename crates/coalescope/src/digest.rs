//! `coalescope digest`.

use std::time::Instant;

use coalescope_analysis::digest::{check_begins, digest_all, threads};
use coalescope_analysis::inputs::{self, Point};
use coalescope_archive::{PointFile, Write};

use crate::Outcome;
use crate::cli::DigestArgs;
use crate::confine::{self, Needs};
use crate::interrupt;
use crate::speech::{self, took};
use crate::system::memory;

pub(crate) fn run(args: &DigestArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    // Before rights are given up: the number of cores is read from files.
    let threads = threads(args.threads);
    let points = inputs::open(inputs::points(&args.files)?);
    let archive = Write::begin(&args.out, args.shards)?;
    confine::enter(&Needs::default().and_output(Some(&args.out)));
    let begun = Instant::now();
    match digested(args, points, threads, &archive) {
        Ok(done) => {
            archive.finish(&done)?;
            describe(&done);
        }
        Err(error) => {
            archive.abandon();
            return Err(error);
        }
    }
    speech::detail(|| format!("digested it in {}", took(begun)));
    Ok(Outcome::Done)
}

fn digested(
    args: &DigestArgs,
    points: Vec<Point>,
    threads: usize,
    archive: &Write,
) -> anyhow::Result<Vec<PointFile>> {
    let interrupt = interrupt::listen()?;
    let (points, reordered) = inputs::in_order_of_time(points, &interrupt);
    check_begins(&points, &interrupt)?;
    for warning in reordered {
        speech::tell(&format!("warning: {warning}"));
    }
    memory::reading(inputs::display(&args.out));
    Ok(digest_all(
        &points,
        archive,
        args.shards,
        threads,
        &interrupt,
    )?)
}

/// Reports the number of frames and the warnings.
fn describe(done: &[PointFile]) {
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
