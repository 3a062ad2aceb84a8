//! A table that is in no cache, of which the engine asks ahead, gives what any table does.

use crate::build::{Frame, Streams, tcp};
use crate::sinks::text;
use gro::{Coalescer, Outgoing, Profile, Settings, Verification};

/// Frames held at most: 4.5 MB of them, and few enough for the table to be small.
const LARGE: u32 = 10_000;
const SMALL: u32 = 2_000;

/// Flows that [`Frame::flow`] can tell apart.
const FLOWS: u32 = 250;

fn profile(per_bucket: u32) -> Profile {
    let mut profile = Profile::dpdk_gro();
    profile.table.per_bucket = per_bucket;
    profile.table.budget = 0;
    profile
}

fn engine(per_bucket: u32) -> Coalescer<usize> {
    let settings = Settings {
        verification: Verification::Trusted,
        ..Settings::default()
    };
    Coalescer::new(&profile(per_bucket), settings)
}

/// Six frames of each flow, over both IP versions; of most flows every other one is missing, so that none joins
/// another, and more than a thousand are held.
fn frames(turn: u32) -> Vec<Vec<u8>> {
    let mut streams = Streams::default();
    let frame = |number: u32| {
        // 97 has no divisor in common with the number of flows: each comes once a round.
        let flow = number * 97 % FLOWS;
        let frame = tcp().flow(flow as u8).len(100 + turn);
        let frame = if flow.is_multiple_of(3) {
            frame.v6()
        } else {
            frame
        };
        if flow.is_multiple_of(5) {
            frame
        } else {
            frame.skip(100)
        }
    };
    let build = |frame: Frame| streams.build(&frame).bytes;
    (0..6 * FLOWS).map(frame).map(build).collect()
}

/// What comes out where frames are handed in so many at a time, each time held to the end, four times over.
fn run(mut engine: Coalescer<usize>, batch: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut take = Outgoing::each(|outgoing| out.push(text(outgoing)));
    for turn in 0..4 {
        let frames = frames(turn);
        let numbered: Vec<_> = frames.iter().map(Vec::as_slice).zip(0..).collect();
        for batch in numbered.chunks(batch) {
            engine.push_batch(batch.iter().copied(), 0, &mut take);
        }
        engine.flush(&mut take);
        assert!(engine.is_empty());
    }
    out
}

#[test]
fn a_large_table_gives_what_a_small_one_gives() {
    let small = run(engine(SMALL), 64);
    assert_eq!(
        small.len(),
        4 * (FLOWS / 5 + 6 * (FLOWS - FLOWS / 5)) as usize
    );
    // Chunks that are whole, of which the last is not, and less than one.
    for batch in [1, 31, 32, 64, 100, 1500] {
        assert_eq!(run(engine(LARGE), batch), small, "batches of {batch}");
    }
}

#[test]
fn what_ends_alone_leaves_a_large_table_as_it_was() {
    // Two frames of a flow that is full in between, by a profile that sends up what does not fit.
    let mut profile = profile(LARGE);
    profile.mismatch = gro::profile::Mismatch::FlushAndStart;
    let mut engine = Coalescer::new(&profile, Settings::default());
    let mut streams = Streams::default();
    let mut out = Vec::new();
    let mut take = Outgoing::each(|outgoing| out.push(text(outgoing)));
    for skip in [0, 100, 0, 0] {
        let bytes = streams.build(&tcp().len(100).skip(skip)).bytes;
        engine.push_batch([(bytes.as_slice(), 0)].into_iter(), 0, &mut take);
    }
    engine.flush(&mut take);
    assert_eq!(out.len(), 2);
}
