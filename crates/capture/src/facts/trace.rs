//! The facts of a whole trace.

use schemars::JsonSchema;
use serde::Serialize;

use super::connection::Connection;
use super::datagrams::DatagramHop;
use super::hop::Hop;
use crate::kept::Connections;

/// So many frames at one time are no burst: no clock is so coarse that a transfer shows nothing of it.
pub const UNTIMED_FRAMES: u64 = 20;
/// What text2pcap adds from each frame to the next where its input has no times: a microsecond (its manual, -t).
pub const COUNTED_NS: i64 = 1_000;

/// Everything read from one set of captures.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Trace {
    /// Points in path order.
    pub points: Vec<Point>,
    /// Hops between points that saw the same connections one after the other, in the direction in which data went.
    pub hops: Vec<Hop>,
    /// The same of UDP datagrams, where the same ones were found at both points.
    pub datagram_hops: Vec<DatagramHop>,
}

/// What one observation point saw.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Point {
    /// Its name: as given, or the file's stem.
    pub name: String,
    /// The files it was read from.
    pub files: Vec<String>,
    /// Link types met.
    pub link_types: Vec<String>,
    /// Frames read.
    pub frames: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Frames that carried TCP.
    pub tcp_frames: u64,
    /// Bytes of frames that carried UDP, QUIC among it: of it is judged from point to point whether merged ones are lost.
    pub udp_bytes: u64,
    /// Time of the first frame, seconds since 1970.
    pub first_s: Option<f64>,
    /// Time of the last frame, seconds since 1970.
    pub last_s: Option<f64>,
    /// Bytes of the files that could not be read.
    pub unreadable_bytes: u64,
    /// Frames whose headers were damaged or not all captured.
    pub unparsed_frames: u64,
    /// Frames that stand in the file twice (a mirror of ingress and egress).
    pub doubled_frames: u64,
    /// What was left out or looked odd.
    pub warnings: Vec<String>,
    /// Connections, in order of their first frame.
    #[schemars(with = "Vec<Connection>")]
    pub connections: Connections,
}
