//! The list of what happens next, on a virtual clock.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Virtual time in nanoseconds since the start.
pub type Nanos = u64;

/// Nanoseconds in a microsecond.
pub const MICROSECOND: Nanos = 1_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND: Nanos = 1_000_000;
/// Nanoseconds in a second.
pub const SECOND: Nanos = 1_000_000_000;

struct Entry<T> {
    at: Nanos,
    serial: u64,
    event: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.serial).cmp(&(other.at, other.serial))
    }
}

/// Events in order of time; those of one instant in the order they were entered.
pub(crate) struct Schedule<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    serial: u64,
}

impl<T> Schedule<T> {
    /// An empty schedule.
    pub(crate) fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            serial: 0,
        }
    }

    /// Enters an event.
    pub(crate) fn push(&mut self, at: Nanos, event: T) {
        self.serial += 1;
        let serial = self.serial;
        self.heap.push(Reverse(Entry { at, serial, event }));
    }

    /// Takes the next event.
    pub(crate) fn pop(&mut self) -> Option<(Nanos, T)> {
        self.heap
            .pop()
            .map(|Reverse(entry)| (entry.at, entry.event))
    }
}
