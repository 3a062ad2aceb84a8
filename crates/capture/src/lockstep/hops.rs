//! The hops between the points that are read side by side.
//!
//! A connection's hops are between the points, one after the other, that saw it. Most connections pass all points, so that hops
//! between neighbours suffice. Others pass some points by: a capture of other traffic lies in between, or a path forks. For
//! these there are hops over points as well, which leave out whatever a point in between saw.

use std::collections::HashSet;

use super::path::Over;
use crate::connection::Tracked;
use crate::hop::Hop;
use crate::point::Point;
use crate::reader::Item;

/// A hop, and the numbers of its points.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) ends: [usize; 2],
    pub(super) hop: Hop,
}

impl Placed {
    fn is_over_points(&self) -> bool {
        self.ends[1] - self.ends[0] > 1
    }

    /// Whether both hops lie on one part of the path.
    fn overlaps(&self, other: &Self) -> bool {
        self.ends[0] < other.ends[1] && other.ends[0] < self.ends[1]
    }

    pub(super) fn points<'a>(&self, points: &'a [Point]) -> [&'a Point; 2] {
        self.ends.map(|end| &points[end])
    }
}

/// The hops of a path.
#[derive(Debug, Default)]
pub(super) struct Hops {
    all: Vec<Placed>,
    /// For each point its hops, with its side of each: those to neighbours first, which so find a connection first.
    of_point: Vec<Vec<(usize, usize)>>,
    keeps_judged: bool,
}

impl Hops {
    pub(super) fn new(keeps_judged: bool) -> Self {
        Self {
            keeps_judged,
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds hops between neighbours up to so many points.
    pub(super) fn grow(&mut self, points: usize) {
        for second in self.of_point.len().max(1)..points {
            self.add([second - 1, second]);
        }
    }

    /// Adds hops over points.
    pub(super) fn add_over(&mut self, over: &[Over]) {
        over.iter().for_each(|ends| self.add(*ends));
    }

    fn add(&mut self, ends: [usize; 2]) {
        let points = self.of_point.len().max(ends[1] + 1);
        self.of_point.resize_with(points, Vec::new);
        for (side, end) in ends.into_iter().enumerate() {
            self.of_point[end].push((self.all.len(), side));
        }
        let hop = Hop::new(self.keeps_judged);
        self.all.push(Placed { ends, hop });
    }

    /// Whether a point's frames wait for another point, on a part of the path where no connection was found at two points.
    pub(super) fn make_wait(&self, point: usize) -> bool {
        let of_point = self.of_point.get(point).into_iter().flatten();
        let mut ahead = of_point.filter(|(number, side)| self.all[*number].hop.is_ahead(*side));
        ahead.any(|(number, _)| {
            let waiting = &self.all[*number];
            let mut others = self.all.iter();
            !others.any(|other| other.overlaps(waiting) && other.hop.offset_ns().is_some())
        })
    }

    /// A point's clock less the first point's, as far as hops show it; from the point where they show nothing more, as the
    /// beginnings of the captures do.
    pub(super) fn offset_ns(&self, point: usize, starts_ns: &[i64]) -> i64 {
        let to_point = self.of_point.get(point).into_iter().flatten();
        let mut known = to_point
            .filter(|(_, side)| *side == 1)
            .filter_map(|(number, _)| {
                let placed = &self.all[*number];
                Some((placed.ends[0], placed.hop.offset_ns()?))
            });
        match known.next() {
            Some((from, offset_ns)) => self.offset_ns(from, starts_ns) + offset_ns,
            None => starts_ns.get(point).copied().unwrap_or(0),
        }
    }

    /// Takes a frame that a point saw, and what the point made of it.
    pub(super) fn take(
        &mut self,
        (point, points): (usize, &[Point]),
        item: &Item,
        tracked: Option<&(u32, Tracked)>,
    ) {
        let hops = self.of_point.get(point).map_or(0, Vec::len);
        for at in 0..hops {
            let (number, side) = self.of_point[point][at];
            if let Some((id, tracked)) = tracked {
                let is_left_out = self.is_seen_between(number, side, *id);
                let placed = &mut self.all[number];
                if is_left_out {
                    placed.hop.leave_out(side, *id);
                } else {
                    let points = placed.ends.map(|end| &points[end]);
                    placed.hop.observe(side, *id, &item.frame, tracked, points);
                }
            }
            self.all[number].hop.read(side, item.frame.time_ns);
        }
    }

    /// Whether a point between the ends of a hop saw a connection of one of them.
    fn is_seen_between(&self, number: usize, side: usize, id: u32) -> bool {
        let hop = &self.all[number];
        let is_between = |point: usize| hop.ends[0] < point && point < hop.ends[1];
        let mut others = self.of_point[hop.ends[side]].iter();
        hop.is_over_points()
            && others.any(|(other, other_side)| {
                let other = &self.all[*other];
                *other_side == side
                    && is_between(other.ends[1 - side])
                    && other.hop.has_found(side, id)
            })
    }

    /// When everything was read: leaves out connections that a point in between saw, shares with all hops what one of them
    /// knows of the order of the points, and returns the hops, in the order of their points.
    pub(super) fn settled(mut self, points: &[Point]) -> Vec<Placed> {
        for number in 0..self.all.len() {
            let found = self.all[number].hop.found();
            let elsewhere: HashSet<[u32; 2]> = found
                .filter(|ids| {
                    [0, 1]
                        .iter()
                        .any(|side| self.is_seen_between(number, *side, ids[*side]))
                })
                .collect();
            self.all[number].hop.leave_out_all(&elsewhere);
        }
        let over_nothing =
            |placed: &Placed| placed.is_over_points() && placed.hop.found().next().is_none();
        self.all.retain(|placed| !over_nothing(placed));
        self.all.sort_by_key(|placed| placed.ends);
        share_sides(&mut self.all, points);
        self.all
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Placed> {
        self.all.iter_mut()
    }
}

fn share_sides(hops: &mut [Placed], points: &[Point]) {
    for placed in hops.iter_mut() {
        let both = placed.points(points);
        placed.hop.weigh_all(both);
    }
    let client_first = hops.iter().find_map(|placed| placed.hop.client_first());
    for placed in hops {
        placed.hop.set_neighbours(client_first);
    }
}
