//! How many frames of single connections a page draws.

/// Connections drawn at most.
pub const DRAWN_CONNECTIONS: usize = 8;
/// Frames kept of one connection at one point at most: ten for each pixel that a plot is wide.
const FRAMES: usize = 20_000;
/// Frames on one page at most: each takes some 80 bytes, so that the page can still be mailed.
const PAGE_FRAMES: usize = 100_000;

/// The number of frames to keep of each connection at each point.
#[must_use]
pub fn drawn_frames(connections: usize, points: usize) -> usize {
    let lanes = connections * points;
    (PAGE_FRAMES / lanes.max(1)).min(FRAMES)
}
