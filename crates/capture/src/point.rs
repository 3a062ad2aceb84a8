//! One observation point: frames in, connections followed.

use std::collections::BTreeSet;
use std::mem::discriminant;

use coalescope_wire::LinkType;

use crate::connection::{Connection, Tracked};
use crate::counts::Counts;
use crate::datagrams::Datagrams;
use crate::flow::Data;
use crate::frame::{Frame, TooBig};
use crate::kept::Connections;
use crate::outstanding::Common;
use crate::reader::{BATCH, Item};
use crate::row::Kind;
use crate::summary::seconds;
use crate::table::Table;

/// A capture doubles frames as a rule once it has doubled this many.
const DOUBLING: u64 = 16;
/// One frame in this many must be a copy: without identifications only copies of data are recognised for sure, not
/// those of the acknowledgments beside the data, and none while the receiver reports a loss.
const DOUBLING_SHARE: u64 = 8;

/// Counts of one point.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    pub(crate) tcp_frames: u64,
    pub(crate) udp_bytes: u64,
    pub(crate) unparsed: u64,
    pub(crate) unknown_link: u64,
    pub(crate) doubled: u64,
    /// UDP datagrams that came when there was no more room.
    pub(crate) datagrams_forgotten: u64,
    /// Sums of the connections that made room for others.
    pub(crate) summed: Summed,
    first_ns: i64,
    last_ns: i64,
    pub(crate) links: BTreeSet<String>,
    last_link: LinkType,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            frames: 0,
            bytes: 0,
            tcp_frames: 0,
            udp_bytes: 0,
            unparsed: 0,
            unknown_link: 0,
            doubled: 0,
            datagrams_forgotten: 0,
            summed: Summed::default(),
            first_ns: i64::MAX,
            last_ns: i64::MIN,
            links: BTreeSet::new(),
            last_link: LinkType::Other(u16::MAX),
        }
    }
}

impl Totals {
    /// Counts frames of any sort.
    fn add(&mut self, items: &[Item]) {
        let mut bytes = 0;
        let (mut first_ns, mut last_ns) = (self.first_ns, self.last_ns);
        for item in items {
            // All link types that the walk does not know have one name, so their numbers need not be compared.
            if discriminant(&item.link) != discriminant(&self.last_link) {
                self.note_link(item.link);
            }
            bytes += u64::from(item.frame.original_len);
            first_ns = first_ns.min(item.frame.time_ns);
            last_ns = last_ns.max(item.frame.time_ns);
        }
        self.frames += items.len() as u64;
        self.bytes += bytes;
        (self.first_ns, self.last_ns) = (first_ns, last_ns);
    }

    /// Adds the counts of another part of the point.
    fn add_all(&mut self, other: Self) {
        let Self {
            frames,
            bytes,
            tcp_frames,
            udp_bytes,
            unparsed,
            unknown_link,
            doubled,
            datagrams_forgotten,
            summed: _,
            first_ns,
            last_ns,
            links,
            last_link: _,
        } = other;
        self.frames += frames;
        self.bytes += bytes;
        self.tcp_frames += tcp_frames;
        self.udp_bytes += udp_bytes;
        self.unparsed += unparsed;
        self.unknown_link += unknown_link;
        self.doubled += doubled;
        self.datagrams_forgotten += datagrams_forgotten;
        self.first_ns = self.first_ns.min(first_ns);
        self.last_ns = self.last_ns.max(last_ns);
        self.links.extend(links);
    }

    /// The counts of this part of the point.
    pub(crate) fn counts(&self) -> Counts {
        let span = self.span_ns();
        Counts {
            frames: self.frames,
            bytes: self.bytes,
            tcp_frames: self.tcp_frames,
            udp_bytes: self.udp_bytes,
            unparsed: self.unparsed,
            unknown_link: self.unknown_link,
            doubled: self.doubled,
            waiting: 0,
            span_s: span.map(|(first, last)| (seconds(first), seconds(last))),
            links: self.links.iter().cloned().collect(),
        }
    }

    /// Adds the counts of a part, except for times.
    pub(crate) fn add_counts(&mut self, part: &Counts) {
        self.add_all(Self {
            frames: part.frames,
            bytes: part.bytes,
            tcp_frames: part.tcp_frames,
            udp_bytes: part.udp_bytes,
            unparsed: part.unparsed,
            unknown_link: part.unknown_link,
            doubled: part.doubled,
            links: part.links.iter().cloned().collect(),
            ..Self::default()
        });
    }

    #[cold]
    fn note_link(&mut self, link: LinkType) {
        self.last_link = link;
        self.links.insert(link.name().to_owned());
    }

    #[cold]
    fn note_doubled(&mut self, tcp_frames: u64, common: &mut Common) {
        self.doubled += 1;
        common.doubling = is_doubling(self.doubled, tcp_frames);
    }

    /// Times of the first and the last frame.
    pub(crate) fn span_ns(&self) -> Option<(i64, i64)> {
        (self.frames > 0).then_some((self.first_ns, self.last_ns))
    }
}

/// Whether so many frames, and such a share of all, are copies that the capture doubles frames as a rule.
fn is_doubling(doubled: u64, tcp_frames: u64) -> bool {
    doubled >= DOUBLING && doubled * DOUBLING_SHARE >= tcp_frames
}

/// Sums of connections that are not kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summed {
    pub(crate) connections: u64,
    pub(crate) frames: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) retransmitted: u64,
}

impl Summed {
    fn add(&mut self, gone: &Connection) {
        self.connections += 1;
        for flow in &gone.flows {
            self.frames += flow.counts.frames;
            self.payload_bytes += flow.counts.payload_bytes;
            self.retransmitted += u64::from(flow.tally.odd().retransmitted);
        }
    }
}

/// The totals and connections of a part of a point.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    pub(crate) totals: Totals,
    pub(crate) connections: Vec<Connection>,
}

impl Followed {
    /// Adds another part.
    pub(crate) fn add(&mut self, other: Self) {
        self.totals.add_all(other.totals);
        self.connections.extend(other.connections);
    }
}

/// One point.
#[derive(Debug, Default)]
pub(crate) struct Point {
    pub(crate) totals: Totals,
    pub(crate) table: Table,
    pub(crate) common: Common,
    /// Kept where points are compared with each other.
    pub(crate) datagrams: Option<Datagrams>,
}

impl Point {
    /// Processes frames, when nobody asks what each of them did.
    pub(crate) fn take_all(&mut self, items: &[Item]) {
        for items in items.chunks(BATCH) {
            self.take_few(items);
        }
    }

    /// Processes no more frames than the first-level cache holds.
    fn take_few(&mut self, items: &[Item]) {
        if self.table.is_large() {
            self.table.warm(items);
            self.common.crowded = true;
        }
        self.totals.add(items);
        let mut rest = items;
        while let Some((first, behind)) = rest.split_first() {
            rest = if first.is_tcp() {
                &rest[self.take_run(rest)..]
            } else {
                self.take_other(first);
                behind
            };
        }
        for mut gone in self.table.take_gone() {
            gone.finish(&mut self.common);
            self.totals.summed.add(&gone);
        }
    }

    /// Processes the first frames, as far as they are of one connection, which is looked up once; returns how many.
    #[inline(never)]
    fn take_run(&mut self, items: &[Item]) -> usize {
        let Some(first) = items.first() else { return 0 };
        let (_, connection) = self.table.of(&first.frame);
        let mut taken = 0;
        for item in items {
            if taken > 0 && !item.continues() {
                break;
            }
            taken += 1;
            if connection.take(&item.frame, &mut self.common) {
                let tcp_frames = self.totals.tcp_frames + taken as u64;
                self.totals.note_doubled(tcp_frames, &mut self.common);
            }
        }
        if self.common.crowded {
            connection.rest(&mut self.common);
        }
        self.totals.tcp_frames += taken as u64;
        taken
    }

    /// Processes a frame; if it is TCP, returns its connection and what it did.
    pub(crate) fn take(&mut self, item: &Item) -> Option<(u32, Tracked)> {
        self.totals.add(std::slice::from_ref(item));
        if item.is_tcp() {
            return Some(self.track(&item.frame));
        }
        self.take_other(item);
        None
    }

    #[cold]
    fn take_other(&mut self, item: &Item) {
        match item.digest {
            Kind::TooBig => {
                if let Some(error) = item.frame.too_big() {
                    self.reject(error, item.frame.time_ns);
                }
            }
            Kind::Unparsed => self.totals.unparsed += 1,
            Kind::UnknownLink => self.totals.unknown_link += 1,
            Kind::Udp => {
                self.totals.udp_bytes += u64::from(item.frame.original_len);
                if let Some(datagrams) = &mut self.datagrams {
                    datagrams.take(&item.frame);
                }
            }
            Kind::Tcp | Kind::Other | Kind::FirstFragment | Kind::LaterFragment => {}
        }
    }

    #[inline(always)]
    fn track(&mut self, frame: &Frame) -> (u32, Tracked) {
        self.totals.tcp_frames += 1;
        let (id, connection) = self.table.of(frame);
        let tracked = connection.track(frame, &mut self.common);
        if tracked.data == Data::Doubled {
            let tcp_frames = self.totals.tcp_frames;
            self.totals.note_doubled(tcp_frames, &mut self.common);
        }
        (id, tracked)
    }

    fn reject(&mut self, error: &TooBig, now_ns: i64) {
        if let Some(connection) = self
            .table
            .find(&error.key)
            .and_then(|id| self.table.get_mut(id))
        {
            connection.reject(error, now_ns);
        }
    }

    /// Settles what is still open.
    pub(crate) fn settle(&mut self) {
        self.table
            .for_each(|connection| connection.finish(&mut self.common));
    }

    /// Returns the remembered UDP datagrams.
    pub(crate) fn take_datagrams(&mut self) -> Datagrams {
        let datagrams = self.datagrams.take().unwrap_or_default();
        self.totals.datagrams_forgotten = datagrams.forgotten();
        datagrams
    }

    /// Returns the totals and connections, to be joined with other parts.
    pub(crate) fn followed(self) -> Followed {
        let (blocks, _) = self.table.into_blocks();
        Followed {
            totals: self.totals,
            connections: blocks.into_iter().flatten().collect(),
        }
    }

    /// Returns the totals and all connections.
    pub(crate) fn finish(self) -> (Totals, Connections) {
        let (followed, order) = self.table.into_blocks();
        (self.totals, Connections::new(followed, order))
    }
}
