//! Facts that tests are made of.

use coalescope_capture::facts::{Connection, Direction, Point};

/// A point with one connection, whose data goes to the client.
pub(crate) fn point(name: &str, to_client: Direction) -> Point {
    let connection = Connection {
        to_client,
        ..Connection::default()
    };
    Point {
        name: name.to_owned(),
        connections: std::iter::once(connection).collect(),
        ..Point::default()
    }
}
