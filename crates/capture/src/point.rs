//! One observation point: frames in, connections followed.

use std::collections::BTreeSet;

use crate::connection::{Connection, Tracked};
use crate::flow::Data;
use crate::frame::{Digest, Frame, TooBig};
use crate::outstanding::Budget;
use crate::table::Table;

/// A capture doubles frames as a rule once it has doubled this many.
const DOUBLING: u64 = 16;

/// Counts of one point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    pub(crate) tcp_frames: u64,
    pub(crate) unparsed: u64,
    pub(crate) unknown_link: u64,
    pub(crate) doubled: u64,
    pub(crate) time_ns: Option<(i64, i64)>,
    pub(crate) links: BTreeSet<&'static str>,
    last_link: &'static str,
}

impl Totals {
    /// Counts a frame of any sort.
    #[inline]
    pub(crate) fn add(&mut self, original_len: u32, time_ns: i64, link: &'static str) {
        if !std::ptr::eq(link, self.last_link) {
            self.last_link = link;
            self.links.insert(link);
        }
        self.frames += 1;
        self.bytes += u64::from(original_len);
        self.time_ns = Some(match self.time_ns {
            None => (time_ns, time_ns),
            Some((first, last)) => (first.min(time_ns), last.max(time_ns)),
        });
    }

    /// Whether at least one frame in four comes twice.
    #[inline]
    fn doubling(&self) -> bool {
        self.doubled >= DOUBLING && self.doubled * 4 >= self.tcp_frames
    }
}

/// One point.
#[derive(Debug, Default)]
pub(crate) struct Point {
    pub(crate) totals: Totals,
    pub(crate) table: Table,
    pub(crate) budget: Budget,
}

impl Point {
    /// Takes a digest, with its frame if it is TCP; gives what a TCP frame did, and in which connection.
    #[inline]
    pub(crate) fn take(&mut self, digest: &Digest, frame: &Frame) -> Option<(u32, Tracked)> {
        match digest {
            Digest::Tcp => Some(self.track(frame)),
            Digest::TooBig(error) => {
                self.reject(error);
                None
            }
            Digest::Other => None,
            Digest::Unparsed => {
                self.totals.unparsed += 1;
                None
            }
            Digest::UnknownLink => {
                self.totals.unknown_link += 1;
                None
            }
        }
    }

    #[inline]
    fn track(&mut self, frame: &Frame) -> (u32, Tracked) {
        self.totals.tcp_frames += 1;
        let doubling = self.totals.doubling();
        let (id, connection) = self.table.of(frame);
        let tracked = connection.track(frame, doubling, &mut self.budget);
        self.totals.doubled += u64::from(tracked.data == Data::Doubled);
        (id, tracked)
    }

    fn reject(&mut self, error: &TooBig) {
        if let Some(connection) = self
            .table
            .find(&error.key)
            .and_then(|id| self.table.get_mut(id))
        {
            connection.reject(error);
        }
    }

    /// Settles what is still open.
    pub(crate) fn settle(&mut self) {
        self.table
            .for_each(|connection| connection.finish(&mut self.budget));
    }

    /// Gives everything away.
    pub(crate) fn finish(self) -> (Totals, impl Iterator<Item = Connection>) {
        (self.totals, self.table.into_connections())
    }
}
