//! Whatever times a capture shows, from bits that were flipped or clocks that never were set, it is read to its end:
//! no sum and no difference of times overflows, and no frame gets lost.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use coalescope_capture::facts::Trace;
use coalescope_capture::{Options, PointInput, trace};
use coalescope_simulate::{Outcome, stories};
use common::{simulated, source};
use proptest::prelude::*;
use proptest::sample::select;

/// Seconds that clocks show when they are wrong.
const HOSTILE_S: [u32; 7] = [0, 1, 1_000, 1_700_000_000, 1 << 31, u32::MAX - 1, u32::MAX];

/// What becomes of the time of some frames of a classic capture: the seconds that it shows instead, or one bit of it flipped.
#[derive(Clone, Copy, Debug)]
enum Change {
    Shows(u32),
    Flips(u32),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        select(&HOSTILE_S[..]).prop_map(Change::Shows),
        (0..32_u32).prop_map(Change::Flips),
    ]
}

/// One of so many frames changes as the next change says.
fn changed(bytes: &[u8], changes: &[Change], one_of: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let word = |bytes: &[u8], at: usize| {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    };
    let (mut at, mut frame) = (24, 0);
    while at < bytes.len() {
        if frame % one_of == one_of - 1 {
            let seconds = match changes[frame / one_of % changes.len()] {
                Change::Shows(seconds) => seconds,
                Change::Flips(bit) => word(&bytes, at) ^ 1 << bit,
            };
            bytes[at..at + 4].copy_from_slice(&seconds.to_le_bytes());
        }
        at += 16 + word(&bytes, at + 8) as usize;
        frame += 1;
    }
    bytes
}

fn traced(outcome: &Outcome, bytes: impl Fn(&[u8]) -> Vec<u8>) -> Trace {
    let input = |point: &coalescope_simulate::PointCapture| PointInput {
        name: point.name.clone(),
        sources: vec![(point.name.clone(), source(&point.name, bytes(&point.bytes)))],
    };
    let inputs = outcome.points.iter().map(input).collect();
    trace(inputs, &Options::default(), &mut |_| {}).expect("inputs are good")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_a_clock_shows_a_capture_is_read_to_its_end(
        any in select(stories()),
        changes in proptest::collection::vec(change(), 1..40),
        one_of in 1..50_usize,
    ) {
        let outcome = simulated(any.name);
        let right = traced(&outcome, <[u8]>::to_vec);
        let wrong = traced(&outcome, |bytes| changed(bytes, &changes, one_of));
        // Which point comes first may be asked of the clocks.
        let frames = |trace: &Trace| {
            let mut frames: Vec<_> = trace.points.iter().map(|point| (point.name.clone(), point.frames)).collect();
            frames.sort();
            frames
        };
        prop_assert_eq!(frames(&right), frames(&wrong));
    }
}
