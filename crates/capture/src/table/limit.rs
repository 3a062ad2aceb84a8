//! Beyond a number of connections the oldest closed ones make room for new ones.

use std::collections::VecDeque;

use super::{Table, mark, spread};
use crate::connection::Connection;
use crate::frame::Frame;

/// A closed connection counts as over after it has been quiet for so long: five of Linux's shortest retransmission
/// timeouts, so that its last frames have come.
const QUIET_NS: i64 = 1_000_000_000;
/// Connections are searched for closed ones again when this part of their number is new.
const PART: usize = 8;

/// How many connections are kept, and which make room next.
#[derive(Debug, Default)]
pub(super) struct Limit {
    /// 0 for no limit.
    most: usize,
    /// Whether memory is short.
    is_short: Option<fn() -> bool>,
    /// How long a closed connection has to be quiet.
    quiet_ns: i64,
    /// Connections that were over at the last search, the oldest first.
    over: VecDeque<u32>,
    /// New connections since then.
    since: usize,
    /// Order of birth of the connection in each place, once places were used again.
    births: Vec<u64>,
    born: u64,
    /// Connections that made room, to be summed up.
    gone: Vec<Connection>,
}

impl Limit {
    /// The places of so many connections in order of their first frames; `None` if that is their own
    /// order.
    pub(super) fn order(&self, len: usize) -> Option<Vec<u32>> {
        if self.births.is_empty() {
            return None;
        }
        let birth = |place: &u32| self.births.get(*place as usize).copied();
        let mut places: Vec<u32> = (0..len as u32).collect();
        places.sort_by_key(|place| birth(place).unwrap_or(u64::MAX));
        Some(places)
    }
}

impl Table {
    /// Keeps no more than so many connections, if enough of them are over; 0 keeps all, unless memory
    /// is short.
    pub(crate) fn set_limit(&mut self, most: usize, is_short: Option<fn() -> bool>) {
        (self.limit.most, self.limit.is_short) = (most, is_short);
        self.limit.quiet_ns = QUIET_NS;
    }

    /// Keeps no more connections than there are, once memory is short. Then the last frames of a closed connection are
    /// not waited for: they may belong to none.
    #[cold]
    pub(super) fn look_at_memory(&mut self) {
        let is_limited = (1..=self.len).contains(&self.limit.most);
        if self.len > 0 && !is_limited && self.limit.is_short.is_some_and(|is_short| is_short()) {
            self.limit.most = self.len;
            self.limit.quiet_ns = 0;
        }
    }

    /// Returns the connections that made room since the last call.
    #[inline]
    pub(crate) fn take_gone(&mut self) -> Vec<Connection> {
        std::mem::take(&mut self.limit.gone)
    }

    /// Puts a new connection in the place of the oldest one that is over, if there are too many.
    pub(super) fn replace_oldest(&mut self, frame: &Frame) -> Option<u32> {
        if self.limit.most == 0 || self.len < self.limit.most {
            return None;
        }
        let id = self.oldest_over(frame.time_ns)?;
        self.note_birth(id);
        let new = Connection::new(frame);
        let gone = std::mem::replace(self.get_mut(id)?, new);
        self.forget_key(&gone, id);
        self.limit.gone.push(gone);
        Some(id)
    }

    fn oldest_over(&mut self, now_ns: i64) -> Option<u32> {
        self.limit.since += 1;
        if self.limit.over.is_empty() && self.limit.since > self.limit.most / PART {
            self.look_through(now_ns);
        }
        while let Some(id) = self.limit.over.pop_front() {
            if self.is_over(id, now_ns) {
                return Some(id);
            }
        }
        None
    }

    #[cold]
    fn look_through(&mut self, now_ns: i64) {
        self.limit.since = 0;
        let all = 0..self.len as u32;
        let mut over: Vec<u32> = all.filter(|id| self.is_over(*id, now_ns)).collect();
        let births = &self.limit.births;
        over.sort_by_key(|id| births.get(*id as usize).copied().unwrap_or(u64::MAX));
        self.limit.over = over.into();
    }

    fn is_over(&self, id: u32, now_ns: i64) -> bool {
        self.get(id)
            .is_some_and(|known| now_ns - known.last_ns >= self.limit.quiet_ns && known.is_over())
    }

    fn note_birth(&mut self, id: u32) {
        let limit = &mut self.limit;
        // Connections that were added in new places since the last time.
        for _ in limit.births.len()..self.len {
            limit.births.push(limit.born);
            limit.born += 1;
        }
        limit.births[id as usize] = limit.born;
        limit.born += 1;
    }

    fn forget_key(&mut self, gone: &Connection, id: u32) {
        let hash = spread(mark(&gone.key, &self.state));
        if let Ok(entry) = self.latest.find_entry(hash, |place| place.id == id) {
            entry.remove();
        }
        self.one_way.forget(&gone.key);
    }
}
