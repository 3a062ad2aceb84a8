//! Connections of which one side's data never comes: behind a link with a smaller MTU whose messages are lost, the handshake and the
//! request pass, and then nothing does. The capture at the receiver has no frame to judge, but a later acknowledgment of the sender
//! that stands behind the data.

use coalescope_capture::facts::{Connection, Trace};

use crate::finding::{Finding, Id, Proof, Subject};
use crate::thresholds::SMALL_MTU;
use crate::words::{bytes, connections, reference, time, without_frames};

/// Such connections at a point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unarrived {
    count: u64,
    /// The one that lacks most.
    worst: Option<Connection>,
}

/// Bytes of the direction that lacks most.
fn lacks(connection: &Connection) -> u32 {
    let directions = [&connection.to_client, &connection.to_server];
    let all = directions.into_iter().map(|data| data.never_came_bytes);
    all.max().unwrap_or(0)
}

impl Unarrived {
    /// Counts a connection that lacks at least a segment.
    pub(crate) fn add(&mut self, connection: &Connection) {
        if lacks(connection) < SMALL_MTU {
            return;
        }
        self.count += 1;
        if self
            .worst
            .as_ref()
            .is_none_or(|worst| lacks(worst) < lacks(connection))
        {
            self.worst = Some(connection.clone());
        }
    }
}

/// The finding for the point that has most of such connections.
pub(crate) fn unarrived<'a>(
    trace: &Trace,
    at_points: impl Iterator<Item = &'a Unarrived>,
) -> Option<Finding> {
    let points = trace.points.iter().zip(at_points);
    let (point, unarrived) = points.max_by_key(|(_, unarrived)| unarrived.count)?;
    let worst = unarrived.worst.as_ref()?;
    let text = format!(
        "{} were sent, as a later acknowledgment of the same side shows, and no byte of that came here in {}",
        bytes(lacks(worst).into()),
        time(worst.last_s - worst.first_s)
    );
    let all =
        (unarrived.count > 1).then(|| format!("{} show the same", connections(unarrived.count)));
    Some(Finding {
        id: Id::LossNotMerging,
        proof: Proof::Observed,
        reason: None,
        subject: Subject::Loss,
        note: false,
        share: None,
        title: "one side's data never comes here, not even what was sent again segment by segment, and merging has no part in it"
            .to_owned(),
        connection: Some(reference(&point.name, worst)),
        hop: None,
        evidence: std::iter::once(text).chain(all).map(without_frames).collect(),
        next: "look in front of this capture for a link or tunnel with a smaller MTU whose ICMP \"packet too big\" gets lost (ping with DF \
               set and falling sizes, tracepath), or a firewall that drops data; until then clamp the MSS there"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::verdict::judge;

    /// What is said first of a connection with a request, of whose answer so many bytes never came.
    fn first(never_came: u32) -> Option<Id> {
        let mut trace = Trace {
            points: vec![sample::point("here", Default::default())],
            ..Trace::default()
        };
        let point = &mut trace.points[0];
        let mut connection = Connection {
            last_s: 6.0,
            ..Connection::default()
        };
        (
            connection.to_server.data_frames,
            connection.to_server.unique_bytes,
        ) = (1, 77);
        connection.to_client.never_came_bytes = never_came;
        point.connections = std::iter::once(connection).collect();
        judge(&trace).findings.first().map(|finding| finding.id)
    }

    #[test]
    fn an_answer_that_never_comes_is_lost() {
        assert_eq!(first(15_708), Some(Id::LossNotMerging));
        assert_eq!(first(1), Some(Id::Healthy), "a FIN takes a number, too");
        assert_eq!(first(0), Some(Id::Healthy));
    }
}
