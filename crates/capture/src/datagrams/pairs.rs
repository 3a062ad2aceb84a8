//! Datagrams found at two points.

use std::collections::HashMap;

use super::Seen;
use super::way::Way;
use crate::median::median;

/// By how much the delay of a datagram may differ from the usual one: a resolver repeats a query after seconds, with
/// the same bytes.
const WITHIN_NS: i64 = 500_000_000;

/// Datagrams of one point, and which way each goes.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) seen: &'a [Seen],
    pub(super) ways: &'a [Way],
}

/// For each datagram of one point the index of the datagram at the other point that begins alike and goes the same way.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) other: Vec<Option<usize>>,
    /// For each datagram of the other point, whether it is such a one.
    pub(super) taken: Vec<bool>,
    /// Median of the clocks' difference plus the delay, from the first point to the second.
    offset_ns: i64,
}

impl Pairs {
    /// Pairs the datagrams of two points. Datagrams whose beginning is unique at both points show how the clocks
    /// differ; with this difference the others are told apart.
    pub(super) fn of(one: Side<'_>, two: Side<'_>) -> Self {
        let places = places(two);
        let mut pairs = Self {
            other: vec![None; one.seen.len()],
            taken: vec![false; two.seen.len()],
            offset_ns: offset_ns(one, two, &places),
        };
        for (at, (seen, way)) in one.seen.iter().zip(one.ways).enumerate() {
            let same = places
                .get(&(seen.token, *way))
                .into_iter()
                .flatten()
                .copied();
            let apart = |place: usize| pairs.apart_ns(seen, &two.seen[place]);
            let free = same.filter(|&place| !pairs.taken[place] && apart(place) <= WITHIN_NS);
            if let Some(place) = free.min_by_key(|&place| apart(place)) {
                pairs.taken[place] = true;
                pairs.other[at] = Some(place);
            }
        }
        pairs
    }

    fn apart_ns(&self, one: &Seen, two: &Seen) -> i64 {
        let took = two.time_ns.saturating_sub(one.time_ns);
        took.saturating_sub(self.offset_ns).saturating_abs()
    }

    pub(super) fn is_near(&self, one: &Seen, two: &Seen) -> bool {
        self.apart_ns(one, two) <= WITHIN_NS
    }
}

/// Indexes of datagrams by their beginning and their way: an answer may be an echo of the request.
type Places = HashMap<(u64, Way), Vec<usize>>;

fn places(side: Side<'_>) -> Places {
    let mut places = Places::new();
    for (at, (one, way)) in side.seen.iter().zip(side.ways).enumerate() {
        places.entry((one.token, *way)).or_default().push(at);
    }
    places
}

fn offset_ns(one: Side<'_>, two: Side<'_>, behind: &Places) -> i64 {
    let took =
        |at: usize, place: usize| two.seen[place].time_ns.saturating_sub(one.seen[at].time_ns);
    let before = places(one).into_iter();
    let alone =
        before.filter_map(
            |(token, before)| match (&before[..], &behind.get(&token)?[..]) {
                (&[at], &[place]) => Some(took(at, place)),
                _ => None,
            },
        );
    median(alone).unwrap_or(0)
}
