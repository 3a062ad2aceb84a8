//! The short way for plain frames decides what the general path decides.
//!
//! A frame takes the general path where the link type says nothing of Ethernet or where it cannot
//! be plain; [`gro::Coalescer::without_short_path`] sends all of them there.

use crate::build::{Frame, Streams, flag};
use crate::sinks::text;
use gro::{
    Checksums, Coalescer, Counters, Decision, LinkType, Outgoing, Profile, Settings, Verification,
};
use proptest::prelude::*;

const PROFILES: [fn() -> Profile; 8] = [
    Profile::linux_gro,
    Profile::virtio_rsc,
    Profile::dpdk_gro,
    Profile::wireguard,
    era_4_6,
    era_4_5,
    few,
    short,
];

fn era_4_6() -> Profile {
    with_id(gro::profile::IpId::IncreasingOrFixedWithDf)
}

fn era_4_5() -> Profile {
    with_id(gro::profile::IpId::IncreasingWithDf)
}

fn with_id(id: gro::profile::IpId) -> Profile {
    let mut profile = Profile::linux_gro();
    if let Some(rules) = &mut profile.ipv4 {
        rules.id = id;
    }
    profile
}

/// Small limits of everything.
fn few() -> Profile {
    let mut profile = Profile::linux_gro();
    profile.limits.segments = 5;
    profile.limits.ip_len = 2000;
    profile.limits.ip_len_big = 3000;
    profile.table.buckets = 2;
    profile.table.per_bucket = 2;
    profile.table.budget = 20;
    profile
}

/// Packets that are soon full, beside which the next of the flow starts.
fn short() -> Profile {
    let mut profile = Profile::dpdk_gro();
    profile.limits.ip_len = 2000;
    profile.limits.ip_len_big = 3000;
    profile
}

type Change = fn(Frame) -> Frame;

const CHANGES: [Change; 28] = [
    |frame| frame.flags(flag::PSH),
    |frame| frame.flags(flag::FIN),
    |frame| frame.flags(flag::SYN),
    |frame| frame.flags(flag::RST),
    |frame| frame.flags(flag::URG),
    |frame| frame.flags(flag::ECE),
    |frame| frame.flags(flag::CWR),
    |frame| Frame { flags: 0, ..frame },
    |frame| Frame {
        reserved: 1,
        ..frame
    },
    |frame| Frame {
        reserved: 8,
        ..frame
    },
    |frame| frame.ack(5001),
    |frame| frame.window(1),
    |frame| frame.ttl(7),
    |frame| frame.tos(1),
    |frame| frame.tos(4),
    |frame| frame.df(false),
    |frame| frame.mf(),
    |frame| frame.label(1),
    |frame| frame.mac(3),
    |frame| frame.skip(1),
    |frame| frame.skip(-100),
    |frame| frame.skip(-200),
    |frame| frame.id(1),
    |frame| frame.damaged(),
    |frame| frame.damaged_ip(),
    |frame| frame.padded(3),
    |frame| frame.ts(1, 1),
    |frame| frame.ip_option(),
];

#[derive(Clone, Debug)]
struct Draw {
    flow: u8,
    size: u32,
    change: Option<usize>,
    fixed_id: bool,
    other: u8,
}

fn draw() -> impl Strategy<Value = Draw> {
    let size = prop_oneof![6 => Just(100), 2 => Just(200), 1 => Just(0), 1 => 60_u32..140, 1 => Just(1448)];
    let change = prop::option::weighted(0.12, 0..CHANGES.len());
    (0..4_u8, size, change, any::<bool>(), any::<u8>()).prop_map(
        |(flow, size, change, fixed_id, other)| Draw {
            flow,
            size,
            change,
            fixed_id,
            other,
        },
    )
}

/// What all frames of a flow have.
fn like(shape: u8, flow: u8) -> Frame {
    let frame = crate::build::tcp().flow(flow);
    let frame = if shape & 1 == 0 { frame } else { frame.v6() };
    let frame = match shape >> 1 & 3 {
        0 => frame,
        1 => frame.ts(9, 9),
        2 => frame.options(&[1; 20]),
        _ => frame.options(&[1; 40]),
    };
    frame.df(shape & 8 == 0)
}

/// Bytes that come in, and whether the poll ends behind them.
fn frames(shapes: [u8; 4], draws: &[Draw], raw: bool) -> Vec<(Vec<u8>, bool)> {
    let mut streams = Streams::default();
    let frame = |draw: &Draw| {
        let shape = shapes[usize::from(draw.flow)];
        let mut frame = like(shape, draw.flow).len(draw.size);
        // A flow whose identification stands still, or one that mostly does.
        if shape & 16 != 0 && (shape & 32 == 0 || draw.fixed_id) {
            frame = frame.id(500);
        }
        if let Some(number) = draw.change {
            frame = CHANGES[number](frame);
        }
        frame.raw = raw;
        (streams.build(&frame).bytes, draw.other < 6)
    };
    draws.iter().map(frame).collect()
}

/// All that can be seen from outside.
#[derive(Debug, PartialEq)]
struct Seen {
    decisions: Vec<Decision>,
    out: Vec<String>,
    counters: Counters,
}

/// What comes out, and the counters, where frames are handed in a poll at a time.
fn run_batches(
    mut coalescer: Coalescer<usize>,
    frames: &[(Vec<u8>, bool)],
) -> (Vec<String>, Counters) {
    let mut out = Vec::new();
    let numbered: Vec<_> = frames.iter().enumerate().collect();
    for poll in numbered.split_inclusive(|(_, (_, ends))| *ends) {
        let mut take = Outgoing::each(|outgoing| out.push(text(outgoing)));
        let batch = poll
            .iter()
            .map(|&(token, (bytes, _))| (bytes.as_slice(), token));
        coalescer.push_batch(batch, 0, &mut take);
        coalescer.flush(&mut take);
    }
    (out, coalescer.counters().clone())
}

fn run(mut coalescer: Coalescer<usize>, frames: &[(Vec<u8>, bool)]) -> Seen {
    let (mut decisions, mut out) = (Vec::new(), Vec::new());
    for (token, (bytes, ends)) in frames.iter().enumerate() {
        let mut take = Outgoing::each(|outgoing| out.push(text(outgoing)));
        decisions.push(coalescer.push(bytes, token, 0, &mut take));
        if *ends {
            coalescer.flush(&mut take);
        }
    }
    coalescer.flush(&mut Outgoing::each(|outgoing| out.push(text(outgoing))));
    let counters = coalescer.counters().clone();
    Seen {
        decisions,
        out,
        counters,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_decide_the_same(
        shapes in any::<[u8; 4]>(),
        draws in prop::collection::vec(draw(), 1..100),
        profile in 0..PROFILES.len(),
        raw in any::<bool>(),
        complete in any::<bool>(),
        trusted in any::<bool>(),
        one_bucket in any::<bool>(),
    ) {
        let profile = PROFILES[profile]();
        let settings = Settings {
            link: if raw { LinkType::Raw } else { LinkType::Ethernet },
            verification: if trusted { Verification::Trusted } else { Verification::Verify },
            checksums: if complete { Checksums::Complete } else { Checksums::Partial },
            seed: 7,
            one_bucket,
        };
        let frames = frames(shapes, &draws, raw);
        let short = run(Coalescer::new(&profile, settings), &frames);
        let general = run(Coalescer::without_short_path(&profile, settings), &frames);
        prop_assert_eq!(&short, &general);
        let batches = run_batches(Coalescer::new(&profile, settings), &frames);
        prop_assert_eq!(batches, (general.out, general.counters));
    }
}

/// A flow's frames, the identifications of which go past the last, or stand still there; one of them has another
/// identification and checksum of its IPv4 header, which add up to what they did or do not.
fn with_header_altered(
    fixed: bool,
    at: usize,
    other_id: u16,
    checksum: u16,
) -> Vec<(Vec<u8>, bool)> {
    let mut streams = Streams::default();
    let frame = |number: usize| {
        let id = if fixed {
            u16::MAX
        } else {
            (number as u16).wrapping_sub(4)
        };
        let mut bytes = streams.build(&like(2, 0).len(100).id(id)).bytes;
        if number == at {
            for (field, add) in [(18, other_id), (24, checksum)] {
                let value = u16::from_be_bytes([bytes[field], bytes[field + 1]]);
                bytes[field..field + 2].copy_from_slice(&value.wrapping_add(add).to_be_bytes());
            }
        }
        (bytes, number == 7)
    };
    (0..8).map(frame).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_wrong_ipv4_checksum_is_seen_by_both(
        profile in 0..PROFILES.len(),
        fixed in any::<bool>(),
        at in 0..8_usize,
        id in prop_oneof![Just(0), Just(1), Just(u16::MAX)],
        checksum in prop_oneof![Just(0), Just(1), Just(u16::MAX), any::<u16>()],
    ) {
        let profile = PROFILES[profile]();
        let settings = Settings { verification: Verification::Trusted, ..Settings::default() };
        let frames = with_header_altered(fixed, at, id, checksum);
        let short = run_batches(Coalescer::new(&profile, settings), &frames);
        let general = run_batches(Coalescer::without_short_path(&profile, settings), &frames);
        prop_assert_eq!(short, general);
    }
}
