//! Acknowledgments that do not come back to the sender.

use coalescope_capture::facts::{Direction, Trace};

use super::case::Case;
use crate::arrived::{arrivals, arrived_at};
use crate::finding::{Finding, HopRef, Id, Reason};
use crate::judged::at;
use crate::limits::{ConnectionLimit, waits_for_acks};
use crate::words::{counted, shown, time};

const TITLE: &str = "the sender sends again, timeout after timeout, what was acknowledged long before: acknowledgments are \
     lost or held up on their way back, and merging has no part in it";
const NEXT: &str = "look at the way back, which may be another one: a lossy or full link, a firewall or a rate limit that drops \
     acknowledgments; leave merging as it is";

impl Case<'_> {
    /// Acknowledgments do not come back: between which points, if one in front shows that they do not pass.
    pub(super) fn lost_acks(&self, trace: &Trace) -> Finding {
        let data = self.data();
        let text = format!(
            "{}, {} waited for of {}, after which only bytes were sent again whose acknowledgment had passed {} before",
            counted(data.timeouts_after_ack, "timeout"),
            time(data.timeouts_after_ack_s),
            time(data.duration_s.unwrap_or(0.0)),
            self.point,
        );
        let again = data.frames_of(|examples| &examples.retransmitted);
        let evidence = vec![shown(text, self.point, again)];
        let mut finding = self.make(Id::LossNotMerging, TITLE, evidence, NEXT);
        finding.reason = Some(Reason::LostAcks);
        finding.hop = self.lost_on_the_way_back(trace);
        finding
    }

    /// The last point, on the way back to the sender, that acknowledgments passed, and the next one. They passed a point
    /// where most of the timeouts come after them as well.
    fn lost_on_the_way_back(&self, trace: &Trace) -> Option<HopRef> {
        let (mut point, mut id) = (self.point, self.connection.id);
        // As many steps as there are hops: points in a circle have no end.
        for _ in &trace.hops {
            let (hop, seen) = arrivals(trace, point, id, self.direction).next()?;
            let connection = at(trace, &hop.from, seen.from_id)?;
            if !self.is_as_late(connection.direction(self.direction)) {
                return Some(HopRef {
                    from: hop.to.clone(),
                    to: hop.from.clone(),
                });
            }
            (point, id) = (&hop.from, seen.from_id);
        }
        None
    }

    /// Whether acknowledgments passed a point before most of the timeouts.
    fn is_as_late(&self, there: &Direction) -> bool {
        2 * there.timeouts_after_ack >= self.data().timeouts_after_ack
    }
}

/// The same connection where what this point takes for a loss arrived, and was acknowledged, but not for the sender.
pub(super) fn acknowledged_in_vain<'t>(
    trace: &'t Trace,
    limit: &ConnectionLimit,
) -> Option<Case<'t>> {
    let (point, connection) = arrived_at(trace, limit)?;
    let there = ConnectionLimit {
        point: point.into(),
        connection,
        ..limit.clone()
    };
    let case = Case::find(trace, &there)?;
    waits_for_acks(case.data(), case.acks()).then_some(case)
}
