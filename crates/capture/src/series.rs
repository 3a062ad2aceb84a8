//! The frames of a few connections, one by one: what pictures of a connection are drawn from.
//!
//! [`series`] reads the same captures a second time, with the same machinery as [`crate::trace()`]
//! but for chosen connections only, and keeps of each of their frames what a time-sequence plot
//! shows: where its bytes lie, what they were, and what became of them on the next hop. It keeps
//! at most so many frames a connection and point as asked for; what is kept then is in [`Left`].

mod build;
mod choice;
mod lane;
mod rates;
mod record;
mod recorder;
mod thin;

use crate::facts::connection::{self, Endpoint};
use crate::facts::trace::Trace;
use crate::lockstep::{self, Options, PointInput, Progress, TraceError};
pub use choice::Chosen;
pub use rates::{Bin, Rates};
use recorder::Recorder;

/// Upper ends, in bytes, of the classes of [`Way::lengths`]; the last class has none. Up to a
/// full Ethernet frame they are those of RMON (RFC 2819, `etherStatsPkts64Octets` and its kin),
/// beyond it come jumbo frames, 64 KiB of GRO, and BIG TCP.
pub const LENGTH_CLASSES: [u32; 11] = [
    64, 127, 255, 511, 1023, 1518, 4095, 9018, 16_383, 32_767, 65_550,
];

/// One connection at all points that saw it.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The end that sent the SYN, as the first lane's point saw it.
    pub client: Endpoint,
    /// The other end.
    pub server: Endpoint,
    /// Its first frame at any point, seconds since 1970 by the clock of the first lane. All times
    /// of the lanes count from here.
    pub began_s: f64,
    /// One for each point that saw it, in path order.
    pub lanes: Vec<Lane>,
    /// The lane nearest to the sender of data to the server, and the lane nearest to the sender of data to the client.
    pub nearest_sender: [usize; 2],
}

/// A connection at one point.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// The point.
    pub point: String,
    /// The files that the point was read from.
    pub files: Vec<String>,
    /// The trace's facts of the connection at this point.
    pub connection: connection::Connection,
    /// Whether times are by the first lane's clock. If not, the clocks' difference is not known,
    /// and the first frame here is shown at the time of the first frame there.
    pub is_aligned: bool,
    /// Its frames, in the order of their times.
    pub frames: Vec<Frame>,
    /// Counts of frames that are not among them.
    pub left: Left,
    /// What goes to the server, and to the client.
    pub ways: [Way; 2],
}

/// Frames left out of a lane that had more than were to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Single frames that arrived, and ACKs. The others are kept as long as there is room.
    pub plain: u64,
    /// Merged frames that arrived, if there were more of them than room.
    pub merged: u64,
    /// Frames lost, sent again or out of order, if there were more of them than room.
    pub telling: u64,
}

/// One direction of a lane.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Payload of a full segment, in bytes; `None` if no data went this way.
    pub segment_size_bytes: Option<u32>,
    /// Whether frames of several segments were not segmented yet by their sender (TSO), rather than merged.
    pub is_uncut: bool,
    /// Window scale of this direction (RFC 7323): windows are shifted left by so many bits. `None` without a handshake
    /// in the capture, and then the window is not known.
    pub window_scale: Option<u8>,
    /// Data frames by their length on the wire, by [`LENGTH_CLASSES`]; none is left out.
    pub lengths: [u64; LENGTH_CLASSES.len() + 1],
    /// Data over time; no frame is left out.
    pub rates: Rates,
}

/// A frame of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Its number in its file, from 1, as Wireshark counts.
    pub number: u64,
    /// Which of the lane's files it is in, from 0.
    pub file: u16,
    /// Nanoseconds since the connection began.
    pub at_ns: i64,
    /// Whether it goes to the client.
    pub to_client: bool,
    /// Its first payload byte: bytes since the first that this direction sent, which is 0. Frames
    /// without payload have the sender's next byte here.
    pub start: i64,
    /// Payload bytes.
    pub payload: u32,
    /// Bytes on the wire, headers included.
    pub length: u32,
    /// Segments it carries; 1 if it is single, 0 without payload.
    pub segments: u32,
    /// What its payload was.
    pub data: Data,
    /// The first byte of the other direction that it does not acknowledge; `None` without ACK, or
    /// where nothing of the other direction was seen to count from.
    pub ack: Option<i64>,
    /// The window it advertises in bytes, scaled; `None` if the scale is not known.
    pub window: Option<u32>,
    /// SACK blocks (RFC 2018): bytes of the other direction, from and up to.
    pub sack: Vec<(i64, i64)>,
    /// TCP flags as they stand in the header, FIN being 1.
    pub flags: u16,
    /// What became of it on the way to the next point; `None` for frames without payload, at the
    /// last point, and where nothing is known.
    pub fate: Option<Fate>,
}

/// What the payload of a frame was, as its point saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Data {
    /// No payload, or that of a keep-alive.
    #[default]
    None,
    /// New bytes, next in order or beyond.
    New,
    /// New bytes from below the highest seen: overtaken.
    OutOfOrder,
    /// New bytes from below the highest seen, more than a round trip late: most likely lost before this point and sent
    /// again.
    Late,
    /// Bytes all seen before: a retransmission.
    Again,
}

/// What became of a data frame on the way to the next point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrived as it was.
    Arrived,
    /// It arrived as several frames, or as IP fragments.
    Split,
    /// It arrived inside a larger frame.
    MergedFurther,
    /// A part of it arrived.
    PartlyLost,
    /// Nothing of it arrived.
    Lost,
    /// Acknowledged by the receiver, so that the next capture missed it.
    Missed,
    /// The captures do not overlap enough to tell.
    NotJudged,
}

impl Frame {
    /// One past its last payload byte.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.start + i64::from(self.payload)
    }

    /// Whether it was lost on the way to the next point, all of it or a part.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self.fate, Some(Fate::Lost | Fate::PartlyLost))
    }
}

impl Left {
    /// The sum of all three.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.plain + self.merged + self.telling
    }
}

/// Reads captures again and returns the frames of chosen connections, at most `limit` of each connection at each point;
/// connections that were not found are left out.
///
/// `trace` is the result of the first reading. The inputs must be the same, opened anew.
///
/// # Errors
///
/// Those of [`crate::trace()`].
pub fn series(
    inputs: Vec<PointInput>,
    options: &Options,
    (trace, chosen): (&Trace, &[Chosen]),
    limit: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Series>, TraceError> {
    let groups = choice::groups(trace, chosen, options.separate);
    let mut recorder = Recorder::new(trace, &groups, limit);
    let inputs = lockstep::of_files(inputs, options);
    lockstep::observe(inputs, options, &mut recorder, progress)?;
    Ok(build::series(trace, recorder.finish()))
}
