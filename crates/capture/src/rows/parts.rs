//! Parts of the rows of a point that stands alone, each followed by itself: all rows of a connection are in one of them.
//!
//! What connections share decides nothing, or no more is said: copies of frames, from which a capture is known to double
//! them, and memory for what is not acknowledged. Then all rows have to be followed in their order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::replayed::{ReplayedRows, end_of};
use super::{FileEnd, Rows};
use crate::facts::trace::Trace;
use crate::kept::Connections;
use crate::lockstep::{TraceError, alone};
use crate::numbering::Numbering;
use crate::outstanding::MAX_PER_POINT;
use crate::point::{Followed, Point};
use crate::reader::{BATCH, Batch, Frames};

/// What was followed of a part.
pub struct Part {
    followed: Followed,
    /// Transmissions that waited for their acknowledgment at one time, at most.
    waiting: usize,
}

/// Follows the connections of a part. The rows are of one point, by file and number, and none is a fragment.
///
/// # Errors
///
/// If not all rows can be read.
pub fn follow_part(
    rows: Box<dyn Rows>,
    files: &[FileEnd],
    stop: Arc<AtomicBool>,
) -> Result<Part, TraceError> {
    let numbering = Numbering::new(files.iter().map(|file| file.last_number));
    let mut rows = Box::new(ReplayedRows::new(rows, Vec::new(), false, stop).numbered(numbering));
    let (mut point, mut batch, mut waiting) = (Point::default(), Batch::default(), 0);
    loop {
        rows.fill(&mut batch);
        if batch.items().is_empty() {
            break;
        }
        point.take_all(batch.items());
        waiting = waiting.max(point.common.waiting() + BATCH);
    }
    if let Some(why) = rows.finish().failed {
        let name = files.first().map(|file| file.name.clone());
        return Err(TraceError::Rows {
            name: name.unwrap_or_default(),
            why,
        });
    }
    point.settle();
    Ok(Part {
        followed: point.followed(),
        waiting,
    })
}

/// The facts of all parts: those of one reading of all rows, or `None` where these may be others.
#[must_use]
pub fn join_parts(
    name: &str,
    files: &[FileEnd],
    parts: Vec<Part>,
    max_connections: usize,
) -> Option<Trace> {
    let waiting: usize = parts.iter().map(|part| part.waiting).sum();
    let mut all = Followed::default();
    for part in parts {
        all.add(part.followed);
    }
    let shares = all.totals.doubled > 0 || waiting > MAX_PER_POINT || was_set_back(files);
    if shares || max_connections > 0 && all.connections.len() > max_connections {
        return None;
    }
    let numbering = Numbering::new(files.iter().map(|file| file.last_number));
    let connections = Connections::of_parts(all.connections, numbering);
    Some(alone(name, &all.totals, connections, &end_of(files)))
}

/// Whether a clock may have been set back, as far as what is known of files tells.
fn was_set_back(files: &[FileEnd]) -> bool {
    let mut latest_ns = i64::MIN;
    files.iter().filter(|file| file.frames > 0).any(|file| {
        let back_ns = latest_ns.saturating_sub(file.first_ns).max(file.back_ns);
        latest_ns = latest_ns.max(file.last_ns);
        back_ns >= crate::frame::SET_BACK_NS
    })
}
