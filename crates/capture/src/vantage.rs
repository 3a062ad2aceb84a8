//! Where a point stands for a connection, and whether frames of several segments were merged on
//! the way to it or not cut yet by their sender.

use crate::connection::Connection;
use crate::facts::{Trace, Vantage};
use crate::flow::Flow;
use crate::summary;

/// A side this much closer than the whole path is where the point stands.
const NEAR: f64 = 0.1;
/// Shorter paths than this (loopback, one machine) are too noisy to be divided.
const SHORT_NS: i64 = 100_000;

/// How long the two halves of the path take from this point, there and back, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Halves {
    pub(crate) to_server_ns: Option<i64>,
    pub(crate) to_client_ns: Option<i64>,
}

impl Halves {
    /// The whole path.
    pub(crate) fn whole_ns(self) -> Option<i64> {
        Some(self.to_server_ns? + self.to_client_ns?)
    }

    /// Where the point stands.
    pub(crate) fn vantage(self) -> Vantage {
        let (Some(server), Some(client)) = (self.to_server_ns, self.to_client_ns) else {
            return Vantage::Unknown;
        };
        let whole = server + client;
        if whole < SHORT_NS {
            Vantage::Unknown
        } else if (client as f64) < NEAR * whole as f64 {
            Vantage::Client
        } else if (server as f64) < NEAR * whole as f64 {
            Vantage::Server
        } else {
            Vantage::Between
        }
    }
}

/// Whether this direction's frames of several segments were not cut yet (TSO, GSO).
///
/// A sender that leaves segmentation to its NIC leaves checksums to it too (TSO needs TX checksum
/// offload, Documentation/networking/segmentation-offloads.rst), so that its single frames show
/// partial checksums as well. Frames that came over a wire have complete ones, whoever merged
/// them. Where checksums do not tell, a point at the sender is given the benefit of the doubt:
/// calling TSO merging would accuse the innocent.
pub(crate) fn is_uncut(flow: &Flow, at_sender: bool) -> bool {
    let counts = &flow.counts;
    if flow.tally.odd().length_zero > 0 {
        return true;
    }
    if counts.partial > 0 && counts.partial >= counts.complete {
        return true;
    }
    at_sender && !merged_by_gro(flow)
}

/// The same for a flow of a connection, with the point's place taken from its round trips.
pub(crate) fn flow_is_uncut(connection: &Connection, flow: usize) -> bool {
    let from_client = (flow == 0) == connection.client_is_low;
    let sender = if from_client {
        Vantage::Client
    } else {
        Vantage::Server
    };
    is_uncut(
        &connection.flows[flow],
        connection.halves().vantage() == sender,
    )
}

/// Of two points that both seem to stand at one end, the farther one stands between: round trips
/// alone do not tell a host from the switch that it hangs on.
pub(crate) fn set_between(trace: &mut Trace) {
    for hop in &trace.hops {
        for seen in &hop.connections {
            let (near_from, near_to) = match seen.direction {
                "to_client" => (Vantage::Server, Vantage::Client),
                _ => (Vantage::Client, Vantage::Server),
            };
            let place = |name: &str| trace.points.iter().position(|point| point.name == name);
            let Some((from, to)) = place(&hop.from).zip(place(&hop.to)) else {
                continue;
            };
            let vantage = |point: usize, id| Some(trace.points[point].connections.get(id)?.vantage);
            let from_vantage = vantage(from, seen.from_id);
            let to_vantage = vantage(to, seen.to_id);
            let mut set = |point: usize, id| {
                let connections = &mut trace.points[point].connections;
                connections.change(id, |connection| connection.vantage = Vantage::Between);
            };
            if from_vantage == Some(near_to) && to_vantage.is_some() {
                set(from, seen.from_id);
            }
            if to_vantage == Some(near_from) && from_vantage.is_some() {
                set(to, seen.to_id);
            }
        }
    }
}

/// Frames that a hop merged cannot be frames that their sender had not cut: what counts as uncut
/// at the next point was merged after all.
pub(crate) fn disprove_uncut(trace: &mut Trace) {
    let merged: Vec<(String, u64, &'static str)> = trace
        .hops
        .iter()
        .flat_map(|hop| hop.connections.iter().map(move |seen| (hop, seen)))
        .filter(|(_, seen)| seen.single.merged_further > 0)
        .map(|(hop, seen)| (hop.to.clone(), seen.to_id, seen.direction))
        .collect();
    for (name, id, direction) in merged {
        if let Some(point) = trace.points.iter_mut().find(|point| point.name == name) {
            point.connections.change(id, |connection| {
                summary::call_merged(match direction {
                    "to_client" => &mut connection.to_client,
                    _ => &mut connection.to_server,
                });
            });
        }
        for hop in trace.hops.iter_mut().filter(|hop| hop.from == name) {
            hop.call_merged(id, direction);
        }
    }
}

/// Complete checksums on single frames beside partial ones on large frames are GRO's own mark.
fn merged_by_gro(flow: &Flow) -> bool {
    flow.counts.complete >= 2 && flow.counts.partial == 0 && flow.counts.large_partial > 0
}
