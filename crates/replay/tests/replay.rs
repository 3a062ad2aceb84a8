//! Replays of simulated captures: what must hold whatever the traffic and the profile.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use coalescope_capture::file::Source;
use coalescope_replay::facts::Replay;
use coalescope_replay::{Options, Output, replay};
use coalescope_simulate::{run, stories};
use gro::Profile;
use proptest::prelude::*;

fn source(bytes: &[u8]) -> Source {
    Source::from_reader("test", Box::new(Cursor::new(bytes.to_vec())), None).unwrap()
}

fn replayed(bytes: &[u8], options: &Options) -> Replay {
    replay(source(bytes), options.clone(), None, &mut |_| ()).unwrap()
}

fn options(profile: Profile, interval_us: u64) -> Options {
    Options {
        interval_us,
        ..Options::new(profile)
    }
}

/// Replays, and gives what was written too.
fn written(bytes: &[u8], options: &Options) -> (Replay, Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.pcapng");
    let output = Output::create(&path, Path::new("-")).unwrap();
    let facts = replay(source(bytes), options.clone(), Some(output), &mut |_| ()).unwrap();
    (facts, std::fs::read(&path).unwrap())
}

/// One capture of every fifth story: all of them take minutes.
fn captures() -> Vec<(&'static str, Vec<u8>)> {
    let capture = |story: &coalescope_simulate::Story| {
        let scenario = coalescope_simulate::story(story.name).unwrap();
        (story.name, run(&scenario).points[0].bytes.clone())
    };
    stories().iter().step_by(5).map(capture).collect()
}

/// A capture as pcap with nanoseconds, each frame changed.
fn changed(bytes: &[u8], mut change: impl FnMut(&mut Vec<u8>, &mut u32)) -> Vec<u8> {
    let mut source = source(bytes);
    let mut out = Vec::new();
    out.extend(0xa1b2_3c4d_u32.to_le_bytes());
    out.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    while let Some(frame) = source.next() {
        let (mut data, mut original) = (frame.data.to_vec(), frame.original_len);
        change(&mut data, &mut original);
        let seconds = (frame.time_ns / 1_000_000_000) as u32;
        out.extend(seconds.to_le_bytes());
        out.extend(((frame.time_ns % 1_000_000_000) as u32).to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(original.to_le_bytes());
        out.extend(data);
    }
    out
}

fn total(counts: &BTreeMap<&str, u64>) -> u64 {
    counts.values().sum()
}

/// Every frame is accounted for, in total and by connection.
fn check(facts: &Replay, what: &str) {
    let merged_away = facts.segments - facts.merged_frames + facts.absorbed_frames;
    assert_eq!(facts.frames_in, facts.frames_out + merged_away, "{what}");
    let out = total(&facts.reasons.passed) + total(&facts.reasons.flushed);
    assert_eq!(facts.frames_out, out, "{what}: {:?}", facts.reasons);
    let connections = &facts.connections;
    let sum = |of: fn(&coalescope_replay::facts::Connection) -> u64| -> u64 {
        connections.iter().map(of).sum()
    };
    assert_eq!(
        facts.frames_in - facts.other_frames - facts.unlisted_frames,
        sum(|connection| connection.frames_in),
        "{what}"
    );
    assert_eq!(facts.data_frames_in, sum(|c| c.data_frames_in), "{what}");
    assert_eq!(facts.data_frames_out, sum(|c| c.data_frames_out), "{what}");
    assert_eq!(facts.merged_frames, sum(|c| c.merged_frames), "{what}");
    assert_eq!(facts.acks_saved, sum(|c| c.acks_saved), "{what}");
    assert!(facts.acks_saved <= facts.acks_before, "{what}");
}

#[test]
fn every_story_under_every_profile() {
    for (story, bytes) in captures() {
        for profile in Profile::ALL {
            for interval_us in [50, 5_000] {
                let what = format!("{story}, {}, {interval_us} us", profile.name);
                let options = options(*profile, interval_us);
                let (facts, out) = written(&bytes, &options);
                check(&facts, &what);
                assert_eq!(
                    facts,
                    replayed(&bytes, &options),
                    "{what}: writing changed it"
                );
                if profile.reversible {
                    assert!(facts.reversible, "{what}");
                }
                again(&facts, &out, &options, &what);
            }
        }
    }
}

/// What was written is sound, is all that came out, and merges no further.
fn again(facts: &Replay, out: &[u8], options: &Options, what: &str) {
    let second = replayed(out, options);
    assert_eq!(second.unreadable_bytes, 0, "{what}");
    assert_eq!(second.frames_in, facts.frames_out, "{what}");
    assert_eq!(second.bytes_in, facts.bytes_out, "{what}");
    // With fewer frames the budget, or the last place in a bucket, is used up elsewhere.
    let limits = ["budget", "bucket-full"];
    if !limits
        .iter()
        .any(|reason| facts.reasons.flushed.contains_key(reason))
    {
        assert_eq!(second.merged_frames, 0, "{what}: {:?}", second.reasons);
    }
    assert_eq!(second.reasons.passed.get("checksum"), None, "{what}");
    assert_eq!(second.reasons.passed.get("ipv4-checksum"), None, "{what}");
}

#[test]
fn a_poll_for_each_frame_merges_nothing() {
    for (story, bytes) in captures().into_iter().take(3) {
        let facts = replayed(&bytes, &options(Profile::linux_gro(), 0));
        check(&facts, story);
        assert_eq!(facts.merged_frames, 0, "{story}");
        assert_eq!(facts.polls, facts.frames_in, "{story}");
        assert_eq!(facts.acks_saved, 0, "{story}");
    }
}

/// Merging looks at headers: with the headers alone it is the same.
#[test]
fn the_snap_length_changes_nothing_but_what_is_verified() {
    for (story, bytes) in captures() {
        let cut = changed(&bytes, |data, _| data.truncate(96));
        for profile in Profile::ALL {
            let options = options(*profile, 1_000);
            let (whole, cut) = (replayed(&bytes, &options), replayed(&cut, &options));
            let what = format!("{story}, {}", profile.name);
            check(&cut, &what);
            assert_eq!(cut.frames_out, whole.frames_out, "{what}");
            assert_eq!(cut.reasons, whole.reasons, "{what}");
            assert_eq!(cut.connections, whole.connections, "{what}");
            assert_eq!(cut.reversible, whole.reversible, "{what}");
            let unknown = cut.unverified_frames + cut.offloaded_frames;
            assert!(unknown >= cut.truncated_frames, "{what}");
        }
    }
}

fn healthy() -> Vec<u8> {
    let story = coalescope_simulate::story("hyperv-rsc-jumbo").unwrap();
    run(&story).points[0].bytes.clone()
}

#[test]
fn what_is_written_of_cut_frames_says_how_long_they_were() {
    let cut = changed(&healthy(), |data, _| data.truncate(96));
    let options = options(Profile::linux_gro(), 1_000);
    let (facts, out) = written(&cut, &options);
    assert!(facts.merged_frames > 0);
    let mut source = source(&out);
    let (mut frames, mut bytes) = (0, 0);
    while let Some(frame) = source.next() {
        assert!(frame.data.len() <= 96);
        frames += 1;
        bytes += u64::from(frame.original_len);
    }
    assert_eq!((frames, bytes), (facts.frames_out, facts.bytes_out));
}

/// Where the TCP header starts in the simulator's IPv4 frames.
const TCP: usize = 34;

#[test]
fn damaged_frames_are_not_merged() {
    let damaged = changed(&healthy(), |data, _| {
        if let Some(last) = data.get_mut(TCP + 32..).and_then(<[u8]>::last_mut) {
            *last ^= 0xff;
        }
    });
    let facts = replayed(&damaged, &options(Profile::linux_gro(), 1_000));
    check(&facts, "damaged");
    assert_eq!(facts.merged_frames, 0);
    assert!(facts.reasons.passed["checksum"] >= facts.data_frames_in);
}

#[test]
fn checksums_left_to_the_card_are_completed() {
    let whole = healthy();
    let pseudo_only = changed(&whole, |data, _| {
        let len = (data.len() - TCP) as u32;
        let sum: u32 = data[26..34]
            .chunks(2)
            .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
            .sum();
        let mut sum = sum + 6 + len;
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        data[TCP + 16..TCP + 18].copy_from_slice(&(sum as u16).to_be_bytes());
        // Some cards sum the IPv4 header as well.
        data[24..26].fill(0);
    });
    let options = options(Profile::linux_gro(), 1_000);
    let (facts, out) = written(&pseudo_only, &options);
    let expected = replayed(&whole, &options);
    assert_eq!(facts.offloaded_frames, facts.frames_in);
    assert_eq!(facts.reasons, expected.reasons);
    let mut source = source(&out);
    let sums = |bytes: &[u8]| {
        let (whole, _) = bytes.as_chunks::<2>();
        let sum: u32 = whole
            .iter()
            .map(|&word| u32::from(u16::from_be_bytes(word)))
            .sum();
        (sum >> 16) + (sum & 0xffff)
    };
    let mut merged = 0;
    while let Some(frame) = source.next() {
        if frame.data.len() > 1_514 {
            assert_eq!(sums(&frame.data[14..34]), 0xffff);
            merged += 1;
        }
    }
    assert!(merged > 0);
}

#[test]
fn frames_merged_before_they_were_captured_pass_behind_their_flow() {
    let (first, once) = written(&healthy(), &options(Profile::linux_gro(), 1_000));
    for profile in Profile::ALL {
        let facts = replayed(&once, &options(*profile, 1_000_000));
        check(&facts, profile.name);
        assert!(facts.already_merged_frames > 0);
        assert_eq!(
            facts.reasons.passed["already-merged"],
            facts.already_merged_frames
        );
        assert!(
            facts.warnings[0].contains("not yet cut"),
            "{:?}",
            facts.warnings
        );
        assert_eq!(facts.frames_in, first.frames_out);
    }
}

#[test]
fn without_a_syn_the_mtu_tells_what_was_merged() {
    let mut seen = 0;
    let no_syn = changed(&healthy(), |data, _| {
        seen += 1;
        if data.get(TCP + 13).is_some_and(|flags| flags & 2 != 0) {
            data.truncate(20);
        }
    });
    assert!(seen > 0);
    let with = |mtu_bytes| {
        let options = Options {
            mtu_bytes,
            ..options(Profile::linux_gro(), 1_000)
        };
        replayed(&no_syn, &options).already_merged_frames
    };
    assert_eq!(with(1_500), 0);
    assert!(with(1_000) > 500);
}

#[test]
fn directions_that_the_capture_tells_have_engines_of_their_own() {
    let outcome = run(&coalescope_simulate::story("hyperv-rsc-jumbo").unwrap());
    let facts = replayed(&outcome.combined(), &options(Profile::linux_gro(), 50));
    check(&facts, "combined");
    let interfaces: std::collections::BTreeSet<u32> = facts
        .connections
        .iter()
        .map(|connection| connection.interface)
        .collect();
    assert_eq!(interfaces.len(), 3);
}

#[test]
fn interfaces_beyond_the_bound_are_left_out() {
    let mut out = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let len = body.len() as u32 + 12;
        out.extend(kind.to_le_bytes());
        out.extend(len.to_le_bytes());
        out.extend(body);
        out.extend(len.to_le_bytes());
    };
    let section = [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0];
    block(0x0a0d_0d0a, &[&section[..], &[0xff; 8]].concat());
    for interface in 0..130_u32 {
        block(1, &[1, 0, 0, 0, 0, 0, 0, 0]);
        let head = [interface, 0, 0, 4, 4].map(u32::to_le_bytes).concat();
        block(6, &[&head[..], &[0; 4]].concat());
    }
    let facts = replayed(&out, &options(Profile::linux_gro(), 50));
    assert_eq!((facts.frames_in, facts.left_out_frames), (128, 2));
    assert_eq!(facts.other_frames, 128);
    assert!(
        facts.warnings[0].contains("left out"),
        "{:?}",
        facts.warnings
    );
}

#[test]
fn a_file_that_breaks_off_is_reported_as_far_as_it_goes() {
    let whole = healthy();
    let facts = replayed(
        &whole[..whole.len() / 2],
        &options(Profile::linux_gro(), 50),
    );
    check(&facts, "cut");
    assert!(facts.frames_in > 100 && facts.unreadable_bytes > 0);
    assert!(
        facts.warnings[0].contains("in the middle"),
        "{:?}",
        facts.warnings
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever a frame holds: it is accounted for, and what comes out can be read.
    #[test]
    fn any_damage_is_accounted_for(
        profile in 0..Profile::ALL.len(),
        seed in any::<u64>(),
        interval_us in prop::sample::select(vec![0, 1, 50, 100_000]),
    ) {
        let mut random = seed | 1;
        let mut next = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below.max(1)
        };
        let story = coalescope_simulate::story("ipvs-gro-direct").unwrap();
        let bytes = run(&story).points[0].bytes.clone();
        let damaged = changed(&bytes, |data, original| {
            for _ in 0..next(3) {
                let at = next(data.len().min(80));
                data[at] = next(256) as u8;
            }
            match next(4) {
                0 => data.truncate(next(120)),
                1 => *original = next(400_000) as u32,
                _ => {}
            }
        });
        let options = options(Profile::ALL[profile], interval_us);
        let (facts, out) = written(&damaged, &options);
        check(&facts, "damaged");
        let second = replayed(&out, &options);
        prop_assert_eq!(second.frames_in, facts.frames_out);
    }
}
