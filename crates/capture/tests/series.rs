//! The frames of chosen connections against the simulator's ground truth, and against themselves:
//! bytes that a hop lost are at one point once more than at the next.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use coalescope_capture::facts::Trace;
use coalescope_capture::series::{Bin, Chosen, Data, Fate, Frame, Lane, Series, series};
use coalescope_capture::{Options, PointInput, trace};
use coalescope_simulate::{Outcome, PointCapture, Side, run, stories, story};
use common::source;

/// The flag, as it stands in the header.
const SYN: u16 = 2;
/// Stories that lose frames on a hop.
const LOSSY: [&str; 5] = [
    "openstack-gro",
    "hyperv-rsc-jumbo",
    "ipvs-gro-vip",
    "random-loss",
    "burst-loss",
];
/// More than any story has.
const ALL: usize = 1_000_000;

fn inputs(outcome: &Outcome) -> Vec<PointInput> {
    let input = |point: &PointCapture| PointInput {
        name: point.name.clone(),
        sources: vec![(point.name.clone(), source(&point.name, point.bytes.clone()))],
    };
    outcome.points.iter().map(input).collect()
}

fn read(name: &str, chosen: &[Chosen], limit: usize) -> (Trace, Outcome, Vec<Series>) {
    let outcome = run(&story(name).expect("a story"));
    let options = Options::default();
    let facts = trace(inputs(&outcome), &options, &mut |_| {}).expect("inputs are good");
    let asked = (&facts, chosen);
    let series =
        series(inputs(&outcome), &options, asked, limit, &mut |_| {}).expect("good inputs");
    (facts, outcome, series)
}

const FIRST: Chosen = Chosen { point: 0, id: 0 };

fn only(name: &str) -> (Outcome, Series) {
    let (_, outcome, mut series) = read(name, &[FIRST], ALL);
    assert_eq!(series.len(), 1, "{name}");
    (outcome, series.remove(0))
}

fn data(lane: &Lane, to_client: bool) -> impl Iterator<Item = &Frame> {
    let is_data = move |frame: &&Frame| frame.payload > 0 && frame.to_client == to_client;
    lane.frames.iter().filter(is_data)
}

fn is_fate(fate: Fate) -> impl Fn(&&Frame) -> bool {
    move |frame| frame.fate == Some(fate)
}

/// What one direction of a lane shows, to be what the facts of the first reading say.
fn check_way(label: &str, lane: &Lane, to_client: bool) {
    let connection = &lane.connection;
    let facts = [&connection.to_server, &connection.to_client][usize::from(to_client)];
    let way = &lane.ways[usize::from(to_client)];
    let frames: Vec<_> = data(lane, to_client)
        .filter(|frame| frame.data != Data::None)
        .collect();
    let count = |what: fn(&Frame) -> bool| frames.iter().filter(|f| what(f)).count() as u64;
    let sum = |what: fn(&Bin) -> u64| way.rates.bins.iter().map(what).sum::<u64>();
    let windows = lane
        .frames
        .iter()
        .filter(|f| f.to_client == to_client && f.flags & SYN == 0);
    let largest = windows.filter_map(|frame| frame.window).max();
    assert_eq!(
        [
            frames.len() as u64,
            way.lengths.iter().sum(),
            count(|f| f.data == Data::Again),
            count(|f| f.data == Data::Late),
            count(|f| f.segments > 1),
            sum(|bin| bin.new_bytes) + sum(|bin| bin.again_bytes),
        ],
        [
            facts.data_frames,
            facts.data_frames,
            facts.retransmitted_frames,
            facts.late_frames,
            facts.merged_frames + facts.tso_frames,
            facts.payload_bytes,
        ],
        "{label}"
    );
    assert_eq!(way.segment_size_bytes, facts.segment_size_bytes, "{label}");
    assert_eq!(largest.map(u64::from), facts.window_max_bytes, "{label}");
}

#[test]
fn each_story_as_its_facts_say() {
    for entry in stories() {
        let (_, _, series) = read(entry.name, &[FIRST], ALL);
        assert_eq!(series.len(), 1, "{}", entry.name);
        for lane in series.iter().flat_map(|series| &series.lanes) {
            for to_client in [false, true] {
                let label = format!("{} {} {to_client}", entry.name, lane.point);
                check_way(&label, lane, to_client);
            }
        }
    }
}

/// Bytes that a hop lost are once more at the point before it; those that arrived are not. This
/// knows nothing of how fates were found.
#[test]
fn what_is_called_lost_is_absent_from_the_next_point_and_nothing_else_is() {
    for name in LOSSY {
        let (outcome, series) = only(name);
        let mut lanes: Vec<&Lane> = series.lanes.iter().collect();
        if series.nearest_sender[1] != 0 {
            lanes.reverse();
        }
        let lost = lanes
            .windows(2)
            .map(|pair| check_hop(name, pair[0], pair[1], &outcome));
        assert!(lost.sum::<u64>() > 0, "{name} loses frames");
    }
}

/// Checks every frame to the client on one hop; gives how many vanished.
fn check_hop(name: &str, from: &Lane, to: &Lane, outcome: &Outcome) -> u64 {
    let unclear =
        |frame: &&Frame| matches!(frame.fate, None | Some(Fate::NotJudged | Fate::PartlyLost));
    for frame in data(from, true) {
        let covers = |other: &&Frame| other.start <= frame.start && frame.start < other.end();
        if data(from, true).filter(covers).any(|other| unclear(&other)) {
            continue;
        }
        let here = data(from, true).filter(covers).count();
        let there = data(to, true).filter(covers).count();
        let lost = data(from, true).filter(covers).filter(is_fate(Fate::Lost));
        let number = frame.number;
        assert_eq!(
            here,
            there + lost.count(),
            "{name} frame {number} at {}",
            from.point
        );
    }
    let lost = data(from, true).filter(is_fate(Fate::Lost)).count() as u64;
    let truth = outcome.truth.hop(&from.point, &to.point).expect("a hop");
    let want = truth.merged.lost + truth.single.lost;
    assert!(
        lost.abs_diff(want) <= 2,
        "{name}: {lost} lost, truth {want}"
    );
    lost
}

#[test]
fn only_merged_frames_vanish_where_merging_is_to_blame() {
    let (_, series) = only("openstack-gro");
    let lost: Vec<&Frame> = series
        .lanes
        .iter()
        .flat_map(|lane| data(lane, true))
        .filter(is_fate(Fate::Lost))
        .collect();
    assert!(
        lost.len() > 10 && lost.iter().all(|frame| frame.segments > 1),
        "{}",
        lost.len()
    );
}

#[test]
fn bytes_and_times_are_the_same_at_all_points() {
    for name in ["clock-offset", "nat", "vxlan", "openstack-gro"] {
        let (_, series) = only(name);
        let upstream = series.nearest_sender[1];
        let (first, second) = (&series.lanes[upstream], &series.lanes[1 - upstream]);
        assert!(series.lanes.iter().all(|lane| lane.is_aligned), "{name}");
        let alike = |a: &&Frame| {
            data(second, a.to_client).any(|b| {
                (a.start, a.payload) == (b.start, b.payload)
                    && (a.at_ns - b.at_ns).abs() < 200_000_000
            })
        };
        let all: Vec<_> = data(first, true).filter(is_fate(Fate::Arrived)).collect();
        assert!(!all.is_empty(), "{name}");
        let near = all.iter().filter(|frame| alike(frame)).count();
        assert!(near * 10 > all.len() * 9, "{name}: {near} of {}", all.len());
        assert!(
            series
                .lanes
                .iter()
                .flat_map(|lane| &lane.frames)
                .all(|frame| frame.at_ns >= 0),
            "{name}"
        );
        assert!(data(first, true).all(|frame| frame.start >= 0), "{name}");
    }
}

#[test]
fn acknowledgments_sack_and_windows_are_of_the_other_direction() {
    let (_, series) = only("random-loss");
    let lane = &series.lanes[series.nearest_sender[1]];
    let sent = data(lane, true).map(Frame::end).max().unwrap();
    let acks: Vec<_> = lane
        .frames
        .iter()
        .filter(|frame| !frame.to_client)
        .collect();
    let last = acks.iter().filter_map(|frame| frame.ack).max().unwrap();
    // A FIN takes a number, too.
    assert!((sent..=sent + 1).contains(&last), "{last} of {sent}");
    let mut blocks = acks.iter().flat_map(|frame| &frame.sack).peekable();
    assert!(blocks.peek().is_some());
    assert!(blocks.all(|(from, to)| from < to && *to <= sent));
    assert!(
        acks.iter()
            .any(|frame| frame.window.is_some_and(|window| window > 65_535))
    );
}

#[test]
fn a_long_connection_is_thinned_and_says_so() {
    let (_, _, all) = read("openstack-gro", &[FIRST], ALL);
    let (_, _, thinned) = read("openstack-gro", &[FIRST], 200);
    for (lane, few) in all[0].lanes.iter().zip(&thinned[0].lanes) {
        assert!(few.frames.len() <= 200);
        assert_eq!(
            few.frames.len() as u64 + few.left.all(),
            lane.frames.len() as u64
        );
        assert_eq!(lane.left.all(), 0);
        let lost = |lane: &Lane| lane.frames.iter().filter(|f| f.is_lost()).count();
        assert!(few.left.telling > 0 || lost(few) == lost(lane));
        // What is counted in bins and classes is of all frames.
        assert_eq!(
            few.ways.each_ref().map(|way| way.lengths),
            lane.ways.each_ref().map(|way| way.lengths)
        );
        assert_eq!(few.ways[1].rates, lane.ways[1].rates);
    }
}

#[test]
fn a_connection_chosen_twice_is_there_once_and_nonsense_is_not_there() {
    let chosen = [
        FIRST,
        Chosen { point: 1, id: 0 },
        Chosen { point: 0, id: 999 },
        Chosen { point: 99, id: 0 },
    ];
    let (facts, outcome, series) = read("openstack-gro", &chosen, ALL);
    assert_eq!(series.len(), 1);
    assert_eq!(series[0].lanes.len(), facts.points.len());
    let toward = &outcome.truth.connections[0].toward[Side::Client.index()];
    assert!(toward.bytes > 0);
}

#[test]
fn interfaces_of_one_file_and_a_reading_thread_give_the_same() {
    let outcome = run(&story("openstack-gro").expect("a story"));
    let options = Options {
        threads: 2,
        points_by_interface: true,
        ..Options::default()
    };
    let input = || PointInput {
        name: "all".to_owned(),
        sources: vec![("all".to_owned(), source("all", outcome.combined()))],
    };
    let facts = trace(vec![input()], &options, &mut |_| {}).expect("inputs are good");
    let asked = (&facts, &[FIRST][..]);
    let mut all = series(vec![input()], &options, asked, ALL, &mut |_| {}).expect("good inputs");
    let (together, (_, apart)) = (all.remove(0), only("openstack-gro"));
    let lost = |series: &Series| {
        let lanes = series.lanes.iter();
        let of = |lane: &Lane| {
            lane.frames
                .iter()
                .filter(|f| f.is_lost())
                .map(|f| f.start)
                .collect::<Vec<_>>()
        };
        let mut lost: Vec<_> = lanes.map(|lane| (lane.point.clone(), of(lane))).collect();
        lost.sort();
        lost
    };
    assert_eq!(lost(&together), lost(&apart));
}

/// The same frames with the same fates, whether a point's capture is one file or was rotated, with numbers that begin anew.
#[test]
fn rotated_files_change_nothing_but_numbers() {
    for name in LOSSY {
        let outcome = run(&story(name).expect("a story"));
        let whole = series_of(&|| inputs(&outcome));
        let rotated = series_of(&|| rotated(&outcome));
        for (one, other) in whole.lanes.iter().zip(&rotated.lanes) {
            assert_eq!(other.files.len(), PARTS, "{name}");
            let mut frames = other.frames.clone();
            let counted: Vec<u64> = rotated_counts(&outcome, &one.point);
            for frame in &mut frames {
                let before: u64 = counted[..usize::from(frame.file)].iter().sum();
                (frame.number, frame.file) = (frame.number + before, 0);
            }
            assert!(frames == one.frames, "{name} {}", one.point);
        }
    }
}

/// Files that each capture is cut into.
const PARTS: usize = 3;

fn series_of(inputs: &dyn Fn() -> Vec<PointInput>) -> Series {
    let options = Options::default();
    let facts = trace(inputs(), &options, &mut |_| {}).expect("inputs are good");
    let asked = (&facts, &[FIRST][..]);
    let mut series = series(inputs(), &options, asked, ALL, &mut |_| {}).expect("good inputs");
    series.remove(0)
}

/// The header of a pcap file, and its records.
fn records(bytes: &[u8]) -> (&[u8], Vec<&[u8]>) {
    let (head, mut rest) = bytes.split_at(24);
    let mut found = Vec::new();
    while !rest.is_empty() {
        let captured = u32::from_le_bytes(rest[8..12].try_into().expect("four bytes"));
        let (record, behind) = rest.split_at(16 + captured as usize);
        found.push(record);
        rest = behind;
    }
    (head, found)
}

/// A capture in parts, each with the header, and their counts of frames.
fn parts(bytes: &[u8]) -> Vec<(Vec<u8>, u64)> {
    let (head, records) = records(bytes);
    let each = records.chunks(records.len().div_ceil(PARTS));
    each.map(|part| ([head, &part.concat()].concat(), part.len() as u64))
        .collect()
}

fn rotated(outcome: &Outcome) -> Vec<PointInput> {
    let input = |point: &PointCapture| PointInput {
        name: point.name.clone(),
        sources: parts(&point.bytes)
            .into_iter()
            .enumerate()
            .map(|(i, (bytes, _))| (format!("{}-{i}", point.name), source("part", bytes)))
            .collect(),
    };
    outcome.points.iter().map(input).collect()
}

fn rotated_counts(outcome: &Outcome, name: &str) -> Vec<u64> {
    let mut points = outcome.points.iter();
    let point = points.find(|point| point.name == name).expect("a point");
    parts(&point.bytes)
        .into_iter()
        .map(|(_, frames)| frames)
        .collect()
}
