//! Files of one point in order of time. Their names tell nothing of the order: a shell sorts `cap10` before `cap2`, and a ring that
//! came round begins anew with its first name.

use coalescope_archive::{self as archive, Begin};
use coalescope_capture::file::Source;

use super::Point;
use crate::interrupt::Interrupt;

/// Frames of a file that are looked at, to see whether the file that begins next was written at the same time.
const FRAMES: usize = 4096;
/// Files that follow one another overlap by no more than this: several queues of a host, one emptied after the other, and less
/// than by which clocks are set (`coalescope_capture`, `frame/steady`).
const IN_TURNS_NS: i64 = 10_000_000;

/// Points with their files in order of time, and a warning for each point whose files were not given so.
#[must_use]
pub fn in_order_of_time(points: Vec<Point>, interrupt: &Interrupt) -> (Vec<Point>, Vec<String>) {
    let mut warnings = Vec::new();
    let sorted = |mut point: Point| {
        let begins = begins(&point, interrupt);
        if let Some(order) = begins.and_then(|begins| order_of_time(&point, &begins, interrupt)) {
            warnings.push(format!(
                "{}: {}",
                point.name,
                words_of_order(point.inputs.len())
            ));
            let mut given: Vec<_> = point.inputs.into_iter().map(Some).collect();
            point.inputs = order.iter().filter_map(|at| given[*at].take()).collect();
        }
        point
    };
    let points = points.into_iter().map(sorted).collect();
    (points, warnings)
}

/// The warning that files are not read in the given order.
pub(crate) fn words_of_order(files: usize) -> String {
    format!("its {files} files were not given in order of time, and are read in that order")
}

/// How the files of a point begin; `None` for one file alone, or where a file can be read only once or not at all.
pub(super) fn begins(point: &Point, interrupt: &Interrupt) -> Option<Vec<Begin>> {
    if point.inputs.len() < 2 || point.inputs.iter().any(super::Input::is_stream) {
        return None;
    }
    let begins = point.inputs.iter().map(|input| input.begin(interrupt));
    begins.collect::<Result<_, _>>().ok()
}

/// The numbers of a point's files in order of time. `None` where that is the given order, or where files were written at the
/// same time and no order is right.
pub(super) fn order_of_time(
    point: &Point,
    begins: &[Begin],
    interrupt: &Interrupt,
) -> Option<Vec<usize>> {
    let order = archive::order_of_time(begins)?;
    let first_ns = |at: usize| begins[at].first.map(|(first_ns, _)| first_ns);
    let begun: Vec<usize> = order
        .iter()
        .copied()
        .filter(|at| first_ns(*at).is_some())
        .collect();
    let overlap = |pair: &[usize]| {
        let source = point.inputs[pair[0]].source(interrupt).ok();
        let next_ns = first_ns(pair[1]);
        source
            .zip(next_ns)
            .is_some_and(|(source, next_ns)| runs_after(source, next_ns))
    };
    (!begun.windows(2).any(overlap)).then_some(order)
}

/// Whether the first frames of a file last beyond a time.
fn runs_after(mut source: Source, time_ns: i64) -> bool {
    let until_ns = time_ns.saturating_add(IN_TURNS_NS);
    (0..FRAMES).any(|_| source.next().is_some_and(|frame| frame.time_ns > until_ns))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::inputs::{Named, open, sources};

    /// A classic capture whose frames have these times, in milliseconds.
    fn capture(times_ms: &[u32]) -> Vec<u8> {
        let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1];
        let record = |ms: &u32| [ms / 1_000, ms % 1_000 * 1_000, 0, 60];
        let words = header.into_iter().chain(times_ms.iter().flat_map(record));
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// The order in which files are read, and whether a warning says that the order is another than the given one.
    fn read(files: &[&[u32]]) -> (Vec<usize>, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |at: usize| folder.path().join(format!("cap{at}"));
        for (at, times_ms) in files.iter().enumerate() {
            fs::write(path(at), capture(times_ms)).expect("room");
        }
        let named = Named {
            name: "A".to_owned(),
            files: (0..files.len()).map(path).collect(),
        };
        let opened = sources(&open(vec![named]), &Interrupt::default()).expect("captures");
        let read = opened.points[0].sources.iter().map(|(name, _)| {
            let number = name
                .rsplit("cap")
                .next()
                .and_then(|number| number.parse().ok());
            number.expect("a number")
        });
        (read.collect(), !opened.reordered.is_empty())
    }

    #[test]
    fn files_are_read_in_order_of_time() {
        assert_eq!(read(&[&[1, 5], &[6, 9], &[10]]), (vec![0, 1, 2], false));
        assert_eq!(read(&[&[1, 5], &[50, 90], &[6, 9]]), (vec![0, 2, 1], true));
        // A ring that came round, with an empty file, and a frame that was written late.
        assert_eq!(
            read(&[&[60, 62], &[70], &[], &[20, 64, 30]]),
            (vec![3, 0, 1, 2], true)
        );
    }

    /// Two programs wrote them side by side: no order is right.
    #[test]
    fn files_of_the_same_time_stay_as_they_were_given() {
        assert_eq!(read(&[&[50, 500], &[20, 90, 400]]), (vec![0, 1], false));
        assert_eq!(
            read(&[&[900], &[50, 500], &[20, 90]]),
            (vec![0, 1, 2], false)
        );
    }
}
