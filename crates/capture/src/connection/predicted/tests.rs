//! What is predicted must come out as if nothing were: both ways are taken side by side, and all
//! that is known of a connection, down to each field, must be the same.

use std::io::Cursor;

use coalescope_simulate::{run, stories, story};
use coalescope_wire::{Flags, LinkType};
use hashbrown::HashMap;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::connection::Connection;
use crate::file::{Direction, RawFrame, Source};
use crate::flow::Data;
use crate::frame::Frame;
use crate::frame::digester::Digester;
use crate::outstanding::Common;
use crate::row::Kind;
use crate::summary;

/// One connection, followed in both ways.
struct Pair {
    both: [Connection; 2],
    common: [Common; 2],
    frames: u64,
    predicted: u64,
}

impl Pair {
    fn new(frame: &Frame) -> Self {
        Self {
            both: [Connection::new(frame), Connection::new(frame)],
            common: [Common::default(), Common::default()],
            frames: 0,
            predicted: 0,
        }
    }

    fn take(&mut self, frame: &Frame) {
        let [first, second] = &mut self.both;
        self.frames += 1;
        self.predicted += u64::from(first.predicts(frame, &self.common[0]).is_some());
        let tracked = first.track(frame, &mut self.common[0]);
        assert_eq!(
            tracked,
            second.track_any(frame, &mut self.common[1]),
            "{frame:?}"
        );
        // What a point does when it meets many copies.
        let doubling = self.common[0].doubling || tracked.data == Data::Doubled;
        self.common
            .iter_mut()
            .for_each(|common| common.doubling = doubling);
    }

    fn compare(&self) {
        let [first, second] = &self.both;
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
        let [first, second] = &self.common;
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
    }

    fn finish(mut self) -> (u64, u64) {
        self.compare();
        for (connection, common) in self.both.iter_mut().zip(&mut self.common) {
            connection.finish(common);
        }
        self.compare();
        let [first, second] = self
            .both
            .map(|connection| summary::connection(0, &connection));
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
        (self.frames, self.predicted)
    }
}

/// Follows a capture in both ways; gives its TCP frames, and how many were predicted.
fn follow(capture: Vec<u8>) -> (u64, u64) {
    let mut source = Source::from_reader("story", Box::new(Cursor::new(capture)), None).unwrap();
    let mut digester = Digester::default();
    let mut frame = Frame::default();
    let mut pairs: HashMap<String, Pair> = HashMap::new();
    while let Some(raw) = source.next() {
        if digester.digest(&raw, &mut frame) == Kind::Tcp {
            let name = format!("{:?}", frame.key);
            pairs
                .entry(name)
                .or_insert_with(|| Pair::new(&frame))
                .take(&frame);
        }
    }
    let counts = pairs.into_values().map(Pair::finish);
    counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
}

#[test]
fn stories_are_read_alike_with_and_without_prediction() {
    let (mut frames, mut predicted) = (0, 0);
    for name in stories().iter().map(|story| story.name) {
        for point in run(&story(name).unwrap()).points {
            let counts = follow(point.bytes);
            frames += counts.0;
            predicted += counts.1;
        }
    }
    assert!(
        predicted * 2 > frames,
        "{predicted} of {frames} frames were predicted"
    );
    assert!(predicted < frames, "all of {frames} frames were predicted");
}

/// One frame, told from where its direction stands.
#[derive(Clone, Debug)]
struct Step {
    from_client: bool,
    ahead: i32,
    payload: u16,
    unacknowledged: u32,
    flags: u16,
    window: u16,
    tsval: u32,
    id: u16,
    sack: bool,
    after_ns: i64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ahead = select(vec![0, 0, 0, 0, 0, 0, 0, -1, -1448, 1448, 1 << 30]);
    let payload = select(vec![0, 0, 0, 1, 100, 1220, 1448, 1448, 2896, 14_480]);
    let unacknowledged = select(vec![0, 0, 0, 0, 1448, 14_480, u32::MAX - 5]);
    let ack = Flags::ACK;
    let flags = select(vec![
        ack,
        ack,
        ack,
        ack,
        ack | Flags::PSH,
        ack | Flags::PSH,
        ack | Flags::FIN,
        ack | Flags::RST,
        Flags::SYN,
        ack | Flags::SYN,
        ack | Flags::ECE,
        0,
    ]);
    let after_ns = select(vec![0, 1000, 100_000, 20_000_000, 400_000_000, -1000]);
    let rest = (
        select(vec![0, 500, 500, 500, 501]),
        0..3u32,
        select(vec![0, 0, 7, 8]),
        select(vec![false, false, false, true]),
    );
    let step = (
        any::<bool>(),
        ahead,
        payload,
        unacknowledged,
        flags,
        rest,
        after_ns,
    );
    let step = step.prop_map(
        |(
            from_client,
            ahead,
            payload,
            unacknowledged,
            flags,
            (window, tsval, id, sack),
            after_ns,
        )| Step {
            from_client,
            ahead,
            payload,
            unacknowledged,
            flags,
            window,
            tsval,
            id,
            sack,
            after_ns,
        },
    );
    vec(step, 1..120)
}

/// The steps as frames.
struct Writer {
    next: [u32; 2],
    time_ns: i64,
    number: u64,
}

impl Writer {
    fn frame(&mut self, step: &Step) -> Frame {
        let (from, to) = if step.from_client { (0, 1) } else { (1, 0) };
        let seq = self.next[from].wrapping_add_signed(step.ahead);
        if step.ahead >= 0 {
            self.next[from] = seq.wrapping_add(u32::from(step.payload));
        }
        let ack = self.next[to].wrapping_sub(step.unacknowledged);
        self.time_ns += step.after_ns;
        self.number += 1;
        let data = bytes(step, seq, ack);
        let raw = RawFrame {
            number: self.number,
            time_ns: self.time_ns,
            interface: 0,
            link: LinkType::Ethernet,
            original_len: (data.len() + usize::from(step.payload)) as u32,
            data: &data,
            direction: Direction::Unknown,
        };
        let mut frame = Frame::default();
        assert_eq!(Digester::default().digest(&raw, &mut frame), Kind::Tcp);
        frame
    }
}

/// Ethernet, IPv4, TCP with timestamps or a SACK block; no payload is captured.
fn bytes(step: &Step, seq: u32, ack: u32) -> Vec<u8> {
    let (client, server) = ([10, 0, 0, 1, 0xc0, 1], [10, 0, 0, 2, 0, 80]);
    let (from, to) = if step.from_client {
        (client, server)
    } else {
        (server, client)
    };
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((52 + step.payload).to_be_bytes());
    frame.extend(step.id.to_be_bytes());
    frame.extend([0x40, 0, 64, 6, 0, 0]);
    frame.extend([&from[..4], &to[..4], &from[4..], &to[4..]].concat());
    frame.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
    frame.extend((0x8000 | step.flags).to_be_bytes());
    frame.extend(step.window.to_be_bytes());
    frame.extend([0x12, 0x34, 0, 0]);
    let (kind, left, right) = if step.sack {
        (
            [1, 1, 5, 10],
            ack.wrapping_add(1448),
            ack.wrapping_add(2896),
        )
    } else {
        ([1, 1, 8, 10], step.tsval, step.tsval)
    };
    frame.extend(kind);
    frame.extend([left.to_be_bytes(), right.to_be_bytes()].concat());
    frame
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_frames_are_read_alike_with_and_without_prediction(
        steps in steps(),
        first in select(vec![1000, u32::MAX - 3000, 1 << 31]),
    ) {
        let mut writer = Writer { next: [first, 7], time_ns: 1_000_000_000, number: 0 };
        let mut pair: Option<Pair> = None;
        for step in &steps {
            let frame = writer.frame(step);
            let pair = pair.get_or_insert_with(|| Pair::new(&frame));
            pair.take(&frame);
            pair.compare();
        }
        if let Some(pair) = pair {
            pair.finish();
        }
    }
}
