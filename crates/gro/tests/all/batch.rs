//! One batch at a time, checksums looked at only where frames merge.

use crate::build::{Built, Streams, tcp, udp};
use gro::{
    BatchCoalescer, Checksums, CopyingCoalescer, OutgoingBytes, Profile, Reason, Settings,
    Verification,
};
use proptest::prelude::*;

const PROFILES: [fn() -> Profile; 4] = [
    Profile::linux_gro,
    Profile::linux_gro_udp,
    Profile::wireguard,
    Profile::dpdk_gro,
];

#[derive(Clone, Debug)]
struct Draw {
    flow: u8,
    damaged: bool,
    other: u8,
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let damaged = prop::bool::weighted(0.15);
    let draw = (0..5_u8, damaged, any::<u8>());
    prop::collection::vec(
        draw.prop_map(|(flow, damaged, other)| Draw {
            flow,
            damaged,
            other,
        }),
        1..60,
    )
}

/// Flows of TCP over both IP versions, one in a tunnel, and one of UDP.
fn frames(draws: &[Draw]) -> Vec<Built> {
    let mut streams = Streams::default();
    let build = |draw: &Draw| {
        let frame = match draw.flow {
            0 => tcp(),
            1 => tcp().v6().ts(1, 1),
            2 => tcp().around(crate::build::Around::Ip(4)),
            3 => udp(),
            _ => tcp().ts(1, 1),
        };
        let frame = frame.flow(draw.flow).len(100);
        let frame = match draw.other {
            ..10 => frame.psh(),
            10..30 => frame.padded(3),
            _ => frame,
        };
        streams.build(&if draw.damaged { frame.damaged() } else { frame })
    };
    draws.iter().map(build).collect()
}

fn settings(verification: Verification) -> Settings {
    Settings {
        verification,
        checksums: Checksums::Complete,
        ..Settings::default()
    }
}

/// What comes out: the bytes, and why.
fn in_batch(profile: &Profile, frames: &[Built]) -> Vec<(Vec<u8>, Reason)> {
    let settings = settings(Verification::WhenMerging);
    through(BatchCoalescer::new(profile, settings), frames)
}

fn through(mut engine: BatchCoalescer, frames: &[Built]) -> Vec<(Vec<u8>, Reason)> {
    let frames: Vec<&[u8]> = frames.iter().map(|frame| frame.bytes.as_slice()).collect();
    let mut out = Vec::new();
    let mut take = OutgoingBytes::each(|frame| {
        out.push((frame.bytes.to_vec(), frame.about.reason));
    });
    engine.run(&frames, &mut take);
    assert_eq!(engine.counters().frames_out, out.len() as u64);
    out
}

fn one_by_one(profile: &Profile, how: Verification, frames: &[Built]) -> Vec<(Vec<u8>, Reason)> {
    let mut engine = CopyingCoalescer::new(profile, settings(how));
    let mut out = Vec::new();
    let mut take =
        OutgoingBytes::each(|frame| out.push((frame.bytes.to_vec(), frame.about.reason)));
    for frame in frames {
        engine.push(&frame.bytes, 0, &mut take);
    }
    engine.flush(&mut take);
    out
}

proptest! {
    /// Looking late finds the same as looking at once, if nothing is damaged.
    #[test]
    fn of_sound_frames_both_make_the_same(draws in draws(), which in 0..PROFILES.len()) {
        let draws: Vec<_> = draws.into_iter().map(|draw| Draw { damaged: false, ..draw }).collect();
        let (profile, frames) = (PROFILES[which](), frames(&draws));
        let late = in_batch(&profile, &frames);
        prop_assert_eq!(&late, &one_by_one(&profile, Verification::Verify, &frames));
        prop_assert_eq!(&late, &one_by_one(&profile, Verification::WhenMerging, &frames));
    }

    /// The short way finds damage where the general one does, and ends the same merges for it.
    #[test]
    fn both_ways_find_the_same_damage(draws in draws(), which in 0..PROFILES.len()) {
        let (profile, frames) = (PROFILES[which](), frames(&draws));
        let settings = settings(Verification::WhenMerging);
        let general = BatchCoalescer::without_short_path(&profile, settings);
        prop_assert_eq!(in_batch(&profile, &frames), through(general, &frames));
    }

    /// A damaged segment is part of no merged frame, and comes out as it went in.
    #[test]
    fn damage_is_found_before_it_merges(draws in draws(), which in 0..3_usize) {
        let (profile, frames) = (PROFILES[which](), frames(&draws));
        let late = in_batch(&profile, &frames);
        for (built, _) in frames.iter().zip(&draws).filter(|(_, draw)| draw.damaged) {
            let same = |(frame, _): &(Vec<u8>, Reason)| *frame == built.bytes;
            prop_assert!(late.iter().any(same));
        }
        let sent: Vec<u8> = frames.iter().flat_map(|built| built.bytes[built.payload.clone()].to_vec()).collect();
        let merged = late.iter().map(|(frame, _)| frame.len()).sum::<usize>();
        prop_assert!(sent.len() <= merged);
    }
}

#[test]
fn a_damaged_first_frame_goes_alone_when_a_second_comes() {
    let mut streams = Streams::default();
    let first = streams.build(&tcp().len(100).damaged());
    let others = [(); 2].map(|()| streams.build(&tcp().len(100)));
    let frames = [first, others[0].clone(), others[1].clone()];
    let out = in_batch(&Profile::wireguard(), &frames);
    assert_eq!(out[0].0, frames[0].bytes);
    assert_eq!(out[0].1, Reason::Checksum);
    assert_eq!(out.len(), 2);
    assert_eq!(out[1].0.len(), frames[1].bytes.len() + 100);
}
