//! Which connection a finding is about.

use std::collections::BinaryHeap;

use crate::limits::ConnectionLimit;

/// The connection with most bytes that shows the limit; if none does, that with most bytes. Facts of connections are made
/// anew for each that is asked, so that as few as possible are.
pub(super) fn largest<'a>(
    all: impl Iterator<Item = (u64, &'a ConnectionLimit)>,
    shows: impl Fn(&ConnectionLimit) -> bool,
) -> Option<&'a ConnectionLimit> {
    let all: Vec<_> = all.collect();
    let places = all.iter().enumerate();
    let mut largest: BinaryHeap<_> = places.map(|(place, (bytes, _))| (*bytes, place)).collect();
    let (_, first) = *largest.peek()?;
    while let Some((_, place)) = largest.pop() {
        if shows(all[place].1) {
            return Some(all[place].1);
        }
    }
    Some(all[first].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limit;

    fn limits(count: u64) -> Vec<ConnectionLimit> {
        let limit = |connection| ConnectionLimit {
            point: "A".into(),
            connection,
            direction: "to_client",
            limit: Limit::Loss,
        };
        (0..count).map(limit).collect()
    }

    fn of(bytes: &[u64], shown: &[u64]) -> (Option<u64>, Vec<u64>) {
        let limits = limits(bytes.len() as u64);
        let asked = std::cell::RefCell::new(Vec::new());
        let shows = |limit: &ConnectionLimit| {
            asked.borrow_mut().push(limit.connection);
            shown.contains(&limit.connection)
        };
        let all = bytes.iter().copied().zip(&limits);
        let found = largest(all, shows).map(|limit| limit.connection);
        (found, asked.into_inner())
    }

    #[test]
    fn no_more_connections_are_asked_than_needed() {
        assert_eq!(of(&[], &[]), (None, vec![]));
        assert_eq!(of(&[10, 30, 20, 30], &[0, 1, 2, 3]), (Some(3), vec![3]));
        assert_eq!(of(&[10, 30, 20, 30], &[0, 2]), (Some(2), vec![3, 1, 2]));
        assert_eq!(of(&[10, 30, 20], &[]).0, Some(1), "none shows it");
    }
}
