//! What became of each datagram, judged by lengths alone: a merged datagram is as long as its parts together.

use std::collections::{BTreeSet, HashMap};

use super::pairs::{Pairs, Side};
use super::way::{Way, ways};
use super::{Datagrams, Seen};
use crate::frame::digester::LONGEST;
use crate::key::Key;

/// At least one long datagram in this many (half) must be a whole multiple of the others, before lengths alone prove a
/// merge.
const MULTIPLES: usize = 2;

/// Parts of one multiple alone must be as long as what QUIC and tunnels fill their packets to (RFC 9000, section 14): shorter
/// ones may be one program's short messages, and what it sends over a path with a larger MTU.
const FILLED: u32 = 1_200;

/// Short lengths that are tried as parts of long ones.
const TRIED: usize = 8;

/// Of parts shorter than the longest datagram that fits a frame: their least length, and the least number of lengths that are
/// whole multiples. By chance, each is one of a hundred times at most.
const SHORTEST: u32 = 100;
const SEVERAL: usize = 3;

/// What became of one datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fate {
    #[default]
    Lost,
    Arrived,
    /// It arrived as several datagrams.
    Split,
    /// The first of several parts arrived, but not all of them.
    InPart,
    /// It arrived inside of a longer datagram.
    Merged,
}

/// The datagrams of two neighbouring points, and what became of each from one to the other.
pub(super) struct Fates<'a> {
    pub(super) one: &'a [Seen],
    pub(super) two: &'a [Seen],
    pub(super) pairs: Pairs,
    pub(super) all: Vec<Fate>,
    pub(super) ways: Vec<Way>,
}

impl<'a> Fates<'a> {
    pub(super) fn of(one: &'a Datagrams, two: &'a Datagrams) -> Self {
        let (one, two) = (&one.seen[..], &two.seen[..]);
        let [ways, ways_behind] = [one, two].map(ways);
        let side = |seen, ways| Side { seen, ways };
        let pairs = Pairs::of(side(one, &ways), side(two, &ways_behind));
        let mut fates = Self {
            all: vec![Fate::Lost; one.len()],
            ways,
            one,
            two,
            pairs,
        };
        fates.follow();
        fates
    }

    /// The datagrams that go this way and were found at both points, as each point saw them.
    pub(super) fn found(&self, way: Way) -> impl Iterator<Item = (&'a Seen, &'a Seen)> {
        let all = self.one.iter().zip(&self.pairs.other).zip(&self.ways);
        all.filter_map(move |((one, other), own)| {
            let other = (*other).filter(|_| *own == way)?;
            Some((one, &self.two[other]))
        })
    }

    fn follow(&mut self) {
        let (before, behind) = (Flows::of(self.one), Flows::of(self.two));
        for at in 0..self.one.len() {
            let Some(place) = self.pairs.other[at] else {
                continue;
            };
            let (left, came) = (self.one[at].payload, self.two[place].payload);
            self.all[at] = match left.cmp(&came) {
                std::cmp::Ordering::Equal => Fate::Arrived,
                std::cmp::Ordering::Greater => self.split(at, place, &behind),
                std::cmp::Ordering::Less => self.merged(at, place, &before),
            };
        }
    }

    /// The fate of a datagram of which the first part was found: its other parts follow that one, in the same flow.
    fn split(&self, at: usize, place: usize, behind: &Flows) -> Fate {
        let (whole, part) = (self.one[at].payload, self.two[place].payload);
        let mut sum = part;
        for &next in behind.after(self.two, place) {
            let seen = &self.two[next];
            let is_other = self.pairs.taken[next] || seen.payload > part;
            if sum >= whole || is_other || !self.pairs.is_near(&self.one[at], seen) {
                break;
            }
            sum += seen.payload;
        }
        if sum >= whole {
            Fate::Split
        } else {
            Fate::InPart
        }
    }

    /// The fate of a datagram found at the beginning of a longer one: the other parts of the longer one follow it, in
    /// the same flow, and are found nowhere else.
    fn merged(&mut self, at: usize, place: usize, before: &Flows) -> Fate {
        let (whole, part) = (self.two[place].payload, self.one[at].payload);
        let mut sum = part;
        for &next in before.after(self.one, at) {
            let seen = &self.one[next];
            let is_other = self.pairs.other[next].is_some() || seen.payload > part;
            if sum >= whole || is_other || !self.pairs.is_near(seen, &self.two[place]) {
                break;
            }
            sum += seen.payload;
            self.all[next] = Fate::Merged;
        }
        Fate::Merged
    }
}

/// Indexes of the datagrams of each flow and direction, in order.
struct Flows(HashMap<(Key, bool), Vec<usize>>);

impl Flows {
    fn of(seen: &[Seen]) -> Self {
        let mut flows = HashMap::<_, Vec<usize>>::new();
        for (at, one) in seen.iter().enumerate() {
            flows.entry((one.key, one.from_low)).or_default().push(at);
        }
        Self(flows)
    }

    fn after(&self, seen: &[Seen], at: usize) -> &[usize] {
        let one = &seen[at];
        let flow = self.0.get(&(one.key, one.from_low));
        let flow = flow.map(Vec::as_slice).unwrap_or_default();
        &flow[flow.partition_point(|place| *place <= at)..]
    }
}

/// Notes at the first point which parts a datagram has, as the second point shows them: the datagram was cut on the
/// way, or its parts are known there.
pub(super) fn note_segments(one: &mut Datagrams, two: &Datagrams) {
    let fates = Fates::of(one, two);
    let segments = fates.all.iter().enumerate().filter_map(|(at, fate)| {
        let other = &fates.two[fates.pairs.other[at]?];
        let segment = match fate {
            Fate::Split | Fate::InPart => other.payload,
            Fate::Arrived => other.segment,
            Fate::Merged | Fate::Lost => 0,
        };
        (segment > 0).then_some((at, segment))
    });
    let segments: Vec<_> = segments.collect();
    for (at, segment) in segments {
        one.seen[at].segment = segment;
    }
}

/// Notes what lengths alone prove: datagrams too long for a frame were merged if other datagrams of the flow fit a
/// frame, and the long ones are multiples of their length. Not where their own checksums say that each was sent as one, nor where
/// identifications may say so.
pub(super) fn by_length(point: &mut Datagrams) {
    for flow in Flows::of(&point.seen).0.values() {
        let length = |at: &usize| point.seen[*at].payload;
        let (long, short): (Vec<usize>, Vec<usize>) =
            flow.iter().partition(|at| length(at) > LONGEST);
        let long: Vec<usize> = long
            .into_iter()
            .filter(|at| !point.seen[*at].is_one)
            .collect();
        let parts = lengths_of(short.iter().map(length));
        let lengths: Vec<u32> = long.iter().map(length).collect();
        let counts = flow.iter().any(|at| point.seen[*at].id != 0);
        let part = part_of(&lengths, &parts, counts);
        let Some(part) = part.filter(|_| !are_one_apart(&point.seen, flow)) else {
            continue;
        };
        for at in long {
            point.seen[at].segment = part;
        }
    }
}

/// Distinct lengths, the longest first, and no more than are tried.
fn lengths_of(all: impl Iterator<Item = u32>) -> Vec<u32> {
    let distinct: BTreeSet<u32> = all.collect();
    distinct.into_iter().rev().take(TRIED).collect()
}

/// The length of the parts that long datagrams were merged from: that of the longest short one; or of a shorter one of which all
/// are whole multiples, since two or three parts together may still fit a frame. The latter only where identifications (`counts`) would
/// show a program's own messages: these are padded to multiples as well.
fn part_of(long: &[u32], short: &[u32], counts: bool) -> Option<u32> {
    let (longest, others) = short.split_first()?;
    if are_multiples(long.iter().copied(), *longest) {
        return Some(*longest);
    }
    let all = |part: &&u32| {
        let mut lengths = long.iter().chain([longest]);
        **part >= SHORTEST && lengths.all(|length| length.is_multiple_of(**part))
    };
    let distinct: BTreeSet<&u32> = long.iter().collect();
    let part = others.iter().find(all).copied();
    part.filter(|part| {
        counts && distinct.len() >= SEVERAL && are_multiples(long.iter().copied(), *part)
    })
}

/// Whether the IPv4 identification of most datagrams behind a long one is the next number: a sender counts each datagram that
/// leaves (RFC 6864 section 4.1 lets Linux do so with DF, too), so that what was merged takes as many numbers as the datagrams in
/// it. One that leaves the cut to its card (UDP_SEGMENT) takes one number for all: there, lengths prove nothing.
fn are_one_apart(seen: &[Seen], flow: &[usize]) -> bool {
    let pairs = flow.windows(2).map(|pair| [&seen[pair[0]], &seen[pair[1]]]);
    let behind_long = pairs.filter(|[long, _]| long.payload > LONGEST);
    let (next, all) = behind_long.fold((0, 0), |(next, all), [long, behind]| {
        let is_next = behind.id == long.id.wrapping_add(1);
        (next + usize::from(is_next), all + 1)
    });
    next * 2 > all
}

/// Whether lengths are those of merged datagrams: GRO holds as many as come in a time, so that their number varies, and
/// messages of a program are of one length, or of powers of two.
fn are_multiples(lengths: impl Iterator<Item = u32> + Clone, part: u32) -> bool {
    let all = lengths.clone().count();
    let whole = lengths.filter(|length| part > 0 && length.is_multiple_of(part));
    let times: Vec<u32> = whole.map(|length| length / part).collect();
    let varies = times.iter().any(|number| *number != times[0])
        && times.iter().any(|number| !number.is_power_of_two());
    times.len() * MULTIPLES >= all && (part >= FILLED || varies)
}
