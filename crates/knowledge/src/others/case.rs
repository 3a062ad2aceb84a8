//! The connection that a finding is about.

use coalescope_capture::facts::{Connection, Direction, Point, Trace};

use crate::finding::{Evidence, Finding, Id, Proof, Subject};
use crate::limits::{ConnectionLimit, opposite};
use crate::words::{bytes, rate, reference, without_frames};

/// A connection at a point, with the direction that most data took.
pub(super) struct Case<'a> {
    pub(super) at: &'a Point,
    pub(super) point: &'a str,
    pub(super) connection: Connection,
    pub(super) direction: &'static str,
}

impl<'a> Case<'a> {
    pub(super) fn find(trace: &'a Trace, limit: &ConnectionLimit) -> Option<Self> {
        let mut points = trace.points.iter();
        let point = points.find(|point| *point.name == *limit.point)?;
        Some(Self {
            at: point,
            point: &point.name,
            connection: point.connections.get(limit.connection)?,
            direction: limit.direction,
        })
    }

    /// The direction that most data took.
    pub(super) fn data(&self) -> &Direction {
        self.connection.direction(self.direction)
    }

    /// The opposite direction.
    pub(super) fn acks(&self) -> &Direction {
        self.connection.direction(opposite(self.direction))
    }

    pub(super) fn make(
        &self,
        id: Id,
        title: &str,
        mut evidence: Vec<Evidence>,
        next: &str,
    ) -> Finding {
        evidence.extend(self.speed());
        Finding {
            id,
            proof: Proof::Observed,
            reason: None,
            subject: Subject::Plain,
            note: false,
            share: None,
            title: title.to_owned(),
            connection: Some(reference(self.point, &self.connection)),
            hop: None,
            evidence,
            next: next.to_owned(),
        }
    }

    fn speed(&self) -> Option<Evidence> {
        let bps = self.data().throughput_bps?;
        let window = self.data().effective_window_segments;
        let window = window
            .map(|w| format!(", {w:.1} segments a round trip"))
            .unwrap_or_default();
        Some(without_frames(format!(
            "{} in all at {}{window}",
            bytes(self.data().unique_bytes),
            rate(bps)
        )))
    }
}
