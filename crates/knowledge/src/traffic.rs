//! How much data there is, of one connection or of all at a point.

use std::ops::AddAssign;

use coalescope_capture::facts::Connection;

use crate::limits::{Limit, active_s, main_direction, telling_direction};
use crate::loss::Kind;

/// Amount of traffic at a point.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traffic {
    /// Connections with data.
    pub(crate) connections: u64,
    /// Payload bytes, each once, in the direction of each connection that has most.
    pub(crate) bytes: u64,
    /// Time in which their senders were not idle, summed up.
    pub(crate) seconds: f64,
}

/// Amount of traffic, and the limit, of one connection at one point.
#[derive(Clone, Copy)]
pub(crate) struct Own {
    pub(crate) limit: Limit,
    /// Of a loss: what it looks like.
    pub(crate) kind: Kind,
    /// Payload bytes in the direction that has most.
    pub(crate) unique_bytes: u64,
    /// Time in which their sender was not idle.
    pub(crate) seconds: f64,
}

impl Traffic {
    /// The traffic of one connection.
    pub(crate) fn of(connection: &Connection) -> Self {
        Self::told_by(connection, telling_direction(connection).0)
    }

    /// Like [`Self::of`], where the direction that shows the limit is known.
    pub(crate) fn told_by(connection: &Connection, direction: &str) -> Self {
        let most = main_direction(connection).1;
        Self {
            connections: u64::from(most.unique_bytes > 0),
            bytes: most.unique_bytes,
            seconds: active_s(connection.direction(direction)).unwrap_or(0.0),
        }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.connections += other.connections;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
    }
}

impl Own {
    /// The connection as part of a point's traffic.
    pub(crate) fn traffic(self) -> Traffic {
        Traffic {
            connections: 1,
            bytes: self.unique_bytes,
            seconds: self.seconds,
        }
    }
}
