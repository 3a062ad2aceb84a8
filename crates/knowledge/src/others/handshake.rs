//! Connections that wait for their handshake.

use super::case::Case;
use crate::finding::{Finding, Id, Subject};
use crate::words::{time, without_frames};

/// Why a connection waits for its handshake.
pub(crate) const LATE_SYN: &str = "a SYN or its answer is lost, or comes late";

impl Case<'_> {
    pub(super) fn handshake(&self) -> Finding {
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
        Finding {
            subject: Subject::Handshake,
            ..finding
        }
    }
}
