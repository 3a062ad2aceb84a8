//! From facts to a verdict.

use std::collections::BTreeSet;

use coalescope_capture::facts::{Connection, Point, Trace};
use coalescope_capture::rows::{Counts, join_facts};
use coalescope_knowledge::Diagnosis;

use super::records::{Placed, PointFacts};
use super::tables::{Facts, records};
use crate::error::Error;
use crate::files::{PointFile, ends_of};
use crate::trace::by_point;
use crate::whole::check_files;

/// A trace and its diagnosis.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The facts of all shards, as in one trace of the captures.
    pub trace: Trace,
    /// The diagnosis.
    pub diagnosis: Diagnosis,
}

/// Judges the facts of all shards, once.
///
/// # Errors
///
/// If tables are not of facts, facts of a shard are missing or given twice, or the shards share
/// state: then the facts of all shards followed together are needed. If the facts are not of these files.
pub fn judge(facts: &Facts, files: &[PointFile]) -> Result<Judged, Error> {
    let trace = trace_of(facts, files)?;
    let diagnosis = coalescope_knowledge::judge(&trace);
    Ok(Judged { trace, diagnosis })
}

fn trace_of(facts: &Facts, files: &[PointFile]) -> Result<Trace, Error> {
    check_files(files)?;
    let mut points: Vec<PointFacts> = Vec::new();
    records("points", &facts.points, |point| points.push(point))?;
    points.sort_by_key(|point| (point.point, point.shard));
    let mut connections: Vec<Placed> = Vec::new();
    records("connections", &facts.connections, |placed| {
        connections.push(placed);
    })?;
    if points.iter().any(|point| point.shard.is_some()) {
        return by_shards(&points, connections, files);
    }
    let mut trace = Trace {
        points: whole(points, connections)?,
        ..Trace::default()
    };
    check_points(&trace.points, files)?;
    records("hops", &facts.hops, |hop| trace.hops.push(hop))?;
    records("datagram hops", &facts.datagram_hops, |hop| {
        trace.datagram_hops.push(hop);
    })?;
    Ok(trace)
}

/// The point whose shards were followed separately.
fn by_shards(
    points: &[PointFacts],
    connections: Vec<Placed>,
    files: &[PointFile],
) -> Result<Trace, Error> {
    let shards: BTreeSet<Option<u32>> = points.iter().map(|point| point.shard).collect();
    let counts: Vec<Counts> = points.iter().map(PointFacts::counts).collect();
    let mut files: Vec<&PointFile> = files.iter().collect();
    files.sort_by_key(|file| file.place.file);
    let name = files.first().map(|file| file.place.point_name.clone());
    let name = name.unwrap_or_default();
    let wanted: u64 = files.iter().map(|file| file.end.frames).sum();
    let found: u64 = counts.iter().map(|part| part.frames).sum();
    if shards.len() < points.len() || found != wanted {
        return Err(Error::Rows {
            point: name,
            wanted,
            found,
        });
    }
    let ends = ends_of(files);
    let connections = connections.into_iter();
    let connections = connections.map(|placed| (placed.followed.first_place, placed.facts));
    join_facts(&name, &ends, &counts, connections.collect()).ok_or(Error::Together)
}

/// Points whose shards were followed together.
fn whole(points: Vec<PointFacts>, mut connections: Vec<Placed>) -> Result<Vec<Point>, Error> {
    connections.sort_by_key(|placed| (placed.followed.point, placed.facts.id));
    let mut rest = connections.into_iter().peekable();
    let mut all = Vec::new();
    for (number, point) in (0..).zip(points) {
        let of_point = |placed: &Placed| placed.followed.point == number;
        let connections = std::iter::from_fn(|| rest.next_if(of_point));
        let connections: Vec<_> = connections.map(|placed| placed.facts).collect();
        let is_whole = (0..).zip(&connections).all(|(id, facts)| facts.id == id);
        if point.point != number || !is_whole {
            return Err(Error::Facts);
        }
        all.push(point.with(connections));
    }
    match rest.next() {
        Some(_) => Err(Error::Facts),
        None => Ok(all),
    }
}

/// Checks that the points have the frames of these files; points are in the order of the path, which need not be the given one.
fn check_points(points: &[Point], files: &[PointFile]) -> Result<(), Error> {
    let wanted = by_point(files);
    if wanted.len() != points.len() {
        return Err(Error::Facts);
    }
    for files in wanted.values() {
        let name = &files[0].place.point_name;
        let wanted: u64 = files.iter().map(|file| file.end.frames).sum();
        let point = points.iter().find(|point| point.name == *name);
        let found = point.map_or(0, |point| point.frames);
        if found != wanted {
            return Err(Error::Rows {
                point: name.clone(),
                wanted,
                found,
            });
        }
    }
    Ok(())
}

impl PointFacts {
    fn with(self, connections: Vec<Connection>) -> Point {
        Point {
            name: self.name,
            files: self.files,
            link_types: self.link_types,
            frames: self.frames,
            bytes: self.bytes,
            tcp_frames: self.tcp_frames,
            udp_bytes: self.udp_bytes,
            first_s: self.first_s,
            last_s: self.last_s,
            unreadable_bytes: self.unreadable_bytes,
            unparsed_frames: self.unparsed_frames,
            doubled_frames: self.doubled_frames,
            warnings: self.warnings,
            connections: connections.into_iter().collect(),
        }
    }
}
