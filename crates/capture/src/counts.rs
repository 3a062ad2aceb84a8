//! The counts of a point, as plain numbers.

/// Counts of a point, or of a part of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Frames.
    pub frames: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Frames that carried TCP.
    pub tcp_frames: u64,
    /// Bytes of frames that carried UDP.
    pub udp_bytes: u64,
    /// Frames whose headers were damaged or not all captured.
    pub unparsed: u64,
    /// Frames of a link type that is not read.
    pub unknown_link: u64,
    /// Frames that stand in the file twice.
    pub doubled: u64,
    /// The most transmissions that waited for their acknowledgment at one time.
    pub waiting: u64,
    /// Times of the first and the last frame, in seconds since 1970.
    pub span_s: Option<(f64, f64)>,
    /// Link types met.
    pub links: Vec<String>,
}
