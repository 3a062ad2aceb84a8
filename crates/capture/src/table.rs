//! The connections of one point.

mod limit;
mod one_way;

use coalescope_hugepage as hugepage;
use coalescope_wire::Flags;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::connection::Connection;
use crate::frame::Frame;
use crate::key::Key;
use crate::reader::Item;
use limit::Limit;
use one_way::OneWay;

/// Number of connections whose state, about 1 KiB each with its boxes, fills a second-level cache.
const LARGE: usize = 1024;
/// Connections are kept in blocks, so that growing moves none of them. A block is a mapping of its
/// own, of which only what is filled takes memory, and large enough for huge pages: 31 MB.
pub(crate) const BLOCK: usize = 32 * LARGE;

/// No connection.
const NONE: u32 = u32::MAX;

/// Where a connection is, with so many bits of its key's hash that other connections are hardly ever looked at, and
/// that a growing table need not look at any.
#[derive(Clone, Copy, Debug)]
struct Place {
    mark: u32,
    id: u32,
}

/// The part of a key's hash that is kept.
#[inline]
fn mark(key: &Key, state: &RandomState) -> u32 {
    (key.hash(state) >> 32) as u32
}

/// The mark as a hash for the hash table, which uses the lowest bits and the seven highest.
#[inline]
fn spread(mark: u32) -> u64 {
    u64::from(mark) << 32 | u64::from(mark)
}

/// Connections by key; a port used again gives a new one.
#[derive(Debug, Default)]
pub(crate) struct Table {
    state: RandomState,
    latest: HashTable<Place>,
    blocks: Vec<Vec<Connection>>,
    len: usize,
    /// The connection of the frame before.
    last: u32,
    /// Where the connections of the current batch are, as far as known when the batch came, in the order of their
    /// look-ups.
    guesses: Vec<u32>,
    guesses_used: usize,
    /// Marks of their keys.
    marks: Vec<u32>,
    limit: Limit,
    one_way: OneWay,
}

impl Table {
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut Connection> {
        let id = id as usize;
        self.blocks.get_mut(id / BLOCK)?.get_mut(id % BLOCK)
    }

    pub(crate) fn get(&self, id: u32) -> Option<&Connection> {
        self.blocks
            .get(id as usize / BLOCK)?
            .get(id as usize % BLOCK)
    }

    /// The connection of a frame, new if need be.
    #[inline]
    pub(crate) fn of(&mut self, frame: &Frame) -> (u32, &mut Connection) {
        if !frame.follows {
            self.last = self.look_up(frame);
        }
        let id = self.last as usize;
        (self.last, &mut self.blocks[id / BLOCK][id % BLOCK])
    }

    fn look_up(&mut self, frame: &Frame) -> u32 {
        if let Some(id) = self.guessed(frame) {
            return id;
        }
        let Some(id) = self.find(&frame.key) else {
            return self.insert(frame);
        };
        let is_succeeded = self
            .get(id)
            .is_some_and(|known| known.is_succeeded_by(frame));
        if is_succeeded {
            self.replace(id, frame)
        } else {
            id
        }
    }

    /// The connection of a frame, if the guess was right; a SYN can begin another connection, so it is always looked
    /// up.
    #[inline]
    fn guessed(&mut self, frame: &Frame) -> Option<u32> {
        let id = *self.guesses.get(self.guesses_used)?;
        self.guesses_used += 1;
        let is_it = !frame.flags.has(Flags::SYN) && self.get(id)?.key == frame.key;
        is_it.then_some(id)
    }

    /// The latest connection with this key, in one of its directions at least.
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        let other = || self.find_own(self.one_way.connection(key)?);
        self.find_own(key).or_else(other)
    }

    /// The latest connection whose first frame had this key.
    #[inline]
    fn find_own(&self, key: &Key) -> Option<u32> {
        let mark = mark(key, &self.state);
        let is_it =
            |place: &Place| place.mark == mark && self.get(place.id).is_some_and(|c| c.key == *key);
        self.latest.find(spread(mark), is_it).map(|place| place.id)
    }

    /// The connection that most likely has the key with this mark; the key is not compared.
    #[inline]
    fn guess(&self, mark: u32) -> u32 {
        let place = self.latest.find(spread(mark), |place| place.mark == mark);
        place.map_or(NONE, |place| place.id)
    }

    #[cold]
    fn insert(&mut self, frame: &Frame) -> u32 {
        self.one_way.note(&frame.key);
        if let Some(id) = self.answered(frame) {
            return id;
        }
        let id = self.push(frame);
        let mark = mark(&frame.key, &self.state);
        let rehash = |place: &Place| spread(place.mark);
        self.latest
            .insert_unique(spread(mark), Place { mark, id }, rehash);
        id
    }

    #[cold]
    fn replace(&mut self, old: u32, frame: &Frame) -> u32 {
        // One of the guesses may be the old connection.
        self.guesses.clear();
        let id = self.push(frame);
        let hash = spread(mark(&frame.key, &self.state));
        if let Some(place) = self.latest.find_mut(hash, |place| place.id == old) {
            place.id = id;
        }
        id
    }

    fn push(&mut self, frame: &Frame) -> u32 {
        // Every `LARGE` connections, some MB apart: a block would be a quarter of a small budget.
        if self.len.is_multiple_of(LARGE) {
            self.look_at_memory();
        }
        if let Some(id) = self.replace_oldest(frame) {
            return id;
        }
        if self.len.is_multiple_of(BLOCK) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        if let Some(block) = self.blocks.last_mut() {
            // Only once there are many: a huge page for a few connections would take more memory than they do.
            if self.len == LARGE || self.len > LARGE && block.is_empty() {
                hugepage::advise(block);
            }
            block.push(Connection::new(frame));
        }
        self.len += 1;
        (self.len - 1) as u32
    }

    /// Whether the connections are too many for a core's caches.
    pub(crate) fn is_large(&self) -> bool {
        self.len > LARGE
    }

    /// Loads the memory that the frames will touch all at once, so that the cache misses overlap: tracking would meet
    /// them one after the other. First all hashes, then all places, then all connections, since a processor looks ahead
    /// over few hundred instructions only.
    pub(crate) fn warm(&mut self, items: &[Item]) {
        let mut marks = std::mem::take(&mut self.marks);
        marks.clear();
        let heads = items
            .iter()
            .filter(|item| item.is_tcp() && !item.frame.follows);
        marks.extend(heads.map(|item| mark(&item.frame.key, &self.state)));
        let mut guesses = std::mem::take(&mut self.guesses);
        guesses.clear();
        guesses.extend(marks.iter().map(|mark| self.guess(*mark)));
        // One depth after the other: memory behind a pointer can only be loaded once the pointer is.
        for touch in [
            Connection::touch,
            Connection::touch_boxes,
            Connection::touch_deeply,
        ] {
            let connections = guesses.iter().filter_map(|id| self.get(*id));
            std::hint::black_box(connections.fold(0, |sum, known| sum ^ touch(known)));
        }
        (self.guesses, self.guesses_used) = (guesses, 0);
        self.marks = marks;
    }

    /// Calls for each connection.
    pub(crate) fn for_each(&mut self, call: impl FnMut(&mut Connection)) {
        self.blocks.iter_mut().flatten().for_each(call);
    }

    /// Returns the connections, and their places in order of their first frames, if they do not lie in that order.
    pub(crate) fn into_blocks(self) -> (Vec<Vec<Connection>>, Option<Vec<u32>>) {
        let order = self.limit.order(self.len);
        (self.blocks, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::Connections;

    fn syn(port: u16, time_ns: i64) -> Frame {
        let mut frame = Frame::default();
        let ports = u32::from(port) << 16 | 80;
        (frame.key, frame.from_low) = Key::v4(0x0a00_0001_0a00_0002, ports);
        (frame.flags, frame.time_ns) = (Flags(Flags::SYN), time_ns);
        frame.number = time_ns as u64;
        frame
    }

    /// SYNs that nobody answers, 100 a second.
    #[test]
    fn the_oldest_that_are_over_make_room_and_the_rest_stays_in_order() {
        let mut table = Table::default();
        table.set_limit(200, None);
        let mut gone = 0;
        for port in 1..=2_000u16 {
            table.of(&syn(port, i64::from(port) * 10_000_000));
            gone += table.take_gone().len();
        }
        assert_eq!(table.len + gone, 2_000);
        assert!((200..260).contains(&table.len), "{}", table.len);
        // The newest ones are known, the oldest are not.
        assert!(table.find(&syn(2_000, 0).key).is_some());
        assert!(table.find(&syn(1, 0).key).is_none());
        let (followed, order) = table.into_blocks();
        let kept = Connections::new(followed, order);
        let firsts: Vec<u64> = kept.iter().map(|one| one.first_frame).collect();
        assert!(firsts.is_sorted(), "{firsts:?}");
        assert_eq!(kept.len(), 2_000 - gone);
    }

    /// SYNs at one time: none is quiet.
    #[test]
    fn where_memory_is_short_those_that_are_over_need_not_be_quiet() {
        for (is_short, most) in [(false, usize::MAX), (true, 2 * LARGE)] {
            let mut table = Table::default();
            let ask: fn() -> bool = if is_short { || true } else { || false };
            table.set_limit(usize::MAX, Some(ask));
            let mut gone = 0;
            for number in 1..=5 * BLOCK as u32 {
                let mut frame = syn(1, 0);
                (frame.key, frame.from_low) = Key::v4(0x0a00_0001_0a00_0002, number);
                table.of(&frame);
                gone += table.take_gone().len();
            }
            assert_eq!(table.len + gone, 5 * BLOCK);
            assert!(table.len <= most, "{}", table.len);
        }
    }

    #[test]
    fn without_a_limit_all_stay() {
        let mut table = Table::default();
        for port in 1..=2_000u16 {
            table.of(&syn(port, i64::from(port) * 10_000_000));
        }
        assert_eq!((table.len, table.take_gone().len()), (2_000, 0));
    }

    /// 64 MiB and 1 KiB for each connection are what a trace may take; the first pays for what
    /// grows with traffic, the second for these.
    #[test]
    fn a_connection_stays_small() {
        assert!(
            size_of::<Connection>() <= 960,
            "{}",
            size_of::<Connection>()
        );
        // Made of a state for the moment in which it is judged or written, and then let go.
        let facts = size_of::<crate::facts::connection::Connection>();
        assert!(facts <= 1760, "{facts}");
    }
}
