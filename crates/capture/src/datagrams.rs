//! UDP from one point to the next. Datagrams have no numbers, so a datagram is found again by the beginning of its
//! payload. A merge shows by lengths: a merged datagram is as long as its parts together.

mod fates;
mod judged;
mod met;
mod order;
mod pairs;
mod way;

use crate::facts::DatagramHop;
use crate::frame::{Frame, mixed};
use crate::key::Key;
use fates::Fates;
use met::met;
use order::upstream;
use way::Way;

/// Datagrams remembered of a point: 12 MiB. A switch that loses merged datagrams loses them from the start.
pub(crate) const REMEMBERED: usize = 131_072;

/// A datagram as one point saw it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    time_ns: i64,
    number: u64,
    key: Key,
    from_low: bool,
    ttl: u8,
    /// The IPv4 identification, 0 with IPv6.
    id: u16,
    payload: u32,
    /// Payload of each datagram that this one was merged from, where that is known; 0 where it is not.
    segment: u32,
    /// Its checksum is that of all of it: it was sent as one, however long.
    is_one: bool,
    /// Hash of the first payload bytes.
    token: u64,
}

/// The datagrams that a point remembers.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    seen: Vec<Seen>,
    /// Datagrams that came when there was no more room.
    forgotten: u64,
}

impl Datagrams {
    /// Remembers a datagram, if it can be found again: as many payload bytes as a token is made of must be captured.
    pub(crate) fn take(&mut self, frame: &Frame) {
        if usize::from(frame.head_len) < frame.head.len() {
            return;
        }
        if self.seen.len() == REMEMBERED {
            self.forgotten += 1;
            return;
        }
        let segment = frame.datagram_segment();
        let is_one = segment == frame.payload;
        self.seen.push(Seen {
            time_ns: frame.time_ns,
            number: frame.number,
            key: frame.key,
            from_low: frame.from_low,
            ttl: frame.ttl,
            id: frame.id,
            payload: frame.payload,
            segment: if is_one { 0 } else { segment },
            is_one,
            token: token(&frame.head),
        });
    }

    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

fn token(head: &[u8; 16]) -> u64 {
    let number = u128::from_le_bytes(*head);
    // Both halves count alike: a DNS query differs in its first bytes, QUIC in its last.
    mixed(mixed(0, number as u64), (number >> 64) as u64)
}

/// Hops of datagrams between points that show the same ones, one after the other, in the direction in which they went.
pub(crate) fn hops(mut points: Vec<Datagrams>, names: &[String]) -> Vec<DatagramHop> {
    let on_path = met(&points);
    let names: Vec<String> = on_path.iter().map(|at| names[*at].clone()).collect();
    let mut number = 0..;
    points.retain(|_| number.next().is_some_and(|at| on_path.contains(&at)));
    points.iter_mut().for_each(fates::by_length);
    // Two rounds: the parts of a merged datagram may show at the point before only, or at the point behind only.
    for _ in 0..2 {
        for at in 1..points.len() {
            let (before, behind) = points.split_at_mut(at);
            if let (Some(one), Some(two)) = (before.last_mut(), behind.first_mut()) {
                fates::note_segments(one, two);
                fates::note_segments(two, one);
            }
        }
    }
    let pairs = points.windows(2).zip(names.windows(2));
    let hops = pairs.flat_map(|(points, names)| between(points, names));
    hops.collect()
}

fn between(points: &[Datagrams], names: &[String]) -> Vec<DatagramHop> {
    let ([one, two], [first, second]) = (points, names) else {
        return Vec::new();
    };
    let fates = [Fates::of(one, two), Fates::of(two, one)];
    let ways = [Way::ToServer, Way::ToClient];
    let hops = ways.into_iter().filter_map(|way| {
        let is_first = upstream(&fates[0], way)?;
        let (fates, [from, to]) = match is_first {
            true => (&fates[0], [first, second]),
            false => (&fates[1], [second, first]),
        };
        Some(judged::judged(fates, way, [from, to]))
    });
    hops.collect()
}
