//! What was left out or looked odd while reading.

use coalescope_capture::facts::{Point, Trace};

use crate::words::hops::unmatched;

/// All warnings: those of points, each with its name, then pairs of points that have nothing in common.
pub(crate) fn warnings(trace: &Trace) -> Vec<String> {
    let of_points = trace.points.iter().flat_map(of_point);
    of_points.chain(unmatched(&trace.hops)).collect()
}

fn of_point(point: &Point) -> impl Iterator<Item = String> {
    let texts = point.warnings.iter();
    texts.map(|text| format!("{}: {text}", point.name))
}
