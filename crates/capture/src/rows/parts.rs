//! Parts of the rows of a point that stands alone, each followed by itself.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::replayed::{ReplayedRows, end_of};
use super::{FileEnd, Rows};
use crate::counts::Counts;
use crate::facts::connection::Connection;
use crate::facts::trace::Trace;
use crate::kept::Connections;
use crate::lockstep::{TraceError, alone};
use crate::numbering::Numbering;
use crate::parts::{self, Follower, Part};
use crate::point::Totals;
use crate::reader::{Batch, End, Frames};

impl Part {
    /// The facts of its connections in order of their first frame, each with the number of that frame through all files.
    pub fn connections(self, files: &[FileEnd]) -> impl Iterator<Item = (u64, Connection)> {
        let first = |connection: &crate::connection::Connection| connection.first_number;
        let mut places: Vec<u64> = self.followed.connections.iter().map(first).collect();
        places.sort_unstable();
        let connections = Connections::of_parts(self.followed.connections, numbering(files));
        let facts = (0..connections.len() as u64).map(move |id| connections.get(id));
        places.into_iter().zip(facts.flatten())
    }
}

fn numbering(files: &[FileEnd]) -> Numbering {
    Numbering::new(files.iter().map(|file| file.last_number))
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
    let rows = ReplayedRows::new(rows, Vec::new(), false, stop).numbered(numbering(files));
    let mut rows = Box::new(rows);
    let (mut follower, mut batch) = (Follower::default(), Batch::default());
    loop {
        rows.fill(&mut batch);
        if batch.items().is_empty() {
            break;
        }
        follower.take(batch.items());
    }
    if let Some(why) = rows.finish().failed {
        let name = files.first().map(|file| file.name.clone());
        return Err(TraceError::Rows {
            name: name.unwrap_or_default(),
            why,
        });
    }
    Ok(follower.finish())
}

/// The facts of all parts, joined: the same as one reading of all rows would give, or `None` where they might differ.
#[must_use]
pub fn join_parts(
    name: &str,
    files: &[FileEnd],
    parts: Vec<Part>,
    max_connections: usize,
) -> Option<Trace> {
    if was_set_back(files) {
        return None;
    }
    let said = (&end_of_all(files), numbering(files));
    parts::join(name, parts, said, max_connections)
}

/// Warnings and counts of all files.
fn end_of_all(files: &[FileEnd]) -> End {
    end_of(files, |_| None)
}

/// Like [`join_parts`], from the counts of all parts, and the facts of their connections as [`Part::connections`]
/// returns them, in any order.
#[must_use]
pub fn join_facts(
    name: &str,
    files: &[FileEnd],
    counts: &[Counts],
    mut connections: Vec<(u64, Connection)>,
) -> Option<Trace> {
    let mut totals = Totals::default();
    for part in counts {
        totals.add_counts(part);
    }
    let waiting = counts.iter().map(|part| part.waiting).sum();
    if was_set_back(files) || !parts::is_sum(totals.doubled, waiting) {
        return None;
    }
    connections.sort_by_key(|(first, _)| *first);
    let numbered = (0..).zip(connections);
    let connections = numbered.map(|(id, (_, facts))| Connection { id, ..facts });
    let mut trace = alone(name, &totals, connections.collect(), &end_of_all(files));
    let spans = || counts.iter().filter_map(|part| part.span_s);
    trace.points[0].first_s = spans().map(|(first, _)| first).reduce(f64::min);
    trace.points[0].last_s = spans().map(|(_, last)| last).reduce(f64::max);
    Some(trace)
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
