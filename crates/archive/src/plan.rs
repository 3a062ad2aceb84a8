//! Checks before hours of work.

use std::fmt::Write;

use coalescope_capture::file::Source;

use crate::error::Error;

/// The beginning of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Its name.
    pub name: String,
    /// Time of its first frame in nanoseconds since 1970, and number of the link type; `None` if it has no frame.
    pub first: Option<(i64, u16)>,
}

impl Begin {
    /// Reads the first frame of a file.
    #[must_use]
    pub fn of(name: String, mut source: Source) -> Self {
        let first = source.next().map(|frame| (frame.time_ns, frame.link.dlt()));
        Self { name, first }
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
/// All errors, one a line: a point has no files, its files have two link types, or one begins
/// before the one in front of it.
pub fn check(points: &[(String, Vec<Begin>)]) -> Result<(), Error> {
    let wrong = points.iter().flat_map(|(name, files)| point(name, files));
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
    begun
        .windows(2)
        .flat_map(|pair| two(name, pair[0], pair[1]))
        .collect()
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

    #[test]
    fn each_thing_that_is_wrong_is_told() {
        assert_eq!(said(&[]), "point P has no files");
        let two = said(&[Some((5_000_000_000, 1)), None, Some((3_500_000_000, 113))]);
        assert!(two.contains("a of 1, c of 113"), "{two}");
        assert!(two.contains("\nerror: "), "{two}");
        assert!(two.contains("c begins 1.500 s before a"), "{two}");
    }
}
