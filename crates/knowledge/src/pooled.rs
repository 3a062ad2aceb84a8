//! Evidence of connections together that are too short to show it alone.

use std::net::IpAddr;

use coalescope_capture::facts::{Connection, Direction};

use crate::by_size::{BySize, Step};
use crate::ways::{Ways, receiver};

/// What became of first transmissions at one point, added up over connections with frames of several segments.
#[derive(Default)]
pub(crate) struct Pools(Ways<Pool>);

#[derive(Default)]
struct Pool {
    connections: u64,
    sum: Direction,
}

/// A way on which longer frames had to be sent again, and shorter ones had not.
pub(crate) struct Pattern {
    /// `to_client` or `to_server`.
    pub(crate) direction: &'static str,
    to: Option<IpAddr>,
    pub(crate) step: Step,
}

impl Pools {
    /// Adds the evidence of one connection.
    pub(crate) fn add(&mut self, connection: &Connection) {
        for name in ["to_client", "to_server"] {
            let direction = connection.direction(name);
            if direction.repeats.merged > 0 {
                let to = receiver(connection, name);
                self.0.add(name, to, |pool: &mut Pool| pool.add(direction));
            }
        }
    }

    /// The way on which most longer frames were lost, if several connections together show that none pass.
    pub(crate) fn pattern(&self) -> Option<Pattern> {
        let looks = self.0.iter().len();
        let several = self.0.iter().filter(|(_, pool)| pool.connections > 1);
        let patterns = several.filter_map(|((direction, to), pool)| {
            let step = BySize::of_repeats(&pool.sum).step(looks)?;
            Some(Pattern {
                direction,
                to,
                step,
            })
        });
        // Among equal patterns the narrower one is more specific.
        patterns.max_by_key(|pattern| (pattern.step.longer.lost, pattern.to))
    }
}

impl Pool {
    fn add(&mut self, direction: &Direction) {
        let (sum, repeats) = (&mut self.sum, &direction.repeats);
        self.connections += 1;
        sum.repeats.merged += repeats.merged;
        sum.repeats.merged_repeated += repeats.merged_repeated;
        sum.repeats.single += repeats.single;
        sum.repeats.single_repeated += repeats.single_repeated;
        sum.by_length.add_all(&direction.by_length);
        sum.full.add(direction.full);
        sum.full_again.add(direction.full_again);
        sum.amid.add(direction.amid);
    }
}

impl Pattern {
    /// Whether a connection is one of those that lose merged frames on this way.
    pub(crate) fn is_shown_by(&self, connection: &Connection) -> bool {
        let to = receiver(connection, self.direction);
        self.to.is_none_or(|address| address == to)
            && connection.direction(self.direction).repeats.merged_repeated > 0
    }
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::Amid;

    use super::*;

    /// Three merged frames, of which some had to be sent again, among single ones, the connection of this place.
    fn connection(place: i64, lost: u32) -> Connection {
        let mut data = Direction::default();
        (data.repeats.merged, data.repeats.merged_repeated) = (3, u64::from(lost));
        data.repeats.single = 4;
        data.full.passed = 4;
        data.amid = Amid {
            resumed_ns: (lost > 0).then_some(10 * place + 5),
            last_lost_ns: (lost > 0).then_some(10 * place + 3),
            spared: false,
        };
        data.by_length.add(2 * 1448, 3 - lost, lost);
        Connection {
            to_client: data,
            ..Connection::default()
        }
    }

    fn pattern(lost: impl Iterator<Item = u32>) -> Option<Pattern> {
        let mut pools = Pools::default();
        (0..)
            .zip(lost)
            .for_each(|(place, lost)| pools.add(&connection(place, lost)));
        pools.pattern()
    }

    #[test]
    fn three_of_three_in_each_of_many_connections_is_a_pattern() {
        let found = pattern((0..47).map(|_| 3)).expect("a pattern");
        assert_eq!((found.step.longer.lost, found.step.longer.all), (141, 141));
        assert!(found.is_shown_by(&connection(0, 3)) && !found.is_shown_by(&connection(0, 0)));
        assert!(pattern(std::iter::once(3)).is_none());
    }

    /// All at one time, and single frames of none of them arrive before it is over.
    #[test]
    fn an_outage_that_hits_many_connections_accuses_nobody() {
        let mut pools = Pools::default();
        (0..47).for_each(|_| pools.add(&connection(0, 3)));
        assert!(pools.pattern().is_none());
    }

    #[test]
    fn some_of_three_in_each_accuse_nobody() {
        assert!(pattern((0..47).map(|i| i % 3)).is_none());
    }
}
