//! Connections that wait for their handshake.

use coalescope_capture::facts::{Hop, Trace};

use super::case::Case;
use crate::finding::{Finding, HopRef, Id, Subject};
use crate::judged::at;
use crate::same::Same;
use crate::thresholds::SYN_AGAIN_S;
use crate::words::{time, without_frames};

/// Why a connection waits for its handshake.
pub(crate) const LATE_SYN: &str = "a SYN or its answer is lost, or comes late";

impl Case<'_> {
    pub(super) fn handshake(&self, trace: &Trace, same: &Same<'_>) -> Finding {
        let text = format!(
            "connected {} after the first SYN, of {} in all",
            time(self.connection.phases.connect_s.unwrap_or(0.0)),
            time(self.connection.last_s - self.connection.first_s),
        );
        let finding = self.make(
            Id::LossNotMerging,
            &format!("the connection waits for its handshake: {LATE_SYN}, and merging has no part in it"),
            vec![without_frames(text)],
            "look at what drops SYNs: a full listen queue (nstat TcpExtListenDrops), a limit of new connections, a firewall, a \
             lossy link; leave merging as it is",
        );
        let mut finding = Finding {
            subject: Subject::Handshake,
            ..finding
        };
        if let Some((hop, connect_s)) = self.hop_of_lost_syns(trace, same) {
            let text = format!(
                "at {} the handshake took {}: the first SYN that {} saw never came there",
                hop.to,
                time(connect_s),
                hop.from,
            );
            finding.evidence.insert(1, without_frames(text));
            finding.hop = Some(HopRef::of(hop));
        }
        finding
    }

    /// The hop on which SYNs were lost, and how long the handshake took behind it: in front of it, the first SYN waited for
    /// another one. Where the answer is lost, both sides of the hop see all SYNs.
    fn hop_of_lost_syns<'t>(&self, trace: &'t Trace, same: &Same<'_>) -> Option<(&'t Hop, f64)> {
        let group = same.group(self.point, self.connection.id);
        let connect_s = |point, id| at(trace, point, id)?.phases.connect_s;
        trace.hops.iter().find_map(|hop| {
            let mut mine = hop.connections.iter().filter(|seen| {
                seen.direction == "to_server" && same.group(&hop.from, seen.from_id) == group
            });
            let seen = mine.next()?;
            let before_s = connect_s(&hop.from, seen.from_id)?;
            let behind_s = connect_s(&hop.to, seen.to_id)?;
            (before_s - behind_s >= SYN_AGAIN_S / 2.0).then_some((hop, behind_s))
        })
    }
}
