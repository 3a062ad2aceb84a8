//! What was left out or looked odd while reading.

use coalescope_capture::facts::Point;

use crate::words::units::bytes;

/// All warnings, each with its point.
pub(crate) fn warnings(points: &[Point]) -> Vec<String> {
    points.iter().flat_map(of_point).collect()
}

fn of_point(point: &Point) -> impl Iterator<Item = String> {
    let unread = (point.unreadable_bytes > 0)
        .then(|| format!("{} could not be read", bytes(point.unreadable_bytes)));
    let texts = point.warnings.iter().cloned().chain(unread);
    texts.map(|text| format!("{}: {text}", point.name))
}
