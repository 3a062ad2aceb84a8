//! Ground truth: what really happened, to compare an analyser's findings with.
//!
//! It doesn't come from the captured bytes but from the numbers that every segment carries through
//! the model, so it's exact even where a capture can't be.

mod drops;
mod hops;

use crate::packet::Origin;
use crate::point::{Sighting, Watcher};
use crate::ranges::Ranges;
use crate::scenario::Cause;
use crate::schedule::Nanos;
use crate::side::Side;
pub use drops::DropTruth;
pub(crate) use drops::{Drop, drops};
pub(crate) use hops::hop;

/// The truth about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// The cause that makes it slow, if there is one.
    pub cause: Cause,
    /// One for each point, in path order from the client.
    pub points: Vec<PointTruth>,
    /// Two for each pair of neighbouring points, one in each direction.
    pub hops: Vec<HopTruth>,
    /// Where data frames were dropped, one for each element and direction that dropped any.
    pub drops: Vec<DropTruth>,
    /// One for each connection.
    pub connections: Vec<ConnectionTruth>,
}

impl Truth {
    /// The hop between two points, in the direction toward a side.
    #[must_use]
    pub fn hop(&self, upstream: &str, downstream: &str) -> Option<&HopTruth> {
        self.hops
            .iter()
            .find(|hop| hop.upstream == upstream && hop.downstream == downstream)
    }

    /// Data frames that were dropped for being merged, all elements together.
    #[must_use]
    pub fn dropped_for_merging(&self) -> u64 {
        self.drops.iter().map(|drop| drop.for_merging).sum()
    }

    /// The point of that name.
    #[must_use]
    pub fn point(&self, name: &str) -> Option<&PointTruth> {
        self.points.iter().find(|point| point.name == name)
    }

    /// Payload bits per second of all connections together, toward a side.
    #[must_use]
    pub fn throughput_bps(&self, toward: Side) -> f64 {
        let lanes = self
            .connections
            .iter()
            .map(|connection| &connection.toward[toward.index()]);
        let bytes: u64 = lanes.clone().map(|lane| lane.bytes).sum();
        let begin = lanes.clone().map(|lane| lane.begin).min().unwrap_or(0);
        let end = lanes.map(|lane| lane.end).max().unwrap_or(0);
        rate(bytes, begin, end)
    }
}

/// What a point captured.
#[derive(Clone, Debug, PartialEq)]
pub struct PointTruth {
    /// Its name.
    pub name: String,
    /// The offset of its clock from the true time, in nanoseconds, at the start.
    pub offset: i64,
    /// How much faster its clock runs, in parts per billion.
    pub drift_ppb: i64,
    /// Frames that went through and were not captured, whether by chance or as asked for.
    pub missed: u64,
    /// ICMP messages captured.
    pub icmp: u64,
    /// Each frame is in the file twice; the counts here are of one copy.
    pub doubled: bool,
    /// Merged frames captured here that an element farther on dropped for being merged, indexed by
    /// the side that they went toward.
    pub lost_for_merging: [u64; 2],
    /// One for each connection, indexed by the side that frames go toward.
    pub flows: Vec<[FlowTruth; 2]>,
}

/// One direction of a connection at a point, as far as it was captured there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowTruth {
    /// TCP frames; IP fragments count each.
    pub frames: u64,
    /// Frames with payload.
    pub data_frames: u64,
    /// Payload bytes, each as often as it was captured.
    pub payload_bytes: u64,
    /// Payload bytes, each once.
    pub unique_bytes: u64,
    /// Frames that a receiving NIC merged.
    pub merged_frames: u64,
    /// Segments in these frames.
    pub merged_segments: u64,
    /// Frames of several segments that the sender's NIC has yet to cut.
    pub tso_frames: u64,
    /// Segments in these frames.
    pub tso_segments: u64,
    /// Data frames of which every byte had been captured before.
    pub retransmitted_frames: u64,
    /// Payload bytes that had been captured before.
    pub retransmitted_bytes: u64,
    /// Data frames with new bytes from below the highest byte captured before.
    pub out_of_order_frames: u64,
    /// Frames without payload, SYN or FIN.
    pub pure_acks: u64,
    /// Frames that announce a window of zero.
    pub zero_windows: u64,
    /// Frames with only the pseudo-header's sum as checksum.
    pub partial_checksums: u64,
    /// Payload of the longest segment.
    pub segment_size: u32,
}

/// What became of data frames from one point to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopTruth {
    /// Where the frames come from.
    pub upstream: String,
    /// Where they go.
    pub downstream: String,
    /// The side they go toward.
    pub toward: Side,
    /// Frames of several segments, TSO frames included.
    pub merged: MergedTruth,
    /// Frames of one segment.
    pub single: SingleTruth,
    /// Data frames that passed the downstream point and were not captured there.
    pub missed_downstream: u64,
    /// Data frames that passed the upstream point and were not captured there; they don't count
    /// in the rest of this table.
    pub missed_upstream: u64,
}

/// What became of frames of several segments. `seen` is the sum of the others but `tso`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergedTruth {
    /// Captured upstream.
    pub seen: u64,
    /// Of these, TSO frames of the sender.
    pub tso: u64,
    /// Came through in one frame.
    pub arrived: u64,
    /// No segment came through.
    pub lost: u64,
    /// Some segments came through, others didn't.
    pub partly_lost: u64,
    /// All segments came through, in several frames.
    pub resplit: u64,
    /// Came through in IP fragments.
    pub fragmented: u64,
}

/// What became of frames of one segment. `seen` is the sum of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SingleTruth {
    /// Captured upstream.
    pub seen: u64,
    /// Came through as it was.
    pub arrived: u64,
    /// Didn't come through.
    pub lost: u64,
    /// Came through in a frame with others.
    pub merged_further: u64,
    /// Came through in IP fragments.
    pub fragmented: u64,
}

/// A connection as its two ends had it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionTruth {
    /// The client's port at the client.
    pub client_port: u16,
    /// Both ends have sent and received everything and closed.
    pub closed: bool,
    /// Round trip of the handshake as the client measured it.
    pub rtt: Option<Nanos>,
    /// Indexed by the side that the data goes toward.
    pub toward: [LaneTruth; 2],
}

/// One direction of a connection, end to end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneTruth {
    /// Payload bytes that the application received.
    pub bytes: u64,
    /// Retransmission timeouts at the sender.
    pub timeouts: u64,
    /// Time for which the sender had nothing to send, and nothing under way.
    pub idle: Nanos,
    /// Time for which nothing but the receiver's window held the sender back.
    pub window_limited: Nanos,
    /// Payload of the longest segment.
    pub segment_size: u32,
    /// When the connection was set up at the end that came first.
    pub begin: Nanos,
    /// When the last data arrived.
    pub end: Nanos,
}

impl ConnectionTruth {
    /// Payload bits per second toward a side, from set-up to the last byte.
    #[must_use]
    pub fn throughput_bps(&self, toward: Side) -> f64 {
        let lane = &self.toward[toward.index()];
        rate(lane.bytes, lane.begin, lane.end)
    }

    /// Throughput x RTT / segment size: the segments that a round trip carries on average.
    #[must_use]
    pub fn effective_window(&self, toward: Side) -> Option<f64> {
        let segment = f64::from(self.toward[toward.index()].segment_size);
        let rtt = self.rtt? as f64 / 1e9;
        (segment > 0.0).then(|| self.throughput_bps(toward) / 8.0 * rtt / segment)
    }
}

fn rate(bytes: u64, begin: Nanos, end: Nanos) -> f64 {
    if end > begin {
        bytes as f64 * 8e9 / (end - begin) as f64
    } else {
        0.0
    }
}

/// Counts what a point captured.
pub(crate) fn point(watcher: &Watcher, connections: usize, drops: &[Drop]) -> PointTruth {
    let all = &watcher.sightings;
    let captured = all.iter().filter(|sighting| sighting.captured);
    PointTruth {
        name: watcher.point.name.clone(),
        offset: watcher.point.offset,
        drift_ppb: watcher.point.drift_ppb,
        missed: all.iter().filter(|sighting| !sighting.captured).count() as u64,
        icmp: captured.filter(|sighting| sighting.icmp).count() as u64,
        doubled: watcher.point.doubled.or(watcher.point.routed).is_some(),
        lost_for_merging: drops::lost_for_merging(watcher, drops),
        flows: flows(all, connections),
    }
}

fn flows(sightings: &[Sighting], connections: usize) -> Vec<[FlowTruth; 2]> {
    let mut flows = vec![<[FlowTruth; 2]>::default(); connections];
    let mut seen = vec![<[Ranges; 2]>::default(); connections];
    for sighting in sightings
        .iter()
        .filter(|sighting| sighting.captured && !sighting.icmp)
    {
        let (flow, side) = (sighting.flow, sighting.toward.index());
        flows[flow][side].count(sighting, &mut seen[flow][side]);
    }
    for (flow, seen) in flows.iter_mut().zip(&seen) {
        for side in Side::BOTH {
            flow[side.index()].unique_bytes = seen[side.index()].total();
        }
    }
    flows
}

impl FlowTruth {
    fn count(&mut self, sighting: &Sighting, seen: &mut Ranges) {
        self.frames += 1;
        self.pure_acks += u64::from(sighting.pure_ack);
        self.zero_windows += u64::from(sighting.zero_window);
        self.partial_checksums += u64::from(sighting.partial_checksum);
        self.segment_size = self.segment_size.max(sighting.longest_piece);
        if sighting.len == 0 || sighting.fragment {
            return;
        }
        self.data_frames += 1;
        self.payload_bytes += sighting.len;
        self.count_segments(sighting);
        let highest = seen.end();
        let new = seen.add(sighting.start, sighting.start + sighting.len);
        self.retransmitted_bytes += sighting.len - new;
        self.retransmitted_frames += u64::from(new == 0);
        let beyond = (sighting.start + sighting.len).saturating_sub(highest.max(sighting.start));
        self.out_of_order_frames += u64::from(new > beyond);
    }

    fn count_segments(&mut self, sighting: &Sighting) {
        let segments = sighting.pieces.len() as u64;
        match sighting.origin {
            Origin::Merged => {
                self.merged_frames += 1;
                self.merged_segments += segments;
            }
            Origin::Tso => {
                self.tso_frames += 1;
                self.tso_segments += segments;
            }
            Origin::Single => {}
        }
    }
}
