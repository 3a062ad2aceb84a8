//! Captures that have only a part of what passed: the end of a connection, or one direction of it.

mod common;

use coalescope_capture::facts::Connection;
use coalescope_capture::{Options, PointInput, trace};
use coalescope_simulate::{MILLISECOND, Reorder, SECOND, Side, Turn, run, story};
use common::source;

/// A frame of a classic capture in microseconds: Ethernet, IPv4 without options, TCP.
struct Record<'a>(&'a [u8]);

impl Record<'_> {
    fn time_ns(&self) -> i64 {
        let word = |at: usize| {
            i64::from(u32::from_le_bytes([
                self.0[at],
                self.0[at + 1],
                self.0[at + 2],
                self.0[at + 3],
            ]))
        };
        word(0) * SECOND as i64 + word(4) * 1_000
    }

    fn half(&self, at: usize) -> usize {
        usize::from(u16::from_be_bytes([self.0[16 + at], self.0[17 + at]]))
    }

    fn is_servers(&self) -> bool {
        // Clients have the higher port.
        self.half(34) < self.half(36)
    }

    fn seq(&self) -> u64 {
        (self.half(38) as u64) << 16 | self.half(40) as u64
    }

    fn ack(&self) -> u64 {
        (self.half(42) as u64) << 16 | self.half(44) as u64
    }

    fn payload(&self) -> u64 {
        (self.half(16) - 20 - (self.half(46) >> 12) * 4) as u64
    }
}

/// The frames of a point of a story, with the header of its file.
fn records(bytes: &[u8]) -> (&[u8], Vec<Record<'_>>) {
    let (header, mut rest) = bytes.split_at(24);
    let mut records = Vec::new();
    while !rest.is_empty() {
        let len = u32::from_le_bytes(rest[8..12].try_into().expect("four bytes"));
        let (record, after) = rest.split_at(16 + len as usize);
        records.push(Record(record));
        rest = after;
    }
    (header, records)
}

/// The first connection of a capture of these frames.
fn traced<'a>(header: &[u8], records: impl Iterator<Item = &'a Record<'a>>) -> Connection {
    let mut bytes = header.to_vec();
    records.for_each(|record| bytes.extend_from_slice(record.0));
    let input = PointInput {
        name: "point".to_owned(),
        sources: vec![("point".to_owned(), source("point", bytes))],
    };
    let trace = trace(vec![input], &Options::default(), &mut |_| {}).expect("a good input");
    trace.points[0].connections.get(0).expect("a connection")
}

/// Bytes of the server's data, each once; what was acknowledged before it came has been here before, in
/// the capture or before its begin.
fn distinct(records: &[Record<'_>]) -> u64 {
    let mut acked = 0;
    let mut ranges = Vec::new();
    for record in records {
        let (start, end) = (record.seq(), record.seq() + record.payload());
        if !record.is_servers() {
            acked = acked.max(record.ack());
        } else if acked < end && start < end {
            ranges.push((start, end));
        }
    }
    ranges.sort_unstable();
    let add = |(bytes, seen): (u64, u64), (start, end): (u64, u64)| {
        (bytes + end.saturating_sub(start.max(seen)), seen.max(end))
    };
    ranges.into_iter().fold((0, 0), add).0
}

fn capture(name: &str, point: &str) -> Vec<u8> {
    let outcome = run(&story(name).expect("a story"));
    outcome.point(point).expect("a point").bytes.clone()
}

#[test]
fn a_capture_that_begins_late_has_all_bytes_from_there_on() {
    for (name, point) in [("reorder", "CLIENT"), ("random-loss", "UPLINK")] {
        let bytes = capture(name, point);
        let (header, records) = records(&bytes);
        for begin in (5..records.len().min(1200)).step_by(23) {
            let rest = &records[begin..];
            let got = traced(header, rest.iter()).to_client;
            assert_eq!(got.unique_bytes, distinct(rest), "{name} from {begin}");
        }
    }
}

#[test]
fn one_direction_shows_what_had_to_be_sent_again() {
    let bytes = capture("openstack-gro", "UPLINK");
    let (header, records) = records(&bytes);
    let whole = traced(header, records.iter()).to_client.repeats;
    let data = records.iter().filter(|record| record.is_servers());
    let alone = traced(header, data).to_client.repeats;
    assert!(whole.merged_repeated > 20 && whole.single > 20, "{whole:?}");
    assert_eq!(alone.merged_repeated, whole.merged_repeated);
    assert!(
        alone.single.abs_diff(whole.single) < whole.single / 20,
        "{alone:?} {whole:?}"
    );
    assert!(alone.single_repeated <= alone.single / 20, "{alone:?}");
}

/// 68 bytes of a SYN end before its window scale, and what is not known is not 1.
#[test]
fn a_window_whose_scale_was_cut_off_is_not_known() {
    let mut scenario = story("healthy-gro").expect("a story");
    let window = |scenario: &coalescope_simulate::Scenario| {
        let (trace, _) = common::traced(scenario);
        let connection = trace.points[0].connections.get(0).expect("a connection");
        (
            connection.to_server.window_max_bytes,
            connection.to_client.window_limited_s,
        )
    };
    assert!(window(&scenario).0 > Some(65_535));
    for element in &mut scenario.path {
        if let coalescope_simulate::Element::Point(point) = element {
            point.snap = 68;
        }
    }
    assert_eq!(window(&scenario), (None, 0.0));
}

/// Behind the loss, from the middle of it: the first round trip that shows waited for a timeout.
#[test]
fn gaps_are_told_by_the_shortest_round_trip_so_far() {
    let mut scenario = story("openstack-gro").expect("a story");
    for host in [&mut scenario.client, &mut scenario.server] {
        (host.sack, host.tail_probe) = (false, false);
    }
    let outcome = run(&scenario);
    let (header, records) = records(&outcome.point("TAP").expect("a point").bytes);
    let late = traced(header, records[records.len() / 4..].iter()).to_client;
    let share = late.gaps_s / late.duration_s.expect("data");
    assert!(share > 0.5, "{share}");
}

/// A segment that was overtaken left before those that overtook it, however long it took: its timestamp and ID say so where the
/// round trip is not known.
#[test]
fn what_was_overtaken_for_long_was_not_lost() {
    let mut scenario = story("reorder").expect("a story");
    for link in scenario.links_mut() {
        link.toward[0].reorder = Some(Reorder {
            probability: 0.02,
            extra: 6 * MILLISECOND,
        });
    }
    let outcome = run(&scenario);
    let (header, records) = records(&outcome.point("CLIENT").expect("a point").bytes);
    let data = records.iter().filter(|record| record.is_servers());
    let data = traced(header, data).to_client;
    assert!(data.out_of_order_frames >= 20, "{data:?}");
    assert_eq!(data.late_frames, 0);
}

/// A segment that was sent again left after those that came before it, however soon it came: its ID says so where a
/// handshake and a first answer that waited make the round trip look long.
#[test]
fn what_was_sent_again_soon_was_lost() {
    let mut scenario = story("random-loss").expect("a story");
    (scenario.client.timestamps, scenario.server.timestamps) = (false, false);
    let mut bytes = run(&scenario).point("VM").expect("a point").bytes.clone();
    let begins = records(&bytes).1;
    let begins = begins
        .iter()
        .take_while(|record| !(record.is_servers() && record.payload() > 0));
    let ends: Vec<usize> = begins.map(|record| record.0.len()).collect();
    let mut at = 24;
    for (number, len) in ends.into_iter().enumerate() {
        let earlier_s = if number == 0 { 6 } else { 3 };
        let seconds = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        bytes[at..at + 4].copy_from_slice(&(seconds - earlier_s).to_le_bytes());
        at += len;
    }
    let (header, records) = records(&bytes);
    // Nor does an acknowledgment of the request show the round trip.
    let kept = records
        .iter()
        .enumerate()
        .filter(|(number, record)| *number < 3 || !record.is_servers() || record.payload() > 0);
    let connection = traced(header, kept.map(|(_, record)| record));
    assert!(connection.handshake_rtt_s > Some(2.9), "{connection:?}");
    let data = connection.to_client;
    assert!(data.out_of_order_frames >= 10, "{data:?}");
    assert_eq!(data.late_frames, data.out_of_order_frames);
}

/// Without acknowledgments that carry no data, what was acknowledged is known from requests alone: a pause behind a PSH stays one.
#[test]
fn a_capture_of_data_alone_shows_pauses() {
    let mut scenario = story("idle-sender").expect("a story");
    scenario.turns[1] = Turn::new(Side::Server, 1 << 19).in_writes(1 << 14, 400 * MILLISECOND);
    let outcome = run(&scenario);
    let (header, records) = records(&outcome.point("CLIENT").expect("a point").bytes);
    let whole = traced(header, records.iter()).to_client;
    let data = records.iter().filter(|record| record.payload() > 0);
    let alone = traced(header, data).to_client;
    assert!(whole.sender_idle_s > 0.0, "{whole:?}");
    let missing = whole.sender_idle_s - alone.sender_idle_s;
    assert!(missing < 0.1 * whole.sender_idle_s, "{missing}: {alone:?}");
    assert!(alone.gaps_s < 0.1 * whole.sender_idle_s, "{alone:?}");
}

/// What a capture misses it has no gap for, as long as acknowledgments go on.
#[test]
fn a_capture_that_misses_frames_for_a_time_shows_no_timeout() {
    let bytes = capture("small-window", "CLIENT");
    let (header, records) = records(&bytes);
    let whole = traced(header, records.iter()).to_client;
    assert_eq!((whole.gaps, whole.missed_bytes), (0, 0), "{whole:?}");
    assert!(whole.duration_s > Some(0.9), "{whole:?}");
    let times: Vec<i64> = records.iter().map(Record::time_ns).collect();
    let last_ns = times[times.len() - 1];
    for begin_ns in (times[20]..last_ns - SECOND as i64 / 2).step_by(SECOND as usize / 10) {
        let missed = begin_ns..begin_ns + SECOND as i64 / 2;
        let kept = records
            .iter()
            .filter(|record| !(record.is_servers() && missed.contains(&record.time_ns())));
        let data = traced(header, kept).to_client;
        assert!(data.missed_bytes > 0, "{data:?}");
        assert_eq!(
            (data.gaps, data.sender_idle_s),
            (0, whole.sender_idle_s),
            "{begin_ns} {data:?}"
        );
    }
}

/// What comes behind a timeout ends the silence, whether it was captured or is acknowledged only.
#[test]
fn a_capture_that_misses_frames_shows_timeouts_by_what_is_acknowledged() {
    let bytes = capture("openstack-gro", "TAP");
    let (header, records) = records(&bytes);
    let whole = traced(header, records.iter()).to_client;
    // Each third frame, whichever that is.
    let kept = records
        .iter()
        .enumerate()
        .filter(|(at, record)| !record.is_servers() || at % 3 > 0);
    let some = traced(header, kept.map(|(_, record)| record)).to_client;
    assert!(whole.gaps > 10 && some.missed_bytes > 0, "{whole:?}");
    assert!(
        (some.gaps_s - whole.gaps_s).abs() < 0.2 * whole.gaps_s,
        "{} {}",
        some.gaps_s,
        whole.gaps_s
    );
}

/// The handshake of a later connection between the same ports, whose SYN was not captured, ends no handshake that began before.
#[test]
fn an_answer_to_another_syn_shows_no_round_trip() {
    let bytes = capture("healthy-gro", "CLIENT");
    let (header, records) = records(&bytes);
    let later = |record: &Record<'_>, acked: u8| {
        let mut bytes = record.0.to_vec();
        let seconds = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) + 60;
        bytes[..4].copy_from_slice(&seconds.to_le_bytes());
        bytes[58] ^= acked;
        bytes
    };
    // The SYN-ACK, and the ACK behind it.
    let [answer, end] = [later(&records[1], 0x40), later(&records[2], 0)];
    let all = std::iter::once(&records[0]).chain(&records[3..]);
    let strange = [Record(&answer), Record(&end)];
    let connection = traced(header, all.chain(&strange));
    assert!(
        connection.handshake_rtt_s.is_none_or(|rtt_s| rtt_s < 1.0),
        "{connection:?}"
    );
    assert_eq!(connection.phases.connect_s, None, "{connection:?}");
}

/// Frames that a warning sums up, and those of connections that are kept.
#[test]
fn beyond_a_number_of_connections_the_oldest_are_summed_up() {
    let mut scenario = story("ipvs-gro-direct").expect("a story");
    (scenario.connections, scenario.spacing) = (60, 2 * SECOND);
    let outcome = run(&scenario);
    let traced = |max_connections| {
        let input = PointInput {
            name: "CLIENT".to_owned(),
            sources: vec![(
                "CLIENT".to_owned(),
                source("CLIENT", outcome.points[0].bytes.clone()),
            )],
        };
        let options = Options {
            max_connections,
            ..Options::default()
        };
        let mut trace = trace(vec![input], &options, &mut |_| {}).expect("a good input");
        trace.points.remove(0)
    };
    let (all, few) = (traced(0), traced(10));
    assert_eq!((all.connections.len(), all.warnings.len()), (60, 0));
    let kept = few.connections.len();
    assert!((10..15).contains(&kept), "{kept}");
    let frames = |connection: Connection| connection.to_client.frames + connection.to_server.frames;
    let kept_frames: u64 = few.connections.iter().map(frames).sum();
    let summed = few.tcp_frames - kept_frames;
    let warning = &few.warnings[0];
    assert!(
        warning.contains(&format!("oldest {} of", 60 - kept)),
        "{warning}"
    );
    assert!(warning.contains(&format!(" {summed} frames")), "{warning}");
    // Those that are kept are the newest.
    let newest = all
        .connections
        .iter()
        .skip(60 - kept)
        .map(|one| one.client.port);
    assert!(few.connections.iter().map(|one| one.client.port).eq(newest));
}

/// Sets PSH in all data of the server, as where each write of its application fits into a frame.
fn push(bytes: &mut [u8]) {
    let mut at = 24;
    while at < bytes.len() {
        let len = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().expect("four bytes"));
        let end = at + 16 + len as usize;
        let record = Record(&bytes[at..end]);
        if record.is_servers() && record.payload() > 0 {
            bytes[at + 16 + 47] |= 8;
        }
        at = end;
    }
}

/// Without the SYN the handshake shows no round trip, and the sender is no more idle for that.
#[test]
fn a_capture_without_the_syn_shows_no_longer_pauses() {
    let mut seen = 0;
    for name in ["healthy-gro", "random-loss", "reorder"] {
        for mut point in common::simulated(name).points {
            push(&mut point.bytes);
            let (header, records) = records(&point.bytes);
            let idle = |from: usize| {
                let data = traced(header, records[from..].iter()).to_client;
                (data.sender_idle_s, data.duration_s.unwrap_or(0.0))
            };
            let ((whole, duration), (without, _)) = (idle(0), idle(1));
            assert!(
                (without - whole).abs() <= 0.02 * duration,
                "{name} at {}: {without} s idle without the SYN, {whole} with it, of {duration}",
                point.name
            );
            seen += usize::from(duration > 0.0);
        }
    }
    assert!(seen >= 5);
}
