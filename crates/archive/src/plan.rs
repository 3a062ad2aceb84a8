//! Checks before hours of work.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use coalescope_capture::file::{RawFrame, Source};

use crate::error::Error;

/// Frames by which a copy of a capture is known; a capture that has fewer is never called a copy.
const MARKED: usize = 8;
/// Bytes of each of them that count. What follows may have been cut off in a copy.
const MARKED_BYTES: usize = 40;

/// The beginning of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// Its name.
    pub name: String,
    /// Time of its first frame in nanoseconds since 1970, and number of the link type; `None` if it has no frame.
    pub first: Option<(i64, u16)>,
    /// A number that two files of one point have in common only if both have the same frames, however each is packed;
    /// `None` if too few frames are there, or all have one time.
    pub mark: Option<u64>,
}

impl Begin {
    /// Reads the first frames of a file.
    #[must_use]
    pub fn of(name: String, mut source: Source) -> Self {
        let (mut first, mut last_ns, mut mark) = (None, 0, Mark::default());
        while mark.frames < MARKED
            && let Some(frame) = source.next()
        {
            first.get_or_insert((frame.time_ns, frame.link.dlt()));
            last_ns = frame.time_ns;
            mark.add(&frame);
        }
        let advances = first.is_some_and(|(first_ns, _)| first_ns != last_ns);
        Self {
            name,
            first,
            mark: mark.number().filter(|_| advances),
        }
    }
}

/// The mark of some frames.
#[derive(Default)]
struct Mark {
    hasher: DefaultHasher,
    frames: usize,
}

impl Mark {
    fn add(&mut self, frame: &RawFrame<'_>) {
        // A copy may keep microseconds of what had nanoseconds.
        (frame.time_ns / 1_000, frame.original_len).hash(&mut self.hasher);
        frame.data[..frame.data.len().min(MARKED_BYTES)].hash(&mut self.hasher);
        self.frames += 1;
    }

    fn number(&self) -> Option<u64> {
        (self.frames == MARKED).then(|| self.hasher.finish())
    }
}

/// The numbers of one point's files in the order in which they begin; `None` if that is the given one. A file without frames
/// stays behind the one that it was given behind.
#[must_use]
pub fn order_of_time(files: &[Begin]) -> Option<Vec<usize>> {
    let mut latest_ns = i64::MIN;
    let begun = files.iter().map(|file| {
        latest_ns = file.first.map_or(latest_ns, |(first_ns, _)| first_ns);
        latest_ns
    });
    let begun: Vec<i64> = begun.collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|file| begun[*file]);
    (!begun.is_sorted()).then_some(order)
}

/// Checks how the files of each point begin.
///
/// # Errors
///
/// All errors, one a line: a point has no files, its files have two link types, two of them have the same frames, or
/// one begins before the one in front of it.
pub fn check(points: &[(String, Vec<Begin>)]) -> Result<(), Error> {
    refuse(points.iter().flat_map(|(name, files)| point(name, files)))
}

/// Checks that no file of a point is there twice: all of its frames would seem to be sent again.
///
/// # Errors
///
/// The name of each copy, one a line.
pub fn check_copies(point: &str, files: &[Begin]) -> Result<(), Error> {
    refuse(copies(point, files).into_iter())
}

fn refuse(wrong: impl Iterator<Item = String>) -> Result<(), Error> {
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let mut text = wrong[0].clone();
    for more in &wrong[1..] {
        let _ = write!(text, "\nerror: {more}");
    }
    Err(Error::Plan(text))
}

fn point(name: &str, files: &[Begin]) -> Vec<String> {
    if files.is_empty() {
        return vec![format!("point {name} has no files")];
    }
    let begun: Vec<_> = files
        .iter()
        .filter_map(|file| Some((file, file.first?)))
        .collect();
    let pairs = begun.windows(2);
    let in_turn = pairs.flat_map(|pair| two(name, pair[0], pair[1]));
    copies(name, files).into_iter().chain(in_turn).collect()
}

fn copies(point: &str, files: &[Begin]) -> Vec<String> {
    let mut known = HashMap::<u64, &str>::new();
    let mut wrong = Vec::new();
    for file in files {
        let Some(mark) = file.mark else { continue };
        match known.entry(mark) {
            Entry::Vacant(new) => {
                new.insert(&file.name);
            }
            Entry::Occupied(other) => wrong.push(format!(
                "files of point {point} have the same frames: {} and {}; give each capture once",
                other.get(),
                file.name
            )),
        }
    }
    wrong
}

type Begun<'a> = (&'a Begin, (i64, u16));

/// Errors of two consecutive files.
fn two(point: &str, before: Begun<'_>, file: Begun<'_>) -> Vec<String> {
    let (first, (first_ns, first_link)) = (&before.0.name, before.1);
    let (second, (second_ns, second_link)) = (&file.0.name, file.1);
    let mut wrong = Vec::new();
    if first_link != second_link {
        wrong.push(format!(
            "files of point {point} are of two link types: {first} of {first_link}, {second} of {second_link}; give each \
             interface a point of its own"
        ));
    }
    if second_ns < first_ns {
        wrong.push(format!(
            "files of point {point} are not in order of time: {second} begins {:.3} s before {first}; give them in order, \
             or, if the clock was set back, trace them without an archive",
            (first_ns - second_ns) as f64 / 1e9
        ));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(name: &str, first: Option<(i64, u16)>) -> Begin {
        Begin {
            name: name.to_owned(),
            first,
            ..Begin::default()
        }
    }

    fn said(files: &[Option<(i64, u16)>]) -> String {
        let files = files.iter().zip(["a", "b", "c"]);
        let files = files.map(|(first, name)| begin(name, *first)).collect();
        let checked = check(&[("P".to_owned(), files)]);
        checked
            .err()
            .map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn files_in_order_of_one_link_type_are_right() {
        assert_eq!(said(&[Some((1, 1)), None, Some((1, 1))]), "");
    }

    #[test]
    fn files_are_put_in_the_order_in_which_they_begin() {
        let order = |begun: &[Option<i64>]| {
            let files = begun.iter().map(|ns| begin("x", ns.map(|ns| (ns, 1))));
            order_of_time(&files.collect::<Vec<_>>())
        };
        assert_eq!(order(&[]), None);
        assert_eq!(order(&[Some(1), None, Some(1), Some(5)]), None);
        assert_eq!(order(&[None, Some(-3), None]), None);
        // As a shell sorts them: cap0, cap1, cap10, cap2.
        assert_eq!(
            order(&[Some(0), Some(1), Some(10), Some(2)]),
            Some(vec![0, 1, 3, 2])
        );
        // A ring that came round.
        assert_eq!(
            order(&[Some(7), Some(8), None, Some(5)]),
            Some(vec![3, 0, 1, 2])
        );
    }

    /// A classic capture of so many frames, `us` microseconds apart, cut to `snap` bytes.
    fn capture(frames: u32, us: u32, snap: usize) -> Source {
        let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1];
        let mut bytes: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
        for number in 0..frames {
            let record = [7, number * us, snap as u32, 90];
            bytes.extend(record.into_iter().flat_map(u32::to_le_bytes));
            bytes.extend(std::iter::repeat_n(number as u8, snap));
        }
        let reader = Box::new(std::io::Cursor::new(bytes));
        Source::from_reader("a capture", reader, None).expect("a capture")
    }

    fn marked(source: Source) -> Option<u64> {
        Begin::of("x".to_owned(), source).mark
    }

    #[test]
    fn a_copy_is_known_by_its_first_frames() {
        let one = marked(capture(20, 10, 90));
        assert!(one.is_some());
        // One that was taken while the file still grew, and one whose frames were cut.
        assert_eq!(marked(capture(10, 10, 90)), one);
        assert_eq!(marked(capture(20, 10, 60)), one);
        assert_ne!(marked(capture(20, 11, 90)), one);
        // Acknowledgments may be alike to the last bit, where a clock stands or few frames are in a file.
        assert_eq!(marked(capture(20, 0, 90)), None);
        assert_eq!(marked(capture(7, 10, 90)), None);
    }

    #[test]
    fn each_thing_that_is_wrong_is_told() {
        assert_eq!(said(&[]), "point P has no files");
        let two = said(&[Some((5_000_000_000, 1)), None, Some((3_500_000_000, 113))]);
        assert!(two.contains("a of 1, c of 113"), "{two}");
        assert!(two.contains("\nerror: "), "{two}");
        assert!(two.contains("c begins 1.500 s before a"), "{two}");
        let files = ["a", "b", "c"].map(|name| Begin {
            mark: Some(u64::from(name == "b")),
            ..begin(name, Some((1, 1)))
        });
        let copy = check_copies("P", &files).expect_err("a copy").to_string();
        assert!(copy.contains("same frames: a and c;"), "{copy}");
        let copy = check(&[("P".to_owned(), files.to_vec())]).expect_err("a copy");
        assert!(copy.to_string().contains("same frames: a and c;"), "{copy}");
    }
}
