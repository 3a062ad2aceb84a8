//! What limits connections together that are too short to show it alone.

use std::net::IpAddr;
use std::ops::AddAssign;

use coalescope_capture::facts::Connection;

use crate::limits::{
    ConnectionLimit, Limit, loss_frames, main_direction, segments, stands_still, waits,
};
use crate::thresholds::{HANDFUL, HEAVY_LOSS, LOSS};
use crate::traffic::Own;
use crate::ways::{Ways, receiver};

/// Short connections of one point.
#[derive(Default)]
pub(crate) struct Short {
    sums: Ways<Sum>,
    /// Connections that lost something.
    hit: Vec<(ConnectionLimit, Own, IpAddr)>,
    /// Connections that timeouts take most of the time of.
    still: Vec<(ConnectionLimit, Own)>,
}

/// Short connections of one way, added up.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// Number of connections that lost something.
    hit: u64,
    segments: f64,
    lost: f64,
    merged_passed: u64,
    merged_repeated: u64,
}

impl Sum {
    fn of(connection: &Connection) -> Self {
        let (_, data, other) = main_direction(connection);
        let lost = loss_frames(data).max(waits(data, other)) as f64;
        Self {
            hit: u64::from(lost > 0.0),
            segments: segments(data),
            lost,
            merged_passed: data.repeats.merged - data.repeats.merged_repeated,
            merged_repeated: data.repeats.merged_repeated,
        }
    }

    /// The limit of all of them, if several show it.
    fn limit(&self) -> Option<Limit> {
        let share = self.lost / self.segments.max(1.0);
        let several = self.hit >= HANDFUL;
        let passes = self.merged_passed >= HANDFUL && self.merged_passed > self.merged_repeated;
        if several && share >= HEAVY_LOSS && !passes {
            Some(Limit::Unclear)
        } else {
            (several && share >= LOSS).then_some(Limit::Loss)
        }
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.hit += other.hit;
        self.segments += other.segments;
        self.lost += other.lost;
        self.merged_passed += other.merged_passed;
        self.merged_repeated += other.merged_repeated;
    }
}

impl Short {
    /// Adds a connection that is too short by itself.
    pub(crate) fn add(
        &mut self,
        mut limit: ConnectionLimit,
        mut own: Own,
        connection: &Connection,
    ) {
        if own.unique_bytes == 0 {
            return;
        }
        let (_, data, other) = main_direction(connection);
        if stands_still(data, other) {
            (limit.limit, own.limit) = (Limit::Unclear, Limit::Unclear);
            self.still.push((limit, own));
            return;
        }
        let to = receiver(connection, limit.direction);
        let sum = Sum::of(connection);
        self.sums
            .add(limit.direction, to, |all: &mut Sum| *all += sum);
        if sum.hit > 0 {
            self.hit.push((limit, own, to));
        }
    }

    /// Connections that lost something, each with the limit of all connections of its way.
    pub(crate) fn limited(self) -> Vec<(ConnectionLimit, Own)> {
        let of = |way| self.sums.get(way).and_then(Sum::limit);
        let limited = self.hit.into_iter().filter_map(|(mut limit, mut own, to)| {
            let found = of((limit.direction, Some(to))).or_else(|| of((limit.direction, None)))?;
            (limit.limit, own.limit) = (found, found);
            Some((limit, own))
        });
        limited.chain(self.still).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coalescope_capture::facts::Direction;
    use std::sync::Arc;

    use crate::loss::Kind;

    /// Ten segments, of which some were lost.
    fn connection(lost: u64, gaps: u64, acks: u64) -> Connection {
        let to_client = Direction {
            data_frames: 10,
            unique_bytes: 14_480,
            late_frames: lost,
            gaps,
            rtt_min_s: Some(0.01),
            ..Direction::default()
        };
        let to_server = Direction {
            acks,
            ..Direction::default()
        };
        Connection {
            to_client,
            to_server,
            ..Connection::default()
        }
    }

    fn limits(connections: impl Iterator<Item = Connection>) -> Vec<Limit> {
        let mut short = Short::default();
        for connection in connections {
            let limit = ConnectionLimit {
                point: Arc::from("P"),
                connection: 0,
                direction: "to_client",
                limit: Limit::TooShort,
            };
            let own = Own {
                limit: Limit::TooShort,
                kind: Kind::default(),
                unique_bytes: 14_480,
                seconds: 0.1,
            };
            short.add(limit, own, &connection);
        }
        let limited = short.limited();
        assert!(limited.iter().all(|(limit, own)| limit.limit == own.limit));
        limited.iter().map(|(limit, _)| limit.limit).collect()
    }

    #[test]
    fn many_short_connections_show_what_one_does_not() {
        let lossy = |lost| (0..40_u64).map(move |i| connection(lost * (i % 4 / 3), 0, 5));
        assert_eq!(limits(lossy(1)), [Limit::Loss; 10]);
        assert_eq!(limits(lossy(8)), [Limit::Unclear; 10]);
        assert_eq!(limits(lossy(1).take(16)), []);
        assert_eq!(limits(lossy(0)), []);
    }

    /// One alone, of nine kilobytes in seven seconds.
    #[test]
    fn timeouts_that_take_most_of_the_time_are_told_of_one_short_connection() {
        let waiting = |gaps_s: f64, late| {
            let mut connection = connection(late, 4, 5);
            (connection.to_client.gaps_s, connection.to_client.duration_s) = (gaps_s, Some(7.0));
            limits(std::iter::once(connection))
        };
        assert_eq!(waiting(6.5, 2), [Limit::Unclear]);
        assert_eq!(waiting(2.0, 2), []);
        // Pauses of an application lose nothing.
        assert_eq!(waiting(6.5, 0), []);
    }

    /// A lost tail leaves a gap, and so does a pause where no acknowledgments are seen.
    #[test]
    fn waits_count_where_acknowledgments_tell_them_from_pauses() {
        let waiting = |acks| (0..10).map(move |_| connection(0, 2, acks));
        assert_eq!(limits(waiting(3)), [Limit::Unclear; 10]);
        assert_eq!(limits(waiting(0)), []);
    }
}
