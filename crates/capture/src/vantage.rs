//! Whether frames of several segments were merged on the way to a point, or not segmented yet by their sender.

use crate::connection::Connection;
use crate::facts::connection::Vantage;
use crate::flow::Flow;

/// Whether this direction's frames of several segments were not segmented yet (TSO, GSO).
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

/// Like [`is_uncut`], for a flow of a connection, with the point's place taken from its round trips.
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

/// Whether GRO merged the frames: complete checksums on single frames beside partial ones on large frames are left by
/// GRO alone.
fn merged_by_gro(flow: &Flow) -> bool {
    flow.counts.complete >= 2 && flow.counts.partial == 0 && flow.counts.large_partial > 0
}
