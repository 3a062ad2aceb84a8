//! What always holds for the files of an archive. A table that breaks it was not written for these rows, and every answer that
//! is made of both would be wrong.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::files::PointFile;

/// The most shards of an archive: each has a file for each capture.
pub const MOST_SHARDS: u32 = 1024;

/// Checks the files of an archive, in any order.
///
/// # Errors
///
/// What cannot be.
pub(crate) fn check_files(files: &[PointFile]) -> Result<(), Error> {
    let mut files: Vec<&PointFile> = files.iter().collect();
    files.sort_by_key(|file| (file.place.point, file.place.file));
    let files = files.as_slice();
    let wrong = shards(files)
        .or_else(|| points(files))
        .or_else(|| numbers(files))
        .or_else(|| counts(files));
    wrong.map_or(Ok(()), |wrong| Err(Error::Files(wrong)))
}

fn shards(files: &[&PointFile]) -> Option<String> {
    let first = files.first()?.place.shards;
    let is_wrong = |file: &&PointFile| file.place.shards != first;
    if files.iter().any(is_wrong) {
        return Some("its files have several numbers of shards".to_owned());
    }
    (!(1..=MOST_SHARDS).contains(&first))
        .then(|| format!("{first} shards; an archive has 1 to {MOST_SHARDS}"))
}

/// Points are numbered from 0, and each has one name, which no other one has.
fn points(files: &[&PointFile]) -> Option<String> {
    let place = |file: &&PointFile| (file.place.point, file.place.point_name.clone());
    let points: BTreeSet<_> = files.iter().map(place).collect();
    let names: BTreeSet<_> = points.iter().map(|(_, name)| name).collect();
    let are_numbered = (0..).zip(&points).all(|(number, point)| point.0 == number);
    if !are_numbered || names.len() < points.len() {
        return Some("points are missing, or there twice".to_owned());
    }
    let claimed = |file: &&&PointFile| usize::from(file.place.points) != points.len();
    let file = files.iter().find(claimed)?;
    Some(format!(
        "{} of {} points are there",
        points.len(),
        file.place.points
    ))
}

/// Files of a point are numbered from 0.
fn numbers(files: &[&PointFile]) -> Option<String> {
    let points = files.chunk_by(|one, next| one.place.point == next.place.point);
    let mut gaps = points.flat_map(|files| (0..).zip(files));
    let (_, file) = gaps.find(|(number, file)| file.place.file != *number)?;
    Some(format!(
        "files of point {} are missing, or there twice",
        file.place.point_name
    ))
}

/// Frames of all files of a point are counted through, and so are bytes.
fn counts(files: &[&PointFile]) -> Option<String> {
    let sum = |of: fn(&PointFile) -> u64| {
        files
            .iter()
            .try_fold(0_u64, |sum, file| sum.checked_add(of(file)))
    };
    let sums = [
        sum(|file| file.end.last_number),
        sum(|file| file.end.unreadable_bytes),
    ];
    let is_more = |file: &&PointFile| file.end.frames > file.end.last_number;
    (sums.contains(&None) || files.iter().any(is_more))
        .then(|| "numbers of frames or bytes are too large".to_owned())
}

#[cfg(test)]
mod tests {
    use coalescope_capture::rows::FileEnd;

    use super::*;
    use crate::place::Place;

    fn file(point: u16, file: u32) -> PointFile {
        PointFile {
            place: Place {
                point,
                point_name: format!("P{point}"),
                file,
                points: 2,
                shards: 4,
            },
            given: file,
            end: FileEnd {
                frames: 3,
                last_number: 3,
                ..FileEnd::default()
            },
        }
    }

    fn is_right(change: impl FnOnce(&mut Vec<PointFile>)) -> bool {
        let mut files = vec![file(0, 0), file(0, 1), file(1, 0)];
        change(&mut files);
        check_files(&files).is_ok()
    }

    #[test]
    fn each_thing_that_cannot_be_is_refused() {
        assert!(is_right(|_| {}));
        assert!(is_right(Vec::clear));
        let wrong: [fn(&mut Vec<PointFile>); 12] = [
            |files| files[1].place.shards = 5,
            |files| files.iter_mut().for_each(|file| file.place.shards = 0),
            |files| {
                files
                    .iter_mut()
                    .for_each(|file| file.place.shards = u32::MAX);
            },
            |files| drop(files.remove(0)),
            |files| drop(files.remove(2)),
            |files| files.insert(1, file(0, 0)),
            |files| files[2].place.point = 2,
            |files| files[1].place.point_name = "other".to_owned(),
            |files| files[2].place.point_name = "P0".to_owned(),
            |files| files[2].place.points = 1,
            |files| files[0].end.frames = 4,
            |files| files[0].end.last_number = u64::MAX,
        ];
        for (number, wrong) in wrong.into_iter().enumerate() {
            assert!(!is_right(wrong), "{number}");
        }
        assert!(!is_right(|files| files
            .iter_mut()
            .for_each(|file| file.end.unreadable_bytes = u64::MAX)));
    }
}
