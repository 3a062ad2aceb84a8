//! The order of the points on the path, where it differs from the order in which they were given.
//!
//! Hops are followed from the first frame on. So the first frames of each point are looked at before, each point beside
//! every other, as on a hop.

use std::collections::HashSet;

use crate::feed::Feed;
use crate::hop::Hop;
use crate::point::Point;
use crate::reader::Item;

/// Frames of each point that are looked at: some hundred round trips of one connection, 512 KiB.
const FRAMES: usize = 4096;
/// Delays that differ by less count as equal: the resolution of captures' clocks, and the time of an interrupt.
const SAME_NS: i64 = 5_000;
/// With more points than this, looking at each pair would take longer than reading.
const MOST: usize = 8;

/// The numbers of two points in path order that are no neighbours, with a hop between them.
pub(super) type Over = [usize; 2];

/// What the first frames of the points show.
pub(super) struct Path {
    /// The numbers of the points in path order; `None` if nothing contradicts the given order or its reverse.
    pub(super) order: Option<Vec<usize>>,
    /// Whether the order contradicts the given one, and does not only put aside what tells nothing of its place.
    pub(super) is_another: bool,
    /// Hops over points: between all points that are no neighbours, but those of which each common connection was found at a
    /// point in between as well.
    pub(super) over: Vec<Over>,
}

/// The path; `None` where the points are too few or too many to look at.
pub(super) fn path(feeds: &mut [Feed<'_>]) -> Option<Path> {
    if !is_looked_at(feeds.len()) {
        return None;
    }
    feeds.iter_mut().for_each(|feed| feed.look_ahead(FRAMES));
    of_first_frames(feeds.iter().map(|feed| feed.ahead(FRAMES)).collect())
}

/// Like [`path()`], from the first frames of the points.
pub(super) fn of_first_frames<'a>(ahead: Vec<impl Iterator<Item = &'a Item>>) -> Option<Path> {
    if !is_looked_at(ahead.len()) {
        return None;
    }
    let points = ahead.len();
    let (nearer, delays, found) = Side::of(ahead);
    let (order, is_another) = sorted(&nearer, &delays, &found).unzip();
    let given = || (0..points).collect();
    let over = found.over(&order.clone().unwrap_or_else(given));
    Some(Path {
        order,
        is_another: is_another.unwrap_or(false),
        over,
    })
}

fn is_looked_at(points: usize) -> bool {
    (3..=MOST).contains(&points)
}

/// Which of two points is nearer to the clients: positive if the point of the row is.
type Nearer = Vec<Vec<i32>>;
/// The least time that frames take from one point to another, where both showed the same frames.
type Delays = Vec<Vec<Option<Delay>>>;

/// A time in nanoseconds, and by how much it may be wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Delay {
    ns: i64,
    doubt_ns: i64,
}

impl Delay {
    fn with(self, other: Self) -> Self {
        Self {
            ns: self.ns + other.ns,
            doubt_ns: self.doubt_ns + other.doubt_ns,
        }
    }

    /// Whether it is no longer than another, as far as captures can tell.
    fn may_be(self, other: Self) -> bool {
        self.ns - self.doubt_ns <= other.ns + other.doubt_ns + SAME_NS
    }
}

/// Connections that were found at two points: for each pair of points, as each of them numbers the connection.
#[derive(Default)]
struct Found(Vec<([usize; 2], Vec<[u32; 2]>)>);

impl Found {
    /// Whether a point has a connection in common with any other.
    fn has_met(&self, point: usize) -> bool {
        let mut pairs = self.0.iter();
        pairs.any(|(ends, ids)| ends.contains(&point) && !ids.is_empty())
    }

    /// The common connections of two points.
    fn at(&self, ends: [usize; 2]) -> Vec<[u32; 2]> {
        let find =
            |[one, other]: [usize; 2]| self.0.iter().find(|(known, _)| *known == [one, other]);
        if let Some((_, ids)) = find(ends) {
            return ids.clone();
        }
        let turned = find([ends[1], ends[0]]).map_or(&[][..], |(_, ids)| ids);
        turned.iter().map(|[one, other]| [*other, *one]).collect()
    }

    /// Hops over points, for points in this order.
    fn over(&self, order: &[usize]) -> Vec<Over> {
        let apart = |first: usize| (first + 2..order.len()).map(move |second| [first, second]);
        let all = (0..order.len()).flat_map(apart);
        all.filter(|over| self.are_passed_by(order, *over))
            .collect()
    }

    /// Whether a connection of two points may pass by all points between them.
    fn are_passed_by(&self, order: &[usize], [first, second]: Over) -> bool {
        let common = self.at([order[first], order[second]]);
        let between = || order[first + 1..second].iter();
        let from_first = between().flat_map(|point| self.at([order[first], *point]));
        let to_second = between().flat_map(|point| self.at([*point, order[second]]));
        let at_first: HashSet<u32> = from_first.map(|[here, _]| here).collect();
        let at_second: HashSet<u32> = to_second.map(|[_, here]| here).collect();
        let passes_by =
            |[one, other]: &[u32; 2]| !at_first.contains(one) && !at_second.contains(other);
        common.is_empty() || common.iter().any(passes_by)
    }
}

/// All points, each beside every other.
struct Side {
    points: Vec<Point>,
    /// Each hop with the numbers of its points.
    hops: Vec<(usize, usize, Hop)>,
}

impl Side {
    fn of<'a>(mut all: Vec<impl Iterator<Item = &'a Item>>) -> (Nearer, Delays, Found) {
        let count = all.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let mut side = Self {
            points: (0..count).map(|_| Point::default()).collect(),
            hops: pairs.map(|(a, b)| (a, b, Hop::new(false))).collect(),
        };
        for _ in 0..FRAMES {
            for (point, items) in all.iter_mut().enumerate() {
                items
                    .next()
                    .into_iter()
                    .for_each(|item| side.take(point, item));
            }
        }
        let nearer = side.nearer();
        let found = side.found();
        (nearer, side.delays(), found)
    }

    fn take(&mut self, point: usize, item: &Item) {
        let tracked = self.points[point].take(item);
        for (a, b, hop) in &mut self.hops {
            let side = match point {
                _ if point == *a => 0,
                _ if point == *b => 1,
                _ => continue,
            };
            if let Some((id, tracked)) = &tracked {
                let points = [&self.points[*a], &self.points[*b]];
                hop.observe(side, *id, &item.frame, tracked, points);
            }
            hop.read(side, item.frame.time_ns);
        }
    }

    fn found(&self) -> Found {
        let hops = self.hops.iter();
        Found(
            hops.map(|(a, b, hop)| ([*a, *b], hop.found().collect()))
                .collect(),
        )
    }

    fn delays(mut self) -> Delays {
        let count = self.points.len();
        let mut delays = vec![vec![None; count]; count];
        for (a, b, hop) in &mut self.hops {
            hop.round([&self.points[*a], &self.points[*b]], true);
            let delay = hop.delay_within_ns();
            delays[*a][*b] = delay.map(|(ns, doubt_ns)| Delay { ns, doubt_ns });
            delays[*b][*a] = delays[*a][*b];
        }
        delays
    }

    fn nearer(&mut self) -> Nearer {
        let count = self.points.len();
        let mut nearer = vec![vec![0; count]; count];
        for (a, b, hop) in &mut self.hops {
            hop.weigh_all([&self.points[*a], &self.points[*b]]);
            let sign = hop
                .client_first()
                .map_or(0, |first| if first { 1 } else { -1 });
            nearer[*a][*b] = sign;
            nearer[*b][*a] = -sign;
        }
        nearer
    }
}

/// The order of the points that have connections in common, and whether it contradicts the given one. The others stay where they
/// were given.
fn sorted(nearer: &Nearer, delays: &Delays, found: &Found) -> Option<(Vec<usize>, bool)> {
    let met: Vec<usize> = (0..nearer.len())
        .filter(|point| found.has_met(*point))
        .collect();
    let (order, is_another) = sorted_among(&of_points(nearer, &met), &of_points(delays, &met))?;
    let mut all: Vec<usize> = (0..nearer.len()).collect();
    for (place, at) in met.iter().zip(order) {
        all[*place] = met[at];
    }
    Some((all, is_another))
}

/// What is known of some of the points.
fn of_points<T: Copy>(table: &[Vec<T>], points: &[usize]) -> Vec<Vec<T>> {
    let row = |row: &usize| points.iter().map(|column| table[*row][*column]).collect();
    points.iter().map(row).collect()
}

fn sorted_among(nearer: &Nearer, delays: &Delays) -> Option<(Vec<usize>, bool)> {
    let count = nearer.len();
    let is_known = |point: usize| nearer[point].iter().any(|sign| *sign != 0);
    let both_ways: Vec<usize> = (0..count)
        .filter(|point| shows_both_ways(delays, *point))
        .collect();
    let given: Vec<usize> = (0..count).collect();
    let back: Vec<usize> = given.iter().rev().copied().collect();
    let contradicted = [&given, &back].map(|order| contradictions(nearer, order));
    if contradicted.contains(&0) && knows_all(nearer)
        || !both_ways.iter().all(|point| is_known(*point))
    {
        return None;
    }
    // Clients are on the side on which most pairs have them in the given order.
    let begins_at_clients = contradicted[0] <= contradicted[1];
    let near = if begins_at_clients { &given } else { &back };
    let mut best = best_order(nearer, delays, near);
    if best == *near {
        return None;
    }
    let among = |order: &[usize]| -> Vec<usize> {
        let telling = order.iter().filter(|point| both_ways.contains(point));
        telling.copied().collect()
    };
    let is_another = among(&best) != among(near);
    if !begins_at_clients {
        best.reverse();
    }
    Some((best, is_another))
}

/// Whether a point has shown frames of both ways that another one has shown. A capture that ended before anything was answered has not,
/// and is next to all alike.
fn shows_both_ways(delays: &Delays, point: usize) -> bool {
    delays[point].iter().any(Option::is_some)
}

/// Whether each point is known to be nearer than each other one, or farther.
fn knows_all(nearer: &Nearer) -> bool {
    let unknown = |row: &Vec<i32>| row.iter().filter(|sign| **sign == 0).count();
    nearer.iter().all(|row| unknown(row) <= 1)
}

/// The order, clients first, that the fewest pairs contradict. Among several such orders: one in which most neighbours have
/// shown the same frames, with the least time from each to the next, as far as clocks tell; then the one in which fewest points
/// that tell nothing of their place part others, between which nobody would look for a loss then; then the one that leaves
/// most pairs as they are in `near`.
fn best_order(nearer: &Nearer, delays: &Delays, near: &[usize]) -> Vec<usize> {
    let steps = |order: Vec<usize>| {
        let (unmet, way) = steps(delays, &order);
        ((contradictions(nearer, &order), unmet), way, order)
    };
    let mut all: Vec<_> = orders(near).into_iter().map(steps).collect();
    let fewest = all.iter().map(|(fewest, ..)| *fewest).min();
    all.retain(|(contradicted, ..)| Some(*contradicted) == fewest);
    let shortest = all.iter().map(|(_, way, _)| *way);
    let shortest = shortest.min_by_key(|way| way.ns).unwrap_or_default();
    let possible = all.into_iter().filter(|(_, way, _)| way.may_be(shortest));
    let cost = |(_, _, order): &(_, _, Vec<usize>)| (parting(delays, order), moved(near, order));
    let best = possible.min_by_key(cost);
    best.map_or_else(|| near.to_vec(), |(.., order)| order)
}

/// Neighbours of an order that have not shown the same frames, and the time along all others.
fn steps(delays: &Delays, order: &[usize]) -> (usize, Delay) {
    let met = order
        .iter()
        .filter(|point| shows_both_ways(delays, **point));
    let met: Vec<usize> = met.copied().collect();
    let known = met.windows(2).map(|pair| delays[pair[0]][pair[1]]);
    let known: Vec<_> = known.collect();
    let unmet = known.iter().filter(|delay| delay.is_none()).count();
    let all = known.into_iter().flatten();
    (unmet, all.fold(Delay::default(), Delay::with))
}

/// Points that tell nothing of their place, and part others.
fn parting(delays: &Delays, order: &[usize]) -> usize {
    let met = order.iter().map(|point| shows_both_ways(delays, *point));
    let met: Vec<bool> = met.collect();
    let first = met.iter().position(|met| *met).unwrap_or(0);
    let last = met.iter().rposition(|met| *met).unwrap_or(0);
    met[first..=last].iter().filter(|met| !**met).count()
}

/// Pairs that are the other way round in `near`.
fn moved(near: &[usize], order: &[usize]) -> usize {
    let mut place = vec![0; near.len()];
    for (at, point) in near.iter().enumerate() {
        place[*point] = at;
    }
    pairs(order).filter(|(a, b)| place[*a] > place[*b]).count()
}

/// All orders of some points: at most 40,320, of [`MOST`].
fn orders(points: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::with_capacity(points.len())];
    for point in points {
        let with = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, *point);
                longer
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// Pairs of points, the first in front of the second.
fn pairs(order: &[usize]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let with_later = |(at, a): (usize, &usize)| {
        let a = *a;
        order[at + 1..].iter().map(move |b| (a, *b))
    };
    order.iter().enumerate().flat_map(with_later)
}

/// The number of pairs that contradict an order that begins at the clients.
fn contradictions(nearer: &Nearer, order: &[usize]) -> usize {
    pairs(order).filter(|(a, b)| nearer[*a][*b] < 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points at these distances from the clients.
    fn at(distances: &[i32]) -> Nearer {
        let row = |a: &i32| distances.iter().map(|b| (b - a).signum()).collect();
        distances.iter().map(row).collect()
    }

    fn sorted(nearer: &Nearer) -> Option<Vec<usize>> {
        let count = nearer.len();
        sorted_among(nearer, &vec![vec![sure(0); count]; count]).map(|(order, _)| order)
    }

    /// A delay that is known for sure.
    fn sure(ns: i64) -> Option<Delay> {
        Some(Delay { ns, doubt_ns: 0 })
    }

    /// Two captures of one host: 60 ms until an answer, in which clocks gain microseconds on each other, part them from the first
    /// one by delays that are all but the same.
    #[test]
    fn delays_that_clocks_explain_leave_the_order_alone() {
        let mut nearer = at(&[3, 2, 1]);
        (nearer[1][2], nearer[2][1]) = (0, 0);
        let delay = |ns, doubt_ns| Some(Delay { ns, doubt_ns });
        let mut delays = vec![vec![None; 3]; 3];
        let mut set = |a: usize, b: usize, delay| (delays[a][b], delays[b][a]) = (delay, delay);
        set(0, 1, delay(34_000, 6_000));
        set(0, 2, delay(24_000, 6_000));
        set(1, 2, delay(0, 300));
        assert!(sorted_among(&nearer, &delays).is_none());
        // The third one is between them for sure.
        let mut set = |a: usize, b: usize, delay| (delays[a][b], delays[b][a]) = (delay, delay);
        set(0, 1, delay(64_000, 6_000));
        set(1, 2, delay(40_000, 300));
        assert_eq!(sorted_among(&nearer, &delays), Some((vec![0, 2, 1], true)));
    }

    /// One connection at these points.
    fn found_at(points: &[usize]) -> Found {
        let pairs = pairs(points).map(|(a, b)| ([a, b], vec![[0, 0]]));
        Found(pairs.collect())
    }

    /// The second capture ended before the third began: what the first shows of both is all there is.
    #[test]
    fn of_two_that_never_met_the_one_at_once_behind_is_the_neighbour() {
        let mut nearer = at(&[1, 3, 2]);
        let mut delays = vec![vec![sure(30_000); 3]; 3];
        (nearer[0][2], nearer[2][0]) = (0, 0);
        (delays[0][2], delays[2][0]) = (None, None);
        for (near, order) in [(0, vec![2, 0, 1]), (2, vec![0, 2, 1])] {
            (delays[near][1], delays[1][near]) = (sure(0), sure(0));
            (delays[2 - near][1], delays[1][2 - near]) = (sure(30_000), sure(30_000));
            assert_eq!(sorted_among(&nearer, &delays), Some((order, true)));
        }
    }

    /// The third capture ended with the SYN: what the first two have sent again speaks for these to be in front of it. Between the
    /// second and the last it would hide what is lost there.
    #[test]
    fn one_that_met_none_parts_no_others() {
        let mut nearer = at(&[4, 3, 2, 1]);
        (nearer[2][3], nearer[3][2]) = (0, 0);
        let mut delays = vec![vec![sure(40_000_000); 4]; 4];
        delays[2].fill(None);
        delays.iter_mut().for_each(|row| row[2] = None);
        let aside = (vec![0, 1, 3, 2], false);
        assert_eq!(sorted_among(&nearer, &delays), Some(aside));
        // Nothing at all is known of it.
        nearer[2].fill(0);
        nearer.iter_mut().for_each(|row| row[2] = 0);
        let order = sorted_among(&nearer, &delays).map(|(order, _)| order);
        assert_eq!(order, Some(vec![0, 1, 3, 2]));
    }

    #[test]
    fn only_an_order_that_is_none_of_the_path_is_changed() {
        assert_eq!(sorted(&at(&[1, 2, 3, 4])), None);
        assert_eq!(sorted(&at(&[4, 3, 2, 1])), None);
        assert_eq!(sorted(&at(&[1, 2, 2])), None);
        assert_eq!(sorted(&at(&[2, 1, 3, 4])), Some(vec![1, 0, 2, 3]));
        assert_eq!(sorted(&at(&[4, 1, 3, 2])), Some(vec![0, 2, 3, 1]));
    }

    /// Two captures that do not overlap in time tell nothing of each other.
    #[test]
    fn what_is_known_of_others_places_two_that_never_met() {
        let mut nearer = at(&[2, 1, 3, 4, 5]);
        (nearer[0][1], nearer[1][0]) = (0, 0);
        assert_eq!(sorted(&nearer), None);
        let mut nearer = at(&[1, 2, 5, 4, 3]);
        for (a, b) in [(0, 1), (1, 2)] {
            (nearer[a][b], nearer[b][a]) = (0, 0);
        }
        assert_eq!(sorted(&nearer), Some(vec![0, 1, 4, 3, 2]));
    }

    #[test]
    fn a_point_of_unknown_place_leaves_the_order_alone() {
        let mut nearer = at(&[2, 1, 3, 4]);
        nearer[3].fill(0);
        nearer.iter_mut().for_each(|row| row[3] = 0);
        assert_eq!(sorted(&nearer), None);
    }

    /// A capture of other traffic, of UDP alone, or without a frame.
    #[test]
    fn strangers_stay_where_they_were_given_and_the_others_are_sorted() {
        for (distances, strangers, order) in [
            (vec![2, 1, 3, 0], vec![3], Some(vec![1, 0, 2, 3])),
            (vec![0, 2, 1, 3], vec![0], Some(vec![0, 2, 1, 3])),
            (vec![2, 0, 1, 0, 3], vec![1, 3], Some(vec![2, 1, 0, 3, 4])),
            (vec![1, 0, 2, 3], vec![1], None),
            (vec![2, 0, 1], vec![1], None),
            (vec![0, 0, 0], vec![0, 1, 2], None),
        ] {
            let mut nearer = at(&distances);
            for stranger in &strangers {
                nearer[*stranger].fill(0);
                nearer.iter_mut().for_each(|row| row[*stranger] = 0);
            }
            let count = distances.len();
            let met: Vec<usize> = (0..count)
                .filter(|point| !strangers.contains(point))
                .collect();
            let delays = vec![vec![sure(0); count]; count];
            assert_eq!(
                super::sorted(&nearer, &delays, &found_at(&met)).map(|(order, _)| order),
                order,
                "{distances:?}"
            );
        }
    }

    #[test]
    fn hops_are_over_points_that_may_be_passed_by() {
        assert_eq!(found_at(&[0, 1, 2]).over(&[0, 1, 2]), [[0, 2]; 0]);
        assert_eq!(found_at(&[0, 2]).over(&[0, 1, 2]), [[0, 2]]);
        assert_eq!(found_at(&[0, 1, 3]).over(&[1, 2, 0, 3]), [[0, 2], [1, 3]]);
        // Nothing is known of the last point yet.
        assert_eq!(found_at(&[0, 1]).over(&[0, 1, 2]), [[0, 2]]);
        // A path that forks.
        let forked = Found(vec![
            ([0, 1], vec![[0, 0]]),
            ([0, 2], vec![[1, 0]]),
            ([1, 2], Vec::new()),
        ]);
        assert_eq!(forked.over(&[0, 1, 2]), [[0, 2]]);
        assert_eq!(forked.over(&[1, 0, 2]), [[0, 2]]);
    }
}
