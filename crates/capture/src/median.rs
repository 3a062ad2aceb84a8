//! The median.

/// The median; of an even number of values the upper one of the two in the middle.
pub(crate) fn median(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}
