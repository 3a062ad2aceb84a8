//! A frame with the time and the bytes of an earlier one is that frame, however far behind it stands: a capture with a part of
//! itself behind it, or in a second file of the point, says what the capture says.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use std::ops::Range;
use std::sync::OnceLock;

use coalescope_capture::facts::Trace;
use coalescope_capture::{Options, PointInput, trace};
use coalescope_simulate::{Outcome, stories};
use common::{simulated, source};
use proptest::prelude::*;

const HEADER: usize = 24;
const RECORD: usize = 16;

/// So far times go back in captures whose frames are in disorder, and copies are found as those of a mirror are.
const STEP_US: i64 = 10_000;

/// A part of a classic capture in microseconds.
#[derive(Clone)]
struct Records<'a>(Vec<&'a [u8]>);

impl<'a> Records<'a> {
    fn of(capture: &'a [u8]) -> Self {
        let mut records = Vec::new();
        let mut rest = &capture[HEADER..];
        while rest.len() >= RECORD {
            let (record, behind) = rest.split_at(RECORD + word(rest, 8) as usize);
            records.push(record);
            rest = behind;
        }
        Self(records)
    }

    fn time_us(&self, at: usize) -> i64 {
        i64::from(word(self.0[at], 0)) * 1_000_000 + i64::from(word(self.0[at], 4))
    }

    /// How far times go back behind the last of these frames, if the one at `from` comes next.
    fn back_us(&self, from: usize) -> i64 {
        let times = (0..self.0.len()).map(|at| self.time_us(at));
        times.max().unwrap_or(0) - self.time_us(from)
    }

    fn pcap(&self) -> Vec<u8> {
        let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 1];
        let header = header.into_iter().flat_map(u32::to_le_bytes);
        header.chain(self.0.concat()).collect()
    }

    /// The same as pcapng, of one section and interface.
    fn pcapng(&self) -> Vec<u8> {
        let mut file = block(0x0a0d_0d0a, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX], &[]);
        file.extend(block(1, &[1, 262_144], &[]));
        for (at, record) in self.0.iter().enumerate() {
            let us = self.time_us(at);
            let (captured, original) = (word(record, 8), word(record, 12));
            let head = [0, (us >> 32) as u32, us as u32, captured, original];
            file.extend(block(6, &head, &record[RECORD..]));
        }
        file
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn block(kind: u32, head: &[u32], data: &[u8]) -> Vec<u8> {
    let padded = data.len().next_multiple_of(4);
    let len = (12 + 4 * head.len() + padded) as u32;
    let words = [kind, len].into_iter().chain(head.iter().copied());
    let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    bytes.extend(data);
    bytes.resize(len as usize - 4, 0);
    bytes.extend(len.to_le_bytes());
    bytes
}

/// What is said of points, and the warnings about them.
type Said = (String, Vec<String>);

/// The same of points, each of some files.
fn said(points: Vec<Vec<Vec<u8>>>) -> Said {
    let input = |(at, files): (usize, Vec<Vec<u8>>)| PointInput {
        name: format!("P{at}"),
        sources: files
            .into_iter()
            .map(|bytes| ("capture".to_owned(), source("capture", bytes)))
            .collect(),
    };
    let inputs = points.into_iter().enumerate().map(input).collect();
    let mut trace = trace(inputs, &Options::default(), &mut |_| {}).expect("captures");
    let warnings = take_warnings(&mut trace);
    (format!("{trace:#?}"), warnings)
}

fn take_warnings(trace: &mut Trace) -> Vec<String> {
    let points = trace.points.iter_mut();
    points
        .flat_map(|point| {
            point.files.clear();
            std::mem::take(&mut point.warnings)
        })
        .collect()
}

/// The stories, simulated once.
fn outcomes() -> &'static [Outcome] {
    static OUTCOMES: OnceLock<Vec<Outcome>> = OnceLock::new();
    OUTCOMES.get_or_init(|| {
        let names = stories().iter().map(|story| story.name);
        names.map(simulated).collect()
    })
}

/// How a point has frames twice.
#[derive(Clone, Copy, Debug)]
struct Twice {
    in_two_files: bool,
    pcapng: bool,
    alone: bool,
}

/// What is said of a story whose captures begin behind so many frames, and the same where a point has a part of its frames twice.
fn both(
    outcome: &Outcome,
    begin: f64,
    part: Range<f64>,
    at: usize,
    how: Twice,
) -> Option<(Said, Said, bool)> {
    let points: Vec<Records<'_>> = outcome
        .points
        .iter()
        .map(|point| Records::of(&point.bytes))
        .collect();
    let at = at % points.len();
    let points = if how.alone {
        vec![points[at].clone()]
    } else {
        points
    };
    let at = if how.alone { 0 } else { at };
    let begun = points.iter().map(|point| {
        let skipped = (begin * point.0.len() as f64) as usize;
        Records(point.0[skipped..].to_vec())
    });
    let begun: Vec<Records<'_>> = begun.collect();
    let all = &begun[at];
    let place = |share: f64| ((share * all.0.len() as f64) as usize).min(all.0.len());
    let part = place(part.start)..place(part.end);
    if part.is_empty() {
        return None;
    }
    let is_step = all.back_us(part.start) > STEP_US;
    let file = |records: &Records<'_>| {
        if how.pcapng {
            records.pcapng()
        } else {
            records.pcap()
        }
    };
    let once: Vec<Vec<Vec<u8>>> = begun.iter().map(|point| vec![file(point)]).collect();
    let mut twice = once.clone();
    let again = Records(all.0[part].to_vec());
    twice[at] = match how.in_two_files {
        true => vec![file(all), file(&again)],
        false => vec![file(&Records([all.0.clone(), again.0].concat()))],
    };
    Some((said(once), said(twice), is_step))
}

fn agrees(outcome: &Outcome, begin: f64, part: Range<f64>, at: usize, how: Twice) {
    let Some(((once, warned), (twice, mut more), is_step)) =
        both(outcome, begin, part.clone(), at, how)
    else {
        return;
    };
    let what = format!("{part:?} {at} {how:?} {begin}");
    if !is_step {
        assert_eq!(differs_but_for_copies(&once, &twice), None, "{what}");
        return;
    }
    let new = more.extract_if(.., |one| one.contains("frames stand"));
    assert_eq!(new.count(), 1, "{what}");
    let differs = once.lines().zip(twice.lines()).find(|(a, b)| a != b);
    assert_eq!((differs, warned), (None, more), "{what}");
}

const PLAIN: Twice = Twice {
    in_two_files: false,
    pcapng: false,
    alone: true,
};

#[test]
fn a_capture_with_itself_behind_it_is_the_capture() {
    for outcome in outcomes() {
        agrees(outcome, 0.0, 0.0..1.0, 0, PLAIN);
    }
}

#[test]
fn files_that_overlap_are_one_capture() {
    for outcome in outcomes() {
        for alone in [true, false] {
            let how = Twice {
                in_two_files: true,
                alone,
                ..PLAIN
            };
            agrees(outcome, 0.0, 0.5..1.0, 1, how);
        }
    }
}

/// Sorted by time (`mergecap` without `-a`), each frame stands beside itself, and is a copy as of a mirror.
#[test]
fn frames_beside_themselves_are_one_frame() {
    for outcome in outcomes() {
        for at in 0..outcome.points.len() {
            beside_itself(outcome, at);
        }
    }
}

fn beside_itself(outcome: &Outcome, at: usize) {
    let points = outcome.points.iter();
    let once: Vec<Records<'_>> = points.map(|point| Records::of(&point.bytes)).collect();
    let mut twice = once.clone();
    twice[at].0 = once[at].0.iter().flat_map(|one| [*one, *one]).collect();
    let [once, twice] = [once, twice].map(|points| {
        let files = points.iter().map(|point| vec![point.pcap()]);
        said(files.collect()).0
    });
    assert_eq!(differs_but_for_copies(&once, &twice), None, "{at}");
}

/// The first line that differs, where copies are counted and left out as those of a mirror are.
fn differs_but_for_copies<'a>(once: &'a str, twice: &'a str) -> Option<(&'a str, &'a str)> {
    // Messages of routers that come twice are counted twice, of a mirror as well.
    if once.contains("mtu_bytes: Some") {
        return None;
    }
    let counts = [
        "frames: ",
        "bytes: ",
        "tcp_frames: ",
        "doubled_frames: ",
        "first_frame: ",
    ];
    // Lines of digits are numbers of frames.
    let tells = |line: &&str| {
        let line = line.trim();
        let is_number = line.starts_with(|first: char| first.is_ascii_digit());
        !is_number && !counts.iter().any(|name| line.starts_with(name))
    };
    let mut lines = once.lines().filter(tells).zip(twice.lines().filter(tells));
    lines.find(|(one, other)| one != other)
}

/// Interfaces of one file that are points, and all of it a second time, as a section of its own.
#[test]
fn a_file_of_all_points_with_itself_behind_it_is_the_file() {
    let options = Options {
        points_by_interface: true,
        ..Options::default()
    };
    for outcome in outcomes() {
        let file = outcome.combined();
        let [once, twice] = [file.clone(), [file.clone(), file].concat()].map(|file| {
            let sources = vec![("all".to_owned(), source("all", file))];
            let name = "all".to_owned();
            let input = vec![PointInput { name, sources }];
            let mut trace = trace(input, &options, &mut |_| {}).expect("a capture");
            take_warnings(&mut trace);
            format!("{trace:#?}")
        });
        assert_eq!(differs_but_for_copies(&once, &twice), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_part_of_a_capture_behind_it_changes_nothing(
        story in 0_usize..1000,
        at in 0_usize..8,
        ends in (0.0_f64..1.0, 0.0_f64..1.0, 0..4_u8),
        begin in prop_oneof![Just(0.0), 0.0_f64..0.5],
        flags in any::<[bool; 3]>(),
    ) {
        let (one, other, which) = ends;
        let part = match which {
            0 => 0.0..one,
            1 => one..1.0,
            2 => one.min(other)..one.max(other),
            _ => 0.0..1.0,
        };
        let how = Twice { in_two_files: flags[0], pcapng: flags[1], alone: flags[2] };
        let outcomes = outcomes();
        agrees(&outcomes[story % outcomes.len()], begin, part, at, how);
    }
}
