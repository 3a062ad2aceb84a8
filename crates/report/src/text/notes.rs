//! Warnings of a trace.

use coalescope_capture::facts::{Point, Trace};

use crate::words::hops::unmatched;

/// All warnings: those of points with their names, then pairs of points without a common connection.
pub(crate) fn warnings(trace: &Trace) -> Vec<String> {
    let of_points = trace.points.iter().flat_map(of_point);
    of_points.chain(unmatched(trace)).collect()
}

fn of_point(point: &Point) -> impl Iterator<Item = String> {
    let texts = point.warnings.iter();
    texts.map(|text| format!("{}: {text}", point.name))
}
