//! The same bytes are lost again and again.

use coalescope_capture::facts::{Connection, Direction, Trace};

use super::case::Case;
use crate::finding::{Finding, HopRef, Id, Reason};
use crate::limits::{is_stuck, is_stuck_by_length, longest_arrived, opposite};
use crate::overview::Overview;
use crate::same::Same;
use crate::thresholds::SMALL_MTU;
use crate::words::{bytes, shown, time};

/// Titles and advice where long frames do not get through, without and with an ICMP message, and where no frames do.
const BLACK_HOLE: (&str, &str) = (
    "full-size segments never arrive, and nobody says so: a link on the way has a smaller MTU (a path MTU \
     black hole), and merging has no part in it",
    "find the link or tunnel with the smaller MTU (ping with DF set and falling sizes, tracepath; if no size \
     passes, the path has failed) and the firewall that drops ICMP \"packet too big\"; until then clamp the MSS \
     there or set net.ipv4.tcp_mtu_probing=1",
);
const UNHEARD: (&str, &str) = (
    "full-size segments never arrive: a link on the way has a smaller MTU, the sender goes on with them whatever \
     routers say (a path MTU black hole), and merging has no part in it",
    "look for what keeps the ICMP \"packet too big\" from the sender (a firewall, a load balancer that hands them to \
     another server), or for a sender that ignores them; until then clamp the MSS in front of that link or set \
     net.ipv4.tcp_mtu_probing=1",
);
const OUTAGE: (&str, &str) = (
    "the same bytes are lost again and again: for a time nothing of this connection gets through",
    "look for an outage at that time: a link that flaps, a route that changes, a firewall's state that is gone; if \
     other connections went on meanwhile, for what they do not share with it",
);

impl Case<'_> {
    /// The same bytes are sent again at timeout after timeout.
    pub(super) fn stuck(&self, trace: &Trace, overview: &Overview<'_>, same: &Same<'_>) -> Finding {
        let data = self.data();
        let by_length = is_stuck_by_length(data, self.acks()) && !self.is_contradicted();
        let text = format!(
            "{} timeouts in a row on the same bytes, {} waited for of {}; the longest such frame carries {}, \
             the longest that ever arrived {}",
            data.stuck_timeouts,
            time(data.stuck_s),
            time(data.duration_s.unwrap_or(0.0)),
            bytes(u64::from(data.stuck_bytes.unwrap_or(0))),
            bytes(u64::from(longest_arrived(data))),
        );
        let again = data.frames_of(|examples| &examples.retransmitted);
        let evidence = vec![shown(text, self.point, again)];
        let (title, next) = match by_length {
            true if data.rejected.single > 0 => UNHEARD,
            true => BLACK_HOLE,
            false => OUTAGE,
        };
        let mut finding = self.make(Id::LossNotMerging, title, evidence, next);
        finding.reason = by_length.then_some(Reason::PathMtu);
        finding.hop = self
            .worst_hop(trace, overview, same)
            .map(|hop| HopRef::of(hop));
        finding
    }

    /// Whether frames as long arrived on another connection of the same hosts, or short ones do not get through either: then
    /// it is not their length.
    fn is_contradicted(&self) -> bool {
        let stuck = self.data().stuck_bytes.unwrap_or(0);
        let mut others = self.at.connections.iter();
        others.any(|other| {
            let same = self.same_way(&other);
            same.is_some_and(|way| {
                let arrived = longest_arrived(way) >= stuck;
                let short = way.stuck_bytes.is_some_and(|bytes| bytes < SMALL_MTU);
                arrived || short && is_stuck(way, way)
            })
        })
    }

    /// The direction of another connection between the same hosts that goes the same way.
    fn same_way<'c>(&self, other: &'c Connection) -> Option<&'c Direction> {
        let hosts = |c: &Connection| (c.client.address, c.server.address);
        let (mine, its) = (hosts(&self.connection), hosts(other));
        if other.id == self.connection.id {
            None
        } else if mine == its {
            Some(other.direction(self.direction))
        } else {
            (mine == (its.1, its.0)).then(|| other.direction(opposite(self.direction)))
        }
    }
}
