//! The order in which points lie on the path, where it is not the one that they were given in.
//!
//! Hops are followed between neighbours, from the first frame on, so the first frames of each point are
//! looked at before: every point beside every other, as on a hop.

use crate::feed::Feed;
use crate::hop::Hop;
use crate::point::Point;
use crate::reader::Item;

/// Frames of each point that are looked at: some hundred round trips of one connection, 512 KiB.
const FRAMES: usize = 4096;
/// With more points than this, each beside every other, looking would take longer than reading.
const MOST: usize = 8;

/// The numbers of the points in path order; `None` if nothing speaks against the given order, either way
/// round.
pub(super) fn path(feeds: &mut [Feed<'_>]) -> Option<Vec<usize>> {
    if !(3..=MOST).contains(&feeds.len()) {
        return None;
    }
    feeds.iter_mut().for_each(|feed| feed.look_ahead(FRAMES));
    let nearer = Side::of(feeds);
    sorted(&nearer)
}

/// Which of two points is nearer to the clients: positive for the one whose row it is.
type Nearer = Vec<Vec<i32>>;

/// All points, each beside every other.
struct Side {
    points: Vec<Point>,
    /// With the numbers of its points.
    hops: Vec<(usize, usize, Hop)>,
}

impl Side {
    fn of(feeds: &[Feed<'_>]) -> Nearer {
        let count = feeds.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let mut side = Self {
            points: (0..count).map(|_| Point::default()).collect(),
            hops: pairs.map(|(a, b)| (a, b, Hop::new(false))).collect(),
        };
        let mut all: Vec<_> = feeds.iter().map(|feed| feed.ahead(FRAMES)).collect();
        for _ in 0..FRAMES {
            for (point, items) in all.iter_mut().enumerate() {
                items
                    .next()
                    .into_iter()
                    .for_each(|item| side.take(point, item));
            }
        }
        side.nearer()
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

    fn nearer(mut self) -> Nearer {
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

fn sorted(nearer: &Nearer) -> Option<Vec<usize>> {
    let count = nearer.len();
    let sum = |point: &usize| nearer[*point].iter().sum::<i32>();
    let is_known = |point: usize| nearer[point].iter().any(|sign| *sign != 0);
    let (up, down) = contradictions(nearer);
    if up == 0 || down == 0 || !(0..count).all(is_known) {
        return None;
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|point| std::cmp::Reverse(sum(point)));
    // Clients stand on the side on which they were given for the most part.
    if down < up {
        order.reverse();
    }
    let is_given = order.iter().copied().eq(0..count) || order.iter().rev().copied().eq(0..count);
    (!is_given).then_some(order)
}

/// How many pairs contradict the given order if it begins at the clients, and if it ends there.
fn contradictions(nearer: &Nearer) -> (usize, usize) {
    let count = nearer.len();
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    let signs: Vec<i32> = pairs.map(|(a, b)| nearer[a][b]).collect();
    let of = |sign| signs.iter().filter(|one| **one == sign).count();
    (of(-1), of(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points at these distances from the clients.
    fn at(distances: &[i32]) -> Nearer {
        let row = |a: &i32| distances.iter().map(|b| (b - a).signum()).collect();
        distances.iter().map(row).collect()
    }

    #[test]
    fn only_an_order_that_is_none_of_the_path_is_changed() {
        assert_eq!(sorted(&at(&[1, 2, 3, 4])), None);
        assert_eq!(sorted(&at(&[4, 3, 2, 1])), None);
        assert_eq!(sorted(&at(&[1, 2, 2])), None);
        assert_eq!(sorted(&at(&[2, 1, 3, 4])), Some(vec![1, 0, 2, 3]));
        assert_eq!(sorted(&at(&[4, 1, 3, 2])), Some(vec![0, 2, 3, 1]));
    }

    #[test]
    fn a_point_that_nothing_is_known_of_leaves_the_order_alone() {
        let mut nearer = at(&[2, 1, 3, 4]);
        nearer[3].fill(0);
        nearer.iter_mut().for_each(|row| row[3] = 0);
        assert_eq!(sorted(&nearer), None);
    }
}
