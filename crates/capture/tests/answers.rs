//! What receivers say, frame by frame: SACK as it should be and as some send it, and the end of what was
//! to be said.

#[expect(dead_code, reason = "tests of simulated stories use the rest")]
mod common;

use coalescope_capture::facts::Direction;
use coalescope_capture::{Options, PointInput, trace};
use common::source;
use proptest::prelude::*;

const SEGMENT: u32 = 1448;
const PSH: u8 = 8;

/// A download as a point between shows it: Ethernet, IPv4, TCP, in microseconds.
struct Talk {
    bytes: Vec<u8>,
    now_us: u64,
    id: u16,
}

impl Talk {
    fn new() -> Self {
        let header = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, 1];
        let header = header.iter().flat_map(|word: &u32| word.to_le_bytes());
        Self {
            bytes: header.collect(),
            now_us: 1_000_000_000,
            id: 1,
        }
    }

    /// Begins with a handshake, a request, and 40 ms to each side.
    fn begin() -> Self {
        let mut talk = Self::new();
        let mss = [2, 4, 5, 0xb4, 1, 1, 4, 2];
        talk.after(0).frame(false, (0, 0), 0, 2, &mss);
        talk.after(40_000).frame(true, (0, 1), 0, 18, &mss);
        talk.after(40_000).frame(false, (1, 1), 0, 16, &[]);
        talk.request();
        talk.after(40_000);
        talk
    }

    fn request(&mut self) {
        self.frame(false, (1, 1), 100, 24, &[]);
    }

    fn after(&mut self, us: u64) -> &mut Self {
        self.now_us += us;
        self
    }

    /// Data of the server: positions count from its first byte.
    fn data(&mut self, start: u32, len: u32) {
        self.data_with(start, len, 0);
    }

    fn data_with(&mut self, start: u32, len: u32, flags: u8) {
        self.frame(true, (start + 1, 101), len, 16 | flags, &[]);
    }

    /// An acknowledgment of the client's, with SACK blocks.
    fn ack(&mut self, position: u32, blocks: &[(u32, u32)]) {
        let mut options = Vec::new();
        if !blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
        }
        for (start, end) in blocks {
            options.extend((start + 1).to_be_bytes());
            options.extend((end + 1).to_be_bytes());
        }
        self.frame(false, (101, position + 1), 0, 16, &options);
    }

    fn frame(
        &mut self,
        from_server: bool,
        numbers: (u32, u32),
        len: u32,
        flags: u8,
        options: &[u8],
    ) {
        let (client, server) = ([10, 0, 0, 1, 0xc0, 1], [10, 0, 0, 2, 0, 80]);
        let (from, to) = if from_server {
            (server, client)
        } else {
            (client, server)
        };
        let ip_len = 40 + options.len() as u16 + len as u16;
        self.id += 1;
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend(
            [ip_len, self.id, 0x4000]
                .iter()
                .flat_map(|half| half.to_be_bytes()),
        );
        frame.extend([60, 6, 0, 0]);
        frame.extend([&from[..4], &to[..4], &from[4..], &to[4..]].concat());
        frame.extend([numbers.0.to_be_bytes(), numbers.1.to_be_bytes()].concat());
        frame.extend([
            (20 + options.len() as u8) << 2,
            flags,
            1,
            0,
            0x12,
            0x34,
            0,
            0,
        ]);
        frame.extend(options);
        let parts = [self.now_us / 1_000_000, self.now_us % 1_000_000];
        let lengths = [frame.len() as u64, u64::from(ip_len) + 14];
        let record = parts.into_iter().chain(lengths);
        let record = record.flat_map(|word| (word as u32).to_le_bytes());
        self.bytes.extend(record);
        self.bytes.extend(frame);
    }

    /// What was found of the server's data.
    fn found(&self) -> Direction {
        let input = PointInput {
            name: "point".to_owned(),
            sources: vec![("point".to_owned(), source("point", self.bytes.clone()))],
        };
        let trace = trace(vec![input], &Options::default(), &mut |_| {}).expect("a good input");
        let connection = trace.points[0].connections.get(0);
        connection.expect("a connection").to_client
    }
}

/// What the receiver reports beyond what it acknowledges.
type Beyond<'a> = &'a [(u32, u32)];

/// Rounds in which a frame of two segments is lost and a single one behind it arrives; then both segments
/// are sent again, one after the other. `report` acknowledges what fills the hole: with the acknowledgment
/// before, and the new one.
fn merged_ones_are_lost(
    rounds: u32,
    report: impl Fn(&mut Talk, u32, u32, Beyond<'_>),
) -> Direction {
    let mut talk = Talk::begin();
    for round in 0..rounds {
        let start = round * 3 * SEGMENT;
        let [middle, late, end] = [1, 2, 3].map(|n| start + n * SEGMENT);
        talk.after(1_000).data(start, 2 * SEGMENT);
        talk.after(1_000).data(late, SEGMENT);
        talk.after(40_000).ack(start, &[(late, end)]);
        talk.after(40_000).data(start, SEGMENT);
        talk.after(40_000);
        report(&mut talk, start, middle, &[(late, end)]);
        talk.after(40_000).data(middle, SEGMENT);
        talk.after(40_000);
        report(&mut talk, middle, end, &[]);
    }
    talk.found()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    /// Some receivers still report what has just filled the hole, alone or with all that lies behind it. None
    /// of it came twice.
    #[test]
    fn what_fills_a_hole_did_not_come_twice(rounds in 8..30u32, longer in any::<bool>()) {
        let got = merged_ones_are_lost(rounds, |talk, before, now, beyond| {
            let end = if longer { now } else { now.min(before + SEGMENT) };
            talk.ack(now, &[&[(before, end)], beyond].concat());
        });
        prop_assert_eq!(got.retransmitted_spurious, 0);
        prop_assert_eq!(got.repeats.merged_repeated, u64::from(rounds));
        prop_assert_eq!(got.repeats.single_repeated, 0);
    }

    /// A D-SACK after that, of the last that was sent again, takes it back.
    #[test]
    fn what_came_twice_was_not_lost(rounds in 8..30u32) {
        let got = merged_ones_are_lost(rounds, |talk, before, now, beyond| {
            talk.ack(now, beyond);
            talk.ack(now, &[&[(before, before + SEGMENT)], beyond].concat());
        });
        prop_assert_eq!(got.retransmitted_spurious, u64::from(2 * rounds));
        prop_assert_eq!(got.repeats.merged_repeated, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    /// The network doubles frames that were sent once, and the receiver says so: what was lost stays lost.
    #[test]
    fn what_the_network_doubled_takes_back_no_loss(rounds in 8..30u32, every in 1..4u32) {
        let got = merged_ones_are_lost(rounds, |talk, before, now, beyond| {
            talk.ack(now, beyond);
            if beyond.is_empty() && (now / SEGMENT / 3).is_multiple_of(every) {
                // The last segment of the round, which arrived at once.
                let end = before + 2 * SEGMENT;
                talk.ack(now, &[(end - SEGMENT, end)]);
            }
        });
        prop_assert_eq!(got.retransmitted_spurious, 0);
        prop_assert_eq!(got.repeats.merged_repeated, u64::from(rounds));
    }

    /// Acknowledgments pass this point and come to nobody: a timeout, twice as long from time to time, and the first of the
    /// segments again. Where the last segment alone comes again, the application may have had nothing more to say.
    #[test]
    fn what_is_repeated_though_acknowledged_was_not_heard_of(
        segments in 2..9u32, timeouts in 1..5u32, again in 0..9u32,
    ) {
        let again = again % segments;
        let mut talk = Talk::begin();
        for segment in 0..segments {
            talk.after(100).data_with(segment * SEGMENT, SEGMENT, PSH);
            talk.after(100).ack((segment + 1) * SEGMENT, &[]);
        }
        let mut waited_us = 0;
        for timeout in 0..timeouts {
            let rto_us = 300_000 << timeout;
            waited_us += rto_us;
            talk.after(rto_us).data(again * SEGMENT, SEGMENT);
            talk.ack(segments * SEGMENT, &[(again * SEGMENT, (again + 1) * SEGMENT)]);
        }
        talk.after(80_000).data(segments * SEGMENT, SEGMENT);
        let got = talk.found();
        let is_last = again + 1 == segments;
        let counted = if is_last { 0 } else { u64::from(timeouts) };
        prop_assert_eq!(got.timeouts_after_ack, counted);
        if is_last {
            prop_assert!(got.sender_idle_s > 0.2, "{}", got.sender_idle_s);
        } else {
            let waited_s = waited_us as f64 / 1e6;
            prop_assert!((got.timeouts_after_ack_s - waited_s).abs() < 0.001);
            prop_assert!(got.sender_idle_s < 0.001, "{}", got.sender_idle_s);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    /// The capture begins after the data, and an acknowledgment shows how far the data had gone.
    #[test]
    fn a_late_capture_shows_who_was_not_heard_of(
        segments in 3..60u32, timeouts in 2..5u32, again in 0..60u32,
    ) {
        let again = again % (segments - 1);
        let mut talk = Talk::new();
        talk.ack(segments * SEGMENT, &[]);
        for timeout in 0..timeouts {
            talk.after(300_000 << timeout).data(again * SEGMENT, SEGMENT);
            talk.ack(segments * SEGMENT, &[(again * SEGMENT, (again + 1) * SEGMENT)]);
        }
        prop_assert_eq!(talk.found().timeouts_after_ack, u64::from(timeouts - 1));
    }

    /// On a path of 80 ms that is sometimes slower the acknowledgment may be on its way when the sender repeats what was acknowledged.
    #[test]
    fn what_is_repeated_sooner_than_by_a_timeout_may_be_heard_of_yet(rto_us in 200_000..279_000u64) {
        let mut talk = Talk::begin();
        for segment in 0..3 {
            talk.after(100).data(segment * SEGMENT, SEGMENT);
            talk.after(100).ack((segment + 1) * SEGMENT, &[]);
        }
        talk.after(rto_us).data(0, SEGMENT);
        prop_assert_eq!(talk.found().timeouts_after_ack, 0);
    }

    /// A capture of all interfaces of a bridge: each merged frame and its pieces, whichever come first, are one transmission.
    /// What the sender sends again has another identification.
    #[test]
    fn pieces_of_a_merged_frame_are_no_repeats(
        rounds in 10..20u32, count in 2..9u32, last in 1..=SEGMENT, fixed in any::<bool>(),
        flags in prop::sample::select(vec![0, PSH]), merged_first in any::<bool>(), apart_us in 1..500u64,
        again in any::<bool>(),
    ) {
        let len = (count - 1) * SEGMENT + last;
        let mut talk = Talk::begin();
        for round in 0..rounds {
            let id = 1_000 + 100 * round as u16;
            let merged = [(0, len, flags, 0)];
            let pieces = (0..count).map(|i| {
                let is_last = i + 1 == count;
                let bytes = if is_last { last } else { SEGMENT };
                (i * SEGMENT, bytes, if is_last { flags } else { 0 }, if fixed { 0 } else { i as u16 })
            });
            let pieces: Vec<_> = pieces.collect();
            let orders = [&merged[..], &pieces];
            let sides = if merged_first { [0, 1] } else { [1, 0] };
            for side in sides {
                for (offset, bytes, flags, counted) in orders[side] {
                    talk.id = id + counted - 1;
                    talk.data_with(round * len + offset, *bytes, *flags);
                }
                talk.after(apart_us);
            }
            if again {
                talk.id = id + 50;
                talk.after(300_000).data(round * len, SEGMENT);
            }
            talk.after(40_000).ack((round + 1) * len, &[]);
            talk.after(40_000);
        }
        let got = talk.found();
        let seen = if merged_first { 1 } else { count };
        let repeats = u64::from(rounds) * u64::from(again);
        prop_assert_eq!(got.data_frames, u64::from(rounds * seen) + repeats);
        prop_assert_eq!(got.retransmitted_frames, repeats);
        prop_assert_eq!(got.repeats.merged_repeated, 0);
    }
}

/// A capture of all interfaces that begins in the middle: of its first frame, too, the pieces are no repeats.
#[test]
fn pieces_of_the_first_frame_are_no_repeats() {
    let mut talk = Talk::new();
    for frame in 0..4 {
        talk.id = 10 * frame + 9;
        talk.after(40_000)
            .data(u32::from(frame) * 4 * SEGMENT, 4 * SEGMENT);
        talk.id = 10 * frame + 9;
        talk.after(20);
        for piece in 0..4 {
            talk.data((u32::from(frame) * 4 + piece) * SEGMENT, SEGMENT);
        }
    }
    assert_eq!(talk.found().retransmitted_frames, 0);
}

/// A stack without identifications sends a short piece and, at once, a longer one from the same byte on. Not one is made of the
/// other.
#[test]
fn pieces_of_unlike_lengths_are_no_copies() {
    let mut talk = Talk::begin();
    talk.data(2 * SEGMENT, SEGMENT);
    let pieces = [
        (SEGMENT, 400),
        (SEGMENT + 400, SEGMENT - 400),
        (SEGMENT, 2 * SEGMENT),
    ];
    talk.after(40_000);
    for (start, len) in pieces {
        talk.id = 99;
        talk.after(20).data(start, len);
    }
    let got = talk.found();
    assert_eq!((got.data_frames, got.retransmitted_frames), (4, 1));
}

/// The first acknowledgment was held back until the needless repeat came, and says both.
#[test]
fn an_acknowledgment_may_be_the_first_and_tell_of_a_repeat() {
    let mut talk = Talk::begin();
    for round in 0..20 {
        let start = round * SEGMENT;
        talk.after(1_000).data(start, SEGMENT);
        talk.after(90_000).data(start, SEGMENT);
        talk.after(40_000)
            .ack(start + SEGMENT, &[(start, start + SEGMENT)]);
    }
    let got = talk.found();
    assert_eq!(got.retransmitted_spurious, 20);
    assert_eq!(got.repeats.single_repeated, 0);
}

/// A sender that forgets SACK after a timeout (RFC 2018, section 8) repeats what has arrived, too.
#[test]
fn what_was_reported_before_it_was_sent_again_has_arrived() {
    let mut talk = Talk::begin();
    for round in 0..10 {
        let start = round * 7 * SEGMENT;
        let [second, third, fourth, end] = [1, 3, 5, 7].map(|n| start + n * SEGMENT);
        talk.after(1_000).data(start, SEGMENT);
        for merged in [second, third, fourth] {
            talk.after(1_000).data(merged, 2 * SEGMENT);
        }
        talk.after(40_000).ack(start, &[(second, third)]);
        talk.ack(start, &[(second, fourth)]);
        talk.ack(start, &[(second, end)]);
        talk.after(300_000);
        for again in 0..7 {
            talk.data(start + again * SEGMENT, SEGMENT);
        }
        talk.after(40_000).ack(end, &[]);
    }
    let got = talk.found();
    assert_eq!((got.repeats.merged, got.repeats.merged_repeated), (30, 0));
    assert_eq!(got.repeats.single_repeated, 10);
}

/// The end of an answer overtakes the rest of it: what comes last does not say that there is more.
#[test]
fn the_end_is_marked_by_the_frame_that_has_it() {
    let mut talk = Talk::begin();
    for segment in 0..8 {
        talk.after(1_000).data(segment * SEGMENT, SEGMENT);
    }
    talk.data_with(10 * SEGMENT, 4, PSH);
    talk.after(10).data(8 * SEGMENT, SEGMENT);
    talk.after(10).data(9 * SEGMENT, SEGMENT);
    talk.after(40_000).ack(10 * SEGMENT + 4, &[]);
    talk.after(60_000_000).data_with(10 * SEGMENT + 4, 70, PSH);
    let got = talk.found();
    assert_eq!(got.gaps_s, 0.0);
    assert!(got.sender_idle_s > 59.0, "{}", got.sender_idle_s);
}

/// A long way, of which neither the handshake nor acknowledgments were captured: the answer to a request
/// shows half of it, and bursts that come so far apart are no timeouts.
#[test]
fn bursts_a_round_trip_apart_are_not_timeouts() {
    let mut talk = Talk::new();
    talk.request();
    let mut position = 0;
    for burst in [4, 8, 16, 32] {
        talk.after(320_000);
        for _ in 0..burst {
            talk.data(position, SEGMENT);
            position += SEGMENT;
        }
    }
    assert_eq!(talk.found().gaps_s, 0.0);
    talk.after(2_000_000).data(position, SEGMENT);
    assert_eq!(talk.found().gaps_s, 2.0);
}
