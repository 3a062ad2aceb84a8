//! From rows to facts.

use std::sync::Arc;

use arrow_array::RecordBatch;
use coalescope_capture::Options;
use coalescope_capture::facts::Trace;
use coalescope_capture::rows::{Counts, Rows, follow_part};

use super::records::{Followed, Placed, PointFacts};
use super::tables::Facts;
use crate::error::Error;
use crate::files::{PointFile, ends_of};
use crate::folder::{Folder, FolderRows};
use crate::parts::alone;
use crate::trace::{BatchRows, trace_batches, trace_in_order};
use crate::whole::check_files;

/// The parts that can be followed separately: each shard of an archive, or `None` for all shards
/// together. Hops are between points, and fragments are in another shard than the rest of their
/// datagrams.
#[must_use]
pub fn parts(folder: &Folder) -> Vec<Option<u32>> {
    match alone(folder) {
        Some(place) => (0..place.shards).map(Some).collect(),
        None => vec![None],
    }
}

/// The facts of a shard of an archive; without one, of all shards followed together.
///
/// # Errors
///
/// If rows are missing or damaged, or shards of this archive have to be followed together.
pub fn facts(folder: &Folder, shard: Option<u32>, options: &Options) -> Result<Facts, Error> {
    let Some(shard) = shard else {
        return whole(trace_in_order(folder, options, &mut |_| {})?);
    };
    if !parts(folder).contains(&Some(shard)) {
        return Err(Error::Together);
    }
    let rows = Box::new(FolderRows::of_shard(folder, 0, shard));
    part(rows, folder.files(), shard, options)
}

/// The facts of rows in memory, in any order: of a shard, or of all.
///
/// # Errors
///
/// If a table has no rows' columns, rows or their files are missing, or shards of these files have to be followed together.
pub fn facts_of(
    batches: &[RecordBatch],
    files: &[PointFile],
    shard: Option<u32>,
    options: &Options,
) -> Result<Facts, Error> {
    let Some(shard) = shard else {
        return whole(trace_batches(batches, files, options)?);
    };
    check_files(files)?;
    let rows = BatchRows::new(batches, 0)?;
    if !rows.are_of(files) {
        return Err(Error::NoFiles);
    }
    let is_alone = files.iter().all(|file| file.place.points == 1);
    if !is_alone || rows.has_fragments() {
        return Err(Error::Together);
    }
    part(Box::new(rows), files, shard, options)
}

fn part(
    rows: Box<dyn Rows>,
    files: &[PointFile],
    shard: u32,
    options: &Options,
) -> Result<Facts, Error> {
    let name = files.first().map(|file| file.place.point_name.clone());
    let name = name.unwrap_or_default();
    let ends = ends_of(files);
    let part = follow_part(rows, &ends, Arc::clone(&options.stop))?;
    let mut facts = Facts::default();
    facts.add_points(&[PointFacts::of_shard(&name, shard, part.counts())])?;
    let connections = part.connections(&ends);
    facts.add_connections(connections.map(|(first_place, facts)| Placed {
        followed: Followed {
            point: 0,
            point_name: name.clone(),
            shard: Some(shard),
            first_place,
        },
        facts,
    }))?;
    facts.add_hops(&[])?;
    facts.add_datagram_hops(&[])?;
    Ok(facts)
}

fn whole(trace: Trace) -> Result<Facts, Error> {
    let mut facts = Facts::default();
    let points: Vec<_> = (0..)
        .zip(&trace.points)
        .map(|(number, point)| PointFacts::of_whole(number, point))
        .collect();
    facts.add_points(&points)?;
    for (number, point) in (0..).zip(trace.points) {
        let followed = Followed {
            point: number,
            point_name: point.name,
            ..Followed::default()
        };
        let connections = point.connections.iter();
        facts.add_connections(connections.map(|facts| Placed {
            followed: followed.clone(),
            facts,
        }))?;
    }
    facts.add_hops(&trace.hops)?;
    facts.add_datagram_hops(&trace.datagram_hops)?;
    Ok(facts)
}

impl PointFacts {
    fn of_shard(name: &str, shard: u32, counts: Counts) -> Self {
        let Counts {
            frames,
            bytes,
            tcp_frames,
            udp_bytes,
            unparsed,
            unknown_link,
            doubled,
            waiting,
            span_s,
            links,
        } = counts;
        Self {
            name: name.to_owned(),
            shard: Some(shard),
            link_types: links,
            frames,
            bytes,
            tcp_frames,
            udp_bytes,
            first_s: span_s.map(|(first, _)| first),
            last_s: span_s.map(|(_, last)| last),
            unparsed_frames: unparsed,
            unknown_link_frames: unknown_link,
            doubled_frames: doubled,
            waiting_frames: waiting,
            ..Self::default()
        }
    }

    fn of_whole(number: u16, point: &coalescope_capture::facts::Point) -> Self {
        Self {
            point: number,
            name: point.name.clone(),
            files: point.files.clone(),
            link_types: point.link_types.clone(),
            frames: point.frames,
            bytes: point.bytes,
            tcp_frames: point.tcp_frames,
            udp_bytes: point.udp_bytes,
            first_s: point.first_s,
            last_s: point.last_s,
            unreadable_bytes: point.unreadable_bytes,
            unparsed_frames: point.unparsed_frames,
            doubled_frames: point.doubled_frames,
            warnings: point.warnings.clone(),
            ..Self::default()
        }
    }

    /// The counts of [`Self::of_shard`].
    pub(super) fn counts(&self) -> Counts {
        Counts {
            frames: self.frames,
            bytes: self.bytes,
            tcp_frames: self.tcp_frames,
            udp_bytes: self.udp_bytes,
            unparsed: self.unparsed_frames,
            unknown_link: self.unknown_link_frames,
            doubled: self.doubled_frames,
            waiting: self.waiting_frames,
            span_s: self.first_s.zip(self.last_s),
            links: self.link_types.clone(),
        }
    }
}
