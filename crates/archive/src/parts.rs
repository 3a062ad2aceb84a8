//! The shards of an archive with one point, several at a time.

use std::sync::Arc;

use coalescope_capture::facts::Trace;
use coalescope_capture::rows::{follow_part, join_parts};
use coalescope_capture::{Options, TraceError};

use crate::error::Error;
use crate::files::ends_of;
use crate::folder::{Folder, FolderRows};
use crate::place::Place;
use crate::workers::each;

/// The facts of an archive with one point, its shards followed in parallel; `None` where all rows
/// have to be followed in order, because the result would differ: hops are between points,
/// fragments are in another shard than the rest of their datagrams, and some facts of connections
/// depend on other connections.
pub(crate) fn trace_parts(folder: &Folder, options: &Options) -> Result<Option<Trace>, Error> {
    let Some(place) = alone(folder).filter(|_| options.threads > 1) else {
        return Ok(None);
    };
    let ends = ends_of(folder.files());
    let shards: Vec<u32> = (0..place.shards).collect();
    let follow = |shard: &u32| {
        let rows = Box::new(FolderRows::of_shard(folder, 0, *shard));
        follow_part(rows, &ends, Arc::clone(&options.stop))
    };
    let broken = || TraceError::Reader {
        name: folder.path().display().to_string(),
    };
    let parts = each(&shards, options.threads, follow, broken)?;
    let trace = join_parts(&place.point_name, &ends, parts, options.max_connections);
    let wanted: u64 = ends.iter().map(|end| end.frames).sum();
    // If rows are missing, reading all of them in order reports which.
    Ok(trace.filter(|trace| trace.points[0].frames == wanted))
}

/// The place of the first file, if each shard can be followed separately.
pub(crate) fn alone(folder: &Folder) -> Option<&Place> {
    let file = folder.files().first()?;
    (folder.points() == 1 && !folder.has_fragments()).then_some(&file.place)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use coalescope_capture::file::Source;
    use coalescope_simulate::{run, story};

    use super::*;
    use crate::digest::digest;
    use crate::folder::Write;

    /// How many connections are found in parts; none where all rows have to be followed in their order.
    fn found(name: &str, points: u16) -> Option<usize> {
        let mut scenario = story(name).expect("a story");
        scenario.connections = 8;
        let bytes = run(&scenario).points[0].bytes.clone();
        let folder = tempfile::tempdir().expect("a folder");
        let write = Write::begin(folder.path(), 4).expect("a new folder");
        let file = |point| {
            let reader = Box::new(Cursor::new(bytes.clone()));
            let source = Source::from_reader("one", reader, None).expect("a capture");
            let place = Place {
                point,
                point_name: format!("P{point}"),
                file: 0,
                points,
                shards: 4,
            };
            let digest = digest("one".to_owned(), source, place);
            write.add(digest, |_| true).expect("room")
        };
        let files: Vec<_> = (0..points).map(file).collect();
        write.finish(&files).expect("room");
        let archive = Folder::open(folder.path()).expect("an archive");
        let options = Options {
            threads: 2,
            ..Options::default()
        };
        let trace = trace_parts(&archive, &options).expect("rows");
        trace.map(|trace| trace.points[0].connections.len())
    }

    #[test]
    fn shards_of_one_point_are_followed_side_by_side_where_that_is_the_same() {
        assert_eq!(found("healthy-gro", 1), Some(8));
        assert_eq!(found("healthy-gro", 2), None);
    }
}
