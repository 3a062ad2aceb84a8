//! The order of the points on the path, where it differs from the order in which they were given.
//!
//! Hops are followed between neighbours from the first frame on. So the first frames of each point are looked at
//! before, each point beside every other, as on a hop.

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

/// The numbers of the points in path order; `None` if nothing contradicts the given order or its reverse.
pub(super) fn path(feeds: &mut [Feed<'_>]) -> Option<Vec<usize>> {
    if !is_looked_at(feeds.len()) {
        return None;
    }
    feeds.iter_mut().for_each(|feed| feed.look_ahead(FRAMES));
    order(feeds.iter().map(|feed| feed.ahead(FRAMES)).collect())
}

/// Like [`path()`], from the first frames of the points.
pub(super) fn order<'a>(ahead: Vec<impl Iterator<Item = &'a Item>>) -> Option<Vec<usize>> {
    is_looked_at(ahead.len())
        .then(|| Side::of(ahead))
        .and_then(|(nearer, delays)| sorted(&nearer, &delays))
}

fn is_looked_at(points: usize) -> bool {
    (3..=MOST).contains(&points)
}

/// Which of two points is nearer to the clients: positive if the point of the row is.
type Nearer = Vec<Vec<i32>>;
/// The least time that frames take from one point to another, in nanoseconds, where both showed the same frames.
type Delays = Vec<Vec<Option<i64>>>;

/// All points, each beside every other.
struct Side {
    points: Vec<Point>,
    /// Each hop with the numbers of its points.
    hops: Vec<(usize, usize, Hop)>,
}

impl Side {
    fn of<'a>(mut all: Vec<impl Iterator<Item = &'a Item>>) -> (Nearer, Delays) {
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
        (nearer, side.delays())
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

    fn delays(mut self) -> Delays {
        let count = self.points.len();
        let mut delays = vec![vec![None; count]; count];
        for (a, b, hop) in &mut self.hops {
            hop.round([&self.points[*a], &self.points[*b]], true);
            delays[*a][*b] = hop.delay_ns();
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

fn sorted(nearer: &Nearer, delays: &Delays) -> Option<Vec<usize>> {
    let count = nearer.len();
    let is_known = |point: usize| nearer[point].iter().any(|sign| *sign != 0);
    let given: Vec<usize> = (0..count).collect();
    let back: Vec<usize> = given.iter().rev().copied().collect();
    let contradicted = [&given, &back].map(|order| contradictions(nearer, order));
    if contradicted.contains(&0) && knows_all(nearer) || !(0..count).all(is_known) {
        return None;
    }
    // Clients are on the side on which most pairs have them in the given order.
    let begins_at_clients = contradicted[0] <= contradicted[1];
    let near = if begins_at_clients { &given } else { &back };
    let mut best = best_order(nearer, delays, near);
    if best == *near {
        return None;
    }
    if !begins_at_clients {
        best.reverse();
    }
    Some(best)
}

/// Whether each point is known to be nearer than each other one, or farther.
fn knows_all(nearer: &Nearer) -> bool {
    let unknown = |row: &Vec<i32>| row.iter().filter(|sign| **sign == 0).count();
    nearer.iter().all(|row| unknown(row) <= 1)
}

/// The order, clients first, that the fewest pairs contradict. Among several such orders: the one in which most
/// neighbours have shown the same frames, with the least time from each to the next; then the one that leaves most
/// pairs as they are in `near`.
fn best_order(nearer: &Nearer, delays: &Delays, near: &[usize]) -> Vec<usize> {
    let mut place = vec![0; near.len()];
    for (at, point) in near.iter().enumerate() {
        place[*point] = at;
    }
    let moved = |order: &[usize]| pairs(order).filter(|(a, b)| place[*a] > place[*b]).count();
    let steps = |order: &[usize]| {
        let delays = order.windows(2).map(|pair| delays[pair[0]][pair[1]]);
        let unmet = delays.clone().filter(Option::is_none).count();
        (unmet, delays.flatten().sum::<i64>() / SAME_NS)
    };
    let cost = |order: &Vec<usize>| (contradictions(nearer, order), steps(order), moved(order));
    let best = orders(near).into_iter().min_by_key(cost);
    best.unwrap_or_else(|| near.to_vec())
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
        super::sorted(nearer, &vec![vec![Some(0); count]; count])
    }

    /// The second capture ended before the third began: what the first shows of both is all there is.
    #[test]
    fn of_two_that_never_met_the_one_at_once_behind_is_the_neighbour() {
        let mut nearer = at(&[1, 3, 2]);
        let mut delays = vec![vec![Some(30_000); 3]; 3];
        (nearer[0][2], nearer[2][0]) = (0, 0);
        (delays[0][2], delays[2][0]) = (None, None);
        for (near, order) in [(0, vec![2, 0, 1]), (2, vec![0, 2, 1])] {
            (delays[near][1], delays[1][near]) = (Some(0), Some(0));
            (delays[2 - near][1], delays[1][2 - near]) = (Some(30_000), Some(30_000));
            assert_eq!(super::sorted(&nearer, &delays), Some(order));
        }
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
    fn a_point_that_nothing_is_known_of_leaves_the_order_alone() {
        let mut nearer = at(&[2, 1, 3, 4]);
        nearer[3].fill(0);
        nearer.iter_mut().for_each(|row| row[3] = 0);
        assert_eq!(sorted(&nearer), None);
    }
}
