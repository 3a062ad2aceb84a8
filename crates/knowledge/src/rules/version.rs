//! Order of releases: `2.6.32-220.el6` is before `2.6.38`.

use std::cmp::Ordering;

/// Whether one release is before another; never if either is unknown.
pub(super) fn before(release: &str, other: &str) -> bool {
    order(release, other) == Some(Ordering::Less)
}

/// Whether one release is equal to another or after it; never if either is unknown.
pub(super) fn at_least(release: &str, other: &str) -> bool {
    order(release, other).is_some_and(Ordering::is_ge)
}

fn order(release: &str, other: &str) -> Option<Ordering> {
    let (release, other) = (numbers(release)?, numbers(other)?);
    // Compared with the precision of `other`: 5.4.41 is neither before 5.4 nor after it.
    Some(release[..release.len().min(other.len())].cmp(&other))
}

/// The numbers at the beginning, up to the first that is not joined by a dot.
fn numbers(release: &str) -> Option<Vec<u64>> {
    let version: &str = release
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()?;
    let numbers: Result<Vec<u64>, _> = version
        .trim_matches('.')
        .split('.')
        .map(str::parse)
        .collect();
    numbers.ok()
}

#[cfg(test)]
mod tests {
    use super::{at_least, before};

    #[test]
    fn releases_are_ordered_by_their_numbers() {
        assert!(before("2.6.32-220.el6.x86_64", "2.6.38"));
        assert!(before("5.4.40", "5.4.41"));
        assert!(!before("5.4.41-generic", "5.4.41"));
        assert!(!before("6.1.0-25-amd64", "5.15"));
        assert!(before("14.1-RELEASE-p5", "14.2"));
        assert!(at_least("10.0.17763.1999", "10.0.17763"));
        assert!(before("5.4", "5.4.41"));
        assert!(at_least("5.4.41", "5.4"));
    }

    #[test]
    fn an_unknown_release_is_neither_before_nor_after() {
        assert!(!before("", "5.4") && !at_least("", "5.4"));
        assert!(!before("unknown", "5.4") && !at_least("unknown", "5.4"));
    }
}
