//! Merged UDP datagrams that a router loses: what hops say is what happened, for resolvers and for what nobody can read, whichever
//! points there are, in whichever order, by whatever clocks.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use coalescope_capture::facts::{DatagramHop, Outcomes};
use coalescope_capture::{Options, PointInput, trace};
use common::source;

/// What the router does to what was merged in front of it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// It loses them.
    Whole,
    /// It translates the first part alone, so that the others go nowhere.
    Rest,
    /// It loses one in four of all datagrams, merged or not.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Content {
    Dns,
    Opaque,
    /// One flow of datagrams as long as a tunnel's, so that two of them are too long for a frame.
    Tunnel,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    seed: u64,
    fault: Fault,
    content: Content,
    v6: bool,
    /// Whether the client captures as well, in front of whatever merges.
    at_client: bool,
    backwards: bool,
    /// What the clock of WAN is ahead.
    ahead_us: u64,
    /// A bridge does not count down.
    routes: bool,
}

/// Numbers that look random (xorshift, Marsaglia 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A capture in the making.
#[derive(Default)]
struct Point(Vec<(u64, Vec<u8>)>);

impl Point {
    fn bytes(mut self) -> Vec<u8> {
        self.0.sort_by_key(|(us, _)| *us);
        let mut bytes = Vec::new();
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1] {
            bytes.extend(word.to_le_bytes());
        }
        for (us, frame) in self.0 {
            let length = frame.len() as u32;
            for word in [
                (us / 1_000_000) as u32,
                (us % 1_000_000) as u32,
                length,
                length,
            ] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(frame);
        }
        bytes
    }
}

/// Last byte of an address, and port.
type End = (u8, u16);

fn frame(case: &Case, ttl: u8, [source, destination]: [End; 2], payload: &[u8]) -> Vec<u8> {
    let udp_length = (8 + payload.len()) as u16;
    let mut frame = vec![0; 12];
    if case.v6 {
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
        frame.extend(udp_length.to_be_bytes());
        frame.extend([17, ttl]);
        for (last, _) in [source, destination] {
            frame.extend([0xfd; 15]);
            frame.push(last);
        }
    } else {
        frame.extend([8, 0, 0x45, 0]);
        frame.extend((20 + udp_length).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, ttl, 17, 0, 0]);
        for (last, _) in [source, destination] {
            frame.extend([10, 0, 0, last]);
        }
    }
    frame.extend(source.1.to_be_bytes());
    frame.extend(destination.1.to_be_bytes());
    frame.extend(udp_length.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    frame
}

/// A query for A or AAAA of some name; or bytes.
fn payload(case: &Case, chance: &mut Chance, name: u64, second: bool) -> Vec<u8> {
    let id = chance.below(65_536) as u16;
    if case.content != Content::Dns {
        let length = match case.content {
            Content::Tunnel => 1_400,
            _ => 40 + name as usize % 400,
        };
        return (0..length).map(|_| chance.below(256) as u8).collect();
    }
    let mut query = id.to_be_bytes().to_vec();
    query.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    let label = format!("host{name:06}");
    query.push(label.len() as u8);
    query.extend(label.as_bytes());
    query.extend(b"\x07example\x03org\x00\x00");
    query.extend([if second { 28 } else { 1 }, 0, 1]);
    query
}

/// What was put onto the hop from LAN to WAN: lost, partly lost and cut merged ones; lost and arrived single ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Truth {
    merged: [u64; 3],
    single: [u64; 2],
}

struct Made {
    client: Point,
    lan: Point,
    wan: Point,
    truth: Truth,
}

const ROUNDS: u64 = 120;
const CLIENT: u8 = 1;
const OUTSIDE: u8 = 200;
const SERVER: End = (53, 53);

fn made(case: &Case) -> Made {
    let mut chance = Chance(case.seed.wrapping_mul(0x9E37_79B9) | 1);
    let mut made = Made {
        client: Point::default(),
        lan: Point::default(),
        wan: Point::default(),
        truth: Truth::default(),
    };
    for round in 0..ROUNDS {
        let at = 1_700_000_000_000_000 + round * 40_000 + chance.below(9_000);
        // The captures begin and end with what is in both.
        let is_edge = round < 3 || round + 3 >= ROUNDS;
        made.round(case, &mut chance, at, is_edge);
    }
    made
}

impl Made {
    /// One query, or two at once, and the answers to those that arrive.
    fn round(&mut self, case: &Case, chance: &mut Chance, at: u64, is_edge: bool) {
        let mut client = (CLIENT, 20_000 + chance.below(30_000) as u16);
        let mut outside = (OUTSIDE, 1_024 + chance.below(60_000) as u16);
        if case.content == Content::Tunnel {
            (client.1, outside.1) = (51_820, 51_821);
        }
        let (name, merges) = (chance.below(1_000_000), !is_edge && chance.below(2) == 0);
        let parts: Vec<_> = (0..if merges { 2 } else { 1 })
            .map(|number| payload(case, chance, name, number == 1))
            .collect();
        for (part, number) in parts.iter().zip(0..) {
            let frame = frame(case, 64, [client, SERVER], part);
            self.client.0.push((at + number, frame));
        }
        let whole = frame(case, 64, [client, SERVER], &parts.concat());
        self.lan.0.push((at + 20, whole));
        let passed = passed(case, chance, parts.len(), is_edge);
        self.truth.count(parts.len(), passed);
        let ttl = 64 - u8::from(case.routes);
        for (part, number) in parts[..passed].iter().zip(0..) {
            let sent = frame(case, ttl, [outside, SERVER], part);
            self.wan.0.push((at + 60 + number + case.ahead_us, sent));
            let mut answer = part.clone();
            answer[2] |= 0x80;
            let back = frame(case, 60, [SERVER, outside], &answer);
            self.wan.0.push((at + 5_000 + number + case.ahead_us, back));
            let ttl = 60 - u8::from(case.routes);
            let back = frame(case, ttl, [SERVER, client], &answer);
            self.lan.0.push((at + 5_040 + number, back));
        }
    }
}

/// How many parts the router lets through.
fn passed(case: &Case, chance: &mut Chance, parts: usize, is_edge: bool) -> usize {
    match case.fault {
        Fault::Whole if parts > 1 => 0,
        Fault::Rest => 1,
        Fault::Any if !is_edge && chance.below(4) == 0 => 0,
        _ => parts,
    }
}

impl Truth {
    fn count(&mut self, parts: usize, passed: usize) {
        match (parts, passed) {
            (1, passed) => self.single[passed.min(1)] += 1,
            (_, 0) => self.merged[0] += 1,
            (parts, passed) if passed < parts => self.merged[1] += 1,
            _ => self.merged[2] += 1,
        }
    }

    fn of(hop: &DatagramHop) -> Self {
        let Outcomes {
            lost,
            partly_lost,
            resplit,
            ..
        } = hop.merged;
        Self {
            merged: [lost, partly_lost, resplit],
            single: [hop.single.lost, hop.single.arrived],
        }
    }
}

fn hops(case: &Case) -> (Vec<DatagramHop>, Truth) {
    hops_beside(case, None)
}

/// With a stranger's capture at this place.
fn hops_beside(case: &Case, stranger: Option<(usize, Point)>) -> (Vec<DatagramHop>, Truth) {
    let made = made(case);
    let mut points = vec![("LAN", made.lan), ("WAN", made.wan)];
    if case.at_client {
        points.insert(0, ("CLIENT", made.client));
    }
    if case.backwards {
        points.reverse();
    }
    if let Some((place, stranger)) = stranger {
        points.insert(place, ("STRANGER", stranger));
    }
    let inputs = points.into_iter().map(|(name, point)| PointInput {
        name: name.to_owned(),
        sources: vec![(name.to_owned(), source(name, point.bytes()))],
    });
    let trace = trace(inputs.collect(), &Options::default(), &mut |_| {});
    (trace.expect("inputs are good").datagram_hops, made.truth)
}

fn hop<'a>(hops: &'a [DatagramHop], from: &str, to: &str) -> Option<&'a DatagramHop> {
    hops.iter().find(|hop| hop.from == from && hop.to == to)
}

fn cases() -> Vec<Case> {
    let faults = [Fault::None, Fault::Whole, Fault::Rest, Fault::Any];
    let mut cases = Vec::new();
    for number in 0..64_u64 {
        let is = |bit: u64| number >> bit & 1 == 1;
        let at_client = is(3);
        cases.push(Case {
            seed: 1 + number,
            fault: faults[number as usize % 4],
            // Without a capture in front of it nobody knows of what is lost that it was merged.
            content: if is(2) && at_client {
                Content::Opaque
            } else {
                Content::Dns
            },
            v6: is(4),
            at_client,
            backwards: is(5),
            ahead_us: [0, 777_000_000][(number / 4 % 2) as usize],
            routes: number % 3 != 0,
        });
    }
    cases
}

#[test]
fn what_became_of_datagrams_is_what_happened() {
    for case in cases() {
        let (hops, truth) = hops(&case);
        let hop = hop(&hops, "LAN", "WAN").unwrap_or_else(|| panic!("{case:?}: {hops:#?}"));
        assert_eq!(Truth::of(hop), truth, "{case:?}");
        let not_judged = hop.merged.not_judged + hop.single.not_judged;
        assert_eq!(not_judged, 0, "{case:?}");
    }
}

/// Without a frame, or with other clients' queries.
#[test]
fn a_capture_of_something_else_takes_no_hop_away() {
    for case in cases().into_iter().step_by(3) {
        let (alone, _) = hops(&case);
        for is_empty in [true, false] {
            for place in 0..=2 {
                let other = Case {
                    seed: case.seed + 1_000,
                    ..case
                };
                let stranger = match is_empty {
                    true => Point::default(),
                    false => made(&other).lan,
                };
                let (beside, _) = hops_beside(&case, Some((place, stranger)));
                assert_eq!(
                    format!("{beside:?}"),
                    format!("{alone:?}"),
                    "{case:?} {place}"
                );
            }
        }
    }
}

#[test]
fn what_is_too_long_for_a_frame_was_merged_and_jumbo_frames_were_not() {
    for case in cases() {
        let case = Case {
            content: Content::Tunnel,
            at_client: false,
            ..case
        };
        let (hops, truth) = hops(&case);
        let hop = hop(&hops, "LAN", "WAN").unwrap_or_else(|| panic!("{case:?}: {hops:#?}"));
        assert_eq!(Truth::of(hop), truth, "{case:?}");
    }
    assert_eq!(
        merged_of(&[100, 8_900, 8_000, 8_900, 120, 8_900], Mark::None),
        0
    );
}

/// Messages of a program, or of a tunnel that pads, that are multiples of shorter ones: lost where the MTU is smaller.
#[test]
fn long_messages_of_a_program_are_not_merged_ones() {
    for lengths in [
        [1_024, 8_192, 1_024, 1_024, 8_192, 1_024],
        [512, 2_048, 512, 4_096, 512, 8_192],
        [96, 1_536, 96, 96, 1_536, 1_536],
        [480, 1_920, 480, 960, 1_920, 480],
    ] {
        for mark in [Mark::None, Mark::Checksum, Mark::IdsOneApart] {
            assert_eq!(merged_of(&lengths, mark), 0, "{lengths:?}, {mark:?}");
        }
    }
    // Lengths alone would say that these were merged; their checksums or identifications say that they were not.
    for lengths in [
        [1_400, 2_800, 1_400, 2_800, 1_400, 2_800],
        [500, 1_500, 2_000, 500, 2_500, 3_000],
        [1_316, 2_632, 3_948, 1_316, 2_632, 3_948],
    ] {
        for mark in [Mark::None, Mark::IdsByParts] {
            assert_ne!(merged_of(&lengths, mark), 0, "{lengths:?}, {mark:?}");
        }
        for mark in [Mark::Checksum, Mark::IdsOneApart] {
            assert_eq!(merged_of(&lengths, mark), 0, "{lengths:?}, {mark:?}");
        }
    }
}

/// Two or three parts together fit a frame: then lengths say so where identifications do, too.
#[test]
fn parts_that_fit_a_frame_together_are_told_by_identifications() {
    let lengths = [400, 800, 1_200, 5_200, 5_600, 7_600];
    assert_ne!(merged_of(&lengths, Mark::IdsByParts), 0);
    for mark in [Mark::None, Mark::Checksum, Mark::IdsOneApart] {
        assert_eq!(merged_of(&lengths, mark), 0, "{mark:?}");
    }
}

/// What shows whether a long datagram was merged, apart from its length.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mark {
    None,
    /// Each has a checksum of its own.
    Checksum,
    /// Each takes one identification, however long.
    IdsOneApart,
    /// Each takes as many identifications as it is times as long as the shortest.
    IdsByParts,
}

/// How many of a flow's datagrams of these lengths count as merged, where the second point sees the short ones alone.
fn merged_of(lengths: &[u64], mark: Mark) -> u64 {
    let case = cases()[0];
    let part = lengths.iter().min().copied().unwrap_or(1);
    let mut id = 0;
    let frames = (0_u64..60).map(|number| {
        let mut chance = Chance(number + 1);
        let length = lengths[number as usize % lengths.len()];
        let payload: Vec<u8> = (0..length).map(|_| chance.below(256) as u8).collect();
        let mut frame = frame(&case, 64, [(CLIENT, 7), SERVER], &payload);
        if mark != Mark::None {
            frame[18..20].copy_from_slice(&(id as u16).to_be_bytes());
        }
        if mark == Mark::Checksum {
            sum(&mut frame);
        }
        id += if mark == Mark::IdsByParts {
            length / part
        } else {
            1
        };
        (number * 1_000, frame)
    });
    let all: Vec<_> = frames.collect();
    let short = all.iter().filter(|(_, frame)| frame.len() < 1_450);
    let points = [("A", all.clone()), ("B", short.cloned().collect())];
    let inputs = points.map(|(name, frames)| PointInput {
        name: name.to_owned(),
        sources: vec![(name.to_owned(), source(name, Point(frames).bytes()))],
    });
    let trace = trace(inputs.into(), &Options::default(), &mut |_| {}).expect("inputs are good");
    trace.datagram_hops.iter().map(|hop| hop.merged.seen).sum()
}

/// Fills in the checksum of a datagram in IPv4 (RFC 768).
fn sum(frame: &mut [u8]) {
    let datagram = frame[34..].len() as u16;
    let mut words = frame[26..].to_vec();
    words.extend([0, 17]);
    words.extend(datagram.to_be_bytes());
    if words.len() % 2 == 1 {
        words.insert(words.len() - 4, 0);
    }
    let words = words
        .chunks(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[40..42].copy_from_slice(&sum.to_be_bytes());
}

#[test]
fn in_front_of_the_router_all_arrives_some_of_it_merged_and_answers_come_back_single() {
    for case in cases() {
        let (hops, truth) = hops(&case);
        if case.at_client {
            let single = hop(&hops, "CLIENT", "LAN")
                .expect("they are in both")
                .single;
            assert_eq!(single.lost, 0, "{case:?}");
            let merged = truth.merged.iter().sum::<u64>();
            assert_eq!(single.merged_further, 2 * merged, "{case:?}");
        }
        let back = hop(&hops, "WAN", "LAN").expect("answers are in both");
        assert_eq!((back.merged.seen, back.single.lost), (0, 0), "{case:?}");
    }
}

#[test]
fn the_server_is_named_and_frames_are_those_that_were_lost() {
    let case = Case {
        fault: Fault::Whole,
        ..cases()[1]
    };
    let (hops, truth) = hops(&case);
    let hop = hop(&hops, "LAN", "WAN").expect("it is there");
    assert!(truth.merged[0] > 20, "{truth:?}");
    assert_eq!(hop.server.map(|server| server.port), Some(53));
    assert_eq!(hop.merged_lost_frames.len(), 5);
    assert!(hop.p_value.is_some_and(|p| p < 1e-9), "{hop:?}");
}
