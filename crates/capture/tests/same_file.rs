//! The same file to several clients at once, captured at two points that begin in the middle and at different times: without
//! timestamps only ends and numbers tell the connections apart.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use coalescope_capture::facts::Trace;
use coalescope_capture::{Options, PointInput, trace};
use common::source;
use proptest::prelude::*;

const SEGMENT: u32 = 1448;
const MS: u64 = 1_000_000;

/// A frame at one point.
#[derive(Clone, Copy)]
struct Sent {
    time_ns: u64,
    port: u16,
    /// Where in the file its payload begins; `None` of an acknowledgment of what lies before `ack`.
    data: Option<u32>,
    ack: u32,
}

/// The first sequence number of a connection.
fn begin(port: u16) -> u32 {
    u32::from(port).wrapping_mul(0x9E37_79B9)
}

/// Ethernet, IPv4 and TCP, from the server at port 8000 or to it, with timestamps or without any option.
fn frame(sent: &Sent, stamped: bool) -> Vec<u8> {
    let payload = sent.data.map_or(0, |_| SEGMENT);
    let options = if stamped { 12 } else { 0 };
    let (seq, ack) = match sent.data {
        Some(at) => (begin(sent.port).wrapping_add(at), 1000),
        None => (1000, begin(sent.port).wrapping_add(sent.ack)),
    };
    let (from, to) = match sent.data {
        Some(_) => (([10, 8, 0, 1], 8000), ([10, 8, 0, 2], sent.port)),
        None => (([10, 8, 0, 2], sent.port), ([10, 8, 0, 1], 8000)),
    };
    let mut bytes = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]].concat();
    bytes.extend([8, 0, 0x45, 0]);
    bytes.extend((20 + 20 + options + payload as u16).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    bytes.extend(from.0.iter().chain(&to.0));
    bytes.extend([from.1.to_be_bytes(), to.1.to_be_bytes()].concat());
    bytes.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
    bytes.extend([
        (((20 + options) / 4) << 4) as u8,
        0x10,
        0xff,
        0xff,
        0,
        0,
        0,
        0,
    ]);
    if stamped {
        let now = sent.data.unwrap_or(sent.ack) / SEGMENT * 10;
        bytes.extend([1, 1, 8, 10]);
        bytes.extend([now.to_be_bytes(), now.to_be_bytes()].concat());
    }
    let content = |i: u32| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8;
    bytes.extend((0..payload).map(|i| content(sent.data.unwrap_or(0) + i)));
    bytes
}

/// What passes the first point: each client is sent a segment in turn, and acknowledges it.
fn sent(clients: u16, segments: u32) -> Vec<Sent> {
    let each = |number: u32| {
        (0..clients).flat_map(move |client| {
            let time_ns = u64::from(number) * 10 * MS + u64::from(client) * MS;
            let data = Sent {
                time_ns,
                port: 40_000 + client,
                data: Some(number * SEGMENT),
                ack: 0,
            };
            let ack = Sent {
                time_ns: time_ns + 4 * MS,
                data: None,
                ack: (number + 1) * SEGMENT,
                ..data
            };
            [data, ack]
        })
    };
    let mut all: Vec<Sent> = (0..segments).flat_map(each).collect();
    all.sort_by_key(|sent| sent.time_ns);
    all
}

/// A capture of frames from some time on; data passes later than at the first point, acknowledgments earlier.
fn capture(all: &[Sent], from_ns: u64, delay_ns: u64, stamped: bool) -> Vec<u8> {
    let mut bytes = [0xa1b2_3c4d_u32.to_le_bytes(), [2, 0, 4, 0]].concat();
    bytes.extend([0; 8]);
    bytes.extend([65_535_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat());
    let mut shown: Vec<Sent> = all.to_vec();
    for one in &mut shown {
        one.time_ns += 1_000 * MS;
        one.time_ns = if one.data.is_some() {
            one.time_ns + delay_ns
        } else {
            one.time_ns - delay_ns
        };
    }
    shown.sort_by_key(|one| one.time_ns);
    for one in shown
        .iter()
        .filter(|one| one.time_ns >= 1_000 * MS + from_ns)
    {
        let frame = frame(one, stamped);
        let head = [
            one.time_ns / 1_000_000_000,
            one.time_ns % 1_000_000_000,
            frame.len() as u64,
            frame.len() as u64,
        ];
        head.iter()
            .for_each(|number| bytes.extend((*number as u32).to_le_bytes()));
        bytes.extend(frame);
    }
    bytes
}

fn traced(captures: [Vec<u8>; 2]) -> Trace {
    let names = ["A", "B"];
    let inputs = names.iter().zip(captures).map(|(name, bytes)| PointInput {
        name: (*name).to_owned(),
        sources: vec![((*name).to_owned(), source(name, bytes))],
    });
    trace(inputs.collect(), &Options::default(), &mut |_| {}).expect("good inputs")
}

/// The port of a connection's client at a point.
fn port(trace: &Trace, point: usize, id: u64) -> u16 {
    let connections = &trace.points[point].connections;
    let mut all = (0..connections.len() as u64).filter_map(|at| connections.get(at));
    all.find(|one| one.id == id)
        .expect("a connection")
        .client
        .port
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn connections_between_the_same_ends_are_joined_and_no_others(
        clients in 1_u16..4,
        late in [0_u64..60, 0_u64..60],
        stamped in any::<[bool; 2]>(),
    ) {
        let all = sent(clients, 160);
        let begin = late.map(|segments| segments * 10 * MS);
        let first = capture(&all, begin[0], 0, stamped[0]);
        let second = capture(&all, begin[1], MS / 2, stamped[1]);
        let trace = traced([first, second]);
        prop_assert_eq!(trace.hops.len(), 1);
        let hop = &trace.hops[0];
        prop_assert_eq!(hop.connections.len(), usize::from(clients));
        for seen in &hop.connections {
            let ports = [port(&trace, 0, seen.from_id), port(&trace, 1, seen.to_id)];
            prop_assert_eq!(ports[0], ports[1]);
            prop_assert_eq!((seen.single.lost, seen.merged.lost), (0, 0));
        }
    }
}
