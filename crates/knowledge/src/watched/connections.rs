//! Connections of a host that behave as if merged frames were dropped and single ones passed.

use coalescope_watch::facts::Connection;

use super::thresholds::MOSTLY;
use crate::thresholds::{FEW_SEGMENTS, HANDFUL};

/// Whether a connection delivers so few segments in a round trip, and repeats so many, as one whose merged frames are
/// dropped; and nothing that the kernel counts limits it. It must have had data to send most of the time.
#[must_use]
pub fn gets_little_through(connection: &Connection, took_s: f64) -> bool {
    let window = connection.effective_window_segments;
    let held_s = connection.receiver_limited_s + connection.buffer_limited_s;
    window.is_some_and(|window| window <= FEW_SEGMENTS)
        && connection.repeated_segments >= HANDFUL
        && connection.busy_s >= took_s * MOSTLY
        && held_s < connection.busy_s * MOSTLY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_it_is_asked_for() {
        let slow = || Connection {
            effective_window_segments: Some(1.7),
            repeated_segments: 12,
            busy_s: 9.0,
            ..Connection::default()
        };
        assert!(gets_little_through(&slow(), 10.0));
        type Change = fn(&mut Connection);
        let others: [(&str, Change); 5] = [
            ("sent nothing", |one| one.effective_window_segments = None),
            ("fast", |one| one.effective_window_segments = Some(12.0)),
            ("repeats nothing", |one| one.repeated_segments = 1),
            ("had nothing to send", |one| one.busy_s = 2.0),
            ("the receiver is slow", |one| one.receiver_limited_s = 8.0),
        ];
        for (what, change) in others {
            let mut one = slow();
            change(&mut one);
            assert!(!gets_little_through(&one, 10.0), "{what}");
        }
    }
}
