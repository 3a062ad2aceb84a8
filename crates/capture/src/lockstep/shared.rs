//! One input whose interfaces are points.
//!
//! The frames of the file are in the order of their timestamps, which are by as many clocks as there are hosts. If
//! these clocks differ, a frame's record at one point may stand far from its record at the next. So frames are read
//! into a queue for each point, and are taken from there as if each point had a file of its own.

use std::collections::VecDeque;

use super::path::{self, Over};
use crate::feed::Feed;
use crate::reader::{End, Item};

/// Frames held, 16 MiB: as many as a hop's points may be apart, for two of them (`MAX_AHEAD` in [`crate::hop`]).
const WINDOW: usize = 128 * 1024;

/// An input with a queue for each of its points.
pub(super) struct Shared<'scope> {
    pub(super) feed: Feed<'scope>,
    /// By the point's number on the path.
    queues: Vec<VecDeque<Item>>,
    /// The number that a point has in the file, by its number on the path.
    in_file: Vec<usize>,
    held: usize,
}

impl<'scope> Shared<'scope> {
    /// The points in path order, as far as their first frames show it, and else in the order of the file; and hops over points.
    pub(super) fn new(feed: Feed<'scope>) -> (Self, Vec<Over>) {
        let mut shared = Self {
            feed,
            queues: Vec::new(),
            in_file: Vec::new(),
            held: 0,
        };
        shared.fill();
        let over = shared.sort();
        (shared, over)
    }

    pub(super) fn points(&self) -> usize {
        self.queues.len()
    }

    /// The next frame of a point.
    pub(super) fn next(&self, point: usize) -> Option<&Item> {
        self.queues[point].front()
    }

    /// Takes the next frame of a point, and whether more of the file was read for it.
    pub(super) fn take(&mut self, point: usize) -> Option<(Item, bool)> {
        let item = self.queues[point].pop_front()?;
        self.held -= 1;
        Some((item, self.fill()))
    }

    /// Reads on while there is room; true if anything was read.
    fn fill(&mut self) -> bool {
        let mut more = false;
        while self.held < WINDOW && !self.feed.batch.items().is_empty() {
            let batch = std::mem::take(&mut self.feed.batch);
            for item in batch.items() {
                let point = self.point(usize::from(item.point));
                self.queues[point].push_back(item.clone());
                self.held += 1;
            }
            self.feed.batch = batch;
            self.feed.refill();
            more = true;
        }
        more
    }

    /// The point with a number in the file, new if need be.
    fn point(&mut self, number: usize) -> usize {
        let known = self.in_file.iter().position(|one| *one == number);
        known.unwrap_or_else(|| {
            self.in_file.push(number);
            self.queues.push(VecDeque::new());
            self.in_file.len() - 1
        })
    }

    fn sort(&mut self) -> Vec<Over> {
        let mut order: Vec<usize> = (0..self.points()).collect();
        order.sort_by_key(|point| self.in_file[*point]);
        self.set_order(&order);
        let ahead = self.queues.iter().map(|queue| queue.iter());
        let Some(path) = path::of_first_frames(ahead.collect()) else {
            return Vec::new();
        };
        if let Some(order) = path.order {
            self.set_order(&order);
        }
        path.over
    }

    fn set_order(&mut self, order: &[usize]) {
        let queues = order
            .iter()
            .map(|point| std::mem::take(&mut self.queues[*point]));
        self.queues = queues.collect();
        self.in_file = order.iter().map(|point| self.in_file[*point]).collect();
    }

    /// The names, warnings and counts of the end, for each point in path order.
    pub(super) fn finish(self) -> Option<End> {
        let mut end = self.feed.finish()?;
        let numbers = || self.in_file.iter();
        end.names = numbers()
            .map(|number| std::mem::take(&mut end.names[*number]))
            .collect();
        let incomplete = |number: &usize| end.incomplete_datagrams.get(*number).copied();
        end.incomplete_datagrams = numbers()
            .map(|number| incomplete(number).unwrap_or(0))
            .collect();
        Some(end)
    }
}
