//! One connection at one point, while the capture is read.

use std::collections::BTreeMap;

use coalescope_wire::Flags;

use super::rates::Rates;
use super::record::{Record, is_data, scaled};
use super::thin::Thinned;
use super::{Chosen, LENGTH_CLASSES, Left};
use crate::connection::{Connection, HIGH, LOW, Tracked};
use crate::flow::{Data, Flow};
use crate::frame::Frame;
use crate::hop::Judged;
use crate::key::Key;
use crate::reader::Item;
use crate::segment::Size;

/// Frames that wait for their fate; beyond that the oldest gets none.
const WAITING: usize = 32 * 1024;
/// Larger payloads are called merged while the segment size is not settled.
const MAYBE_SINGLE: u32 = 1460;

/// One direction of a lane, by the key's ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Half {
    pub(super) lengths: [u64; LENGTH_CLASSES.len() + 1],
    pub(super) rates: Rates,
    late: u32,
    pub(super) size: Option<Size>,
    pub(super) scale: Option<u8>,
    /// Position of the first byte after the SYN, if the SYN was seen.
    pub(super) first: Option<u64>,
    /// Lowest position of data seen.
    pub(super) lowest: Option<u64>,
}

impl Half {
    /// Adds a data frame to the sums of all frames.
    fn add(&mut self, record: &Record, since_ns: i64, in_flight: u64) {
        self.lengths[class(record.length)] += 1;
        let lowest = self.lowest.into_iter().chain(record.position);
        self.lowest = lowest.min();
        let bin = self.rates.at(since_ns);
        if record.data == Data::Repeat {
            bin.again_bytes += u64::from(record.payload);
        } else {
            bin.new_bytes += u64::from(record.payload);
        }
        bin.note_in_flight(in_flight);
    }
}

/// A lane while it is read.
#[derive(Debug)]
pub(super) struct LaneRecord {
    /// Which of the chosen connections it is.
    pub(super) slot: usize,
    /// Where it is, as the trace numbers it.
    pub(super) chosen: Chosen,
    pub(super) key: Key,
    /// Number and time of the first frame, which distinguish it from other connections of the same key.
    first: (u64, i64),
    /// Its id in this reading.
    pub(super) here: Option<u32>,
    pub(super) client_is_low: bool,
    pub(super) halves: [Half; 2],
    /// By time and number: numbers alone begin anew with each file of a point.
    waiting: BTreeMap<(i64, u64), Record>,
    thinned: Thinned,
    ordinal: u64,
}

impl LaneRecord {
    pub(super) fn new(slot: usize, chosen: Chosen, followed: &Connection, limit: usize) -> Self {
        Self {
            slot,
            chosen,
            key: followed.key,
            first: (followed.first_number, followed.first_ns),
            here: None,
            client_is_low: followed.client_is_low,
            halves: [Half::default(), Half::default()],
            waiting: BTreeMap::new(),
            thinned: Thinned::new(limit),
            ordinal: 0,
        }
    }

    /// When the connection's first frame was captured, by this point's clock.
    pub(super) fn first_ns(&self) -> i64 {
        self.first.1
    }

    /// Whether a connection is the lane's.
    pub(super) fn is(&self, id: u32, connection: &Connection) -> bool {
        match self.here {
            Some(here) => here == id,
            None => {
                self.key == connection.key
                    && self.first == (connection.first_number, connection.first_ns)
            }
        }
    }

    /// Takes a frame that its connection has just processed.
    pub(super) fn saw(&mut self, id: u32, item: &Item, tracked: &Tracked, after: &Connection) {
        self.here = Some(id);
        if tracked.data == Data::Doubled {
            return;
        }
        let record = self.record(item, tracked, after);
        self.rate(&record, after);
        if record.has_data() {
            self.wait(record);
        } else {
            self.settle(record);
        }
    }

    fn record(&mut self, item: &Item, tracked: &Tracked, after: &Connection) -> Record {
        let frame = &item.frame;
        let [own, other] = flows(after, frame.from_low);
        let half = &mut self.halves[index(frame.from_low)];
        let late = own.tally.odd().late;
        let is_late = std::mem::replace(&mut half.late, late) < late;
        self.ordinal += 1;
        Record {
            ordinal: self.ordinal,
            number: frame.number,
            file: item.file,
            time_ns: frame.time_ns,
            from_low: frame.from_low,
            position: position(own, tracked, frame),
            payload: frame.payload,
            length: item.frame.original_len,
            data: tracked.data,
            is_late,
            is_multi: is_multi(own, frame.payload),
            ack: acknowledged(other, frame),
            window: frame.window,
            sack: sacked(other, frame),
            flags: frame.flags,
            fate: None,
        }
    }

    /// Adds a frame to the sums of all frames.
    fn rate(&mut self, record: &Record, after: &Connection) {
        let since_ns = record.time_ns - self.first.1;
        let [own, other] = flows(after, record.from_low);
        let half = &mut self.halves[index(record.from_low)];
        if record.has_data() {
            half.add(record, since_ns, in_flight(own));
        }
        if record.ack.is_some() {
            let answered = &mut self.halves[index(!record.from_low)];
            answered.rates.at(since_ns).note_left(in_flight(other));
        }
        if let Some(window) = scaled(record, own.acks.scale()) {
            let other = &mut self.halves[index(!record.from_low)];
            other.rates.at(since_ns).window_bytes = Some(u64::from(window));
        }
    }

    fn wait(&mut self, record: Record) {
        let key = (record.time_ns, record.number);
        if let Some(old) = self.waiting.insert(key, record) {
            self.settle(old);
        }
        if self.waiting.len() > WAITING
            && let Some((_, oldest)) = self.waiting.pop_first()
        {
            self.settle(oldest);
        }
    }

    fn settle(&mut self, record: Record) {
        self.thinned.add(record.rank(), record);
    }

    /// Takes the fate of a frame.
    pub(super) fn set_fate(&mut self, judged: Judged) {
        if let Some(mut record) = self.waiting.remove(&(judged.own_ns, judged.number)) {
            record.fate = Some(judged.outcome);
            self.settle(record);
        }
    }

    /// Takes what is known of the connection after the last frame.
    pub(super) fn know(&mut self, connection: &Connection) {
        self.client_is_low = connection.client_is_low;
        for (index, (half, flow)) in self.halves.iter_mut().zip(&connection.flows).enumerate() {
            half.size = flow.tally.size();
            half.scale = flow.acks.scale();
            let is_client = (index == LOW) == connection.client_is_low;
            let handshake = &connection.handshake;
            let syn = if is_client {
                handshake.syn
            } else {
                handshake.syn_ack
            };
            half.first = syn.and_then(|syn| place(flow, syn.isn.wrapping_add(1)));
        }
    }

    /// The frames in order, and the counts of those left out.
    pub(super) fn take_frames(&mut self) -> (Vec<Record>, Left) {
        for (_, record) in std::mem::take(&mut self.waiting) {
            self.settle(record);
        }
        std::mem::replace(&mut self.thinned, Thinned::new(0)).finish()
    }
}

/// The place of a direction in a pair of them.
pub(super) fn index(from_low: bool) -> usize {
    if from_low { LOW } else { HIGH }
}

/// The sender's flow and the other one.
fn flows(connection: &Connection, from_low: bool) -> [&Flow; 2] {
    let own = index(from_low);
    [&connection.flows[own], &connection.flows[1 - own]]
}

/// Bytes of a direction that were seen and are not acknowledged.
fn in_flight(flow: &Flow) -> u64 {
    flow.ranges.next().saturating_sub(flow.una)
}

/// The position of a sequence number, near the next position of the direction; `None` before the direction began.
fn place(flow: &Flow, number: u32) -> Option<u64> {
    let next = flow.ranges.next();
    let ahead = i64::from(number.wrapping_sub(next as u32) as i32);
    (next > 0).then(|| next.wrapping_add_signed(ahead))
}

fn position(own: &Flow, tracked: &Tracked, frame: &Frame) -> Option<u64> {
    if is_data(tracked.data) {
        Some(tracked.start)
    } else {
        let syn = u32::from(frame.flags.has(Flags::SYN));
        place(own, frame.seq.wrapping_add(syn))
    }
}

/// Position that a frame acknowledges; none for a RST, whose acknowledgment is often 0.
fn acknowledged(other: &Flow, frame: &Frame) -> Option<u64> {
    let acknowledges = frame.flags.has(Flags::ACK) && !frame.flags.has(Flags::RST);
    place(other, frame.ack).filter(|_| acknowledges)
}

fn sacked(other: &Flow, frame: &Frame) -> Vec<(u64, u64)> {
    let blocks = frame.sack().iter();
    blocks
        .filter_map(|(from, to)| place(other, *from).zip(place(other, *to)))
        .collect()
}

fn is_multi(flow: &Flow, payload: u32) -> bool {
    if flow.tally.size().is_none() {
        return payload > MAYBE_SINGLE;
    }
    flow.tally.is_multi(payload)
}

/// The class of a length, see [`LENGTH_CLASSES`].
fn class(length: u32) -> usize {
    LENGTH_CLASSES.partition_point(|end| *end < length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_end_where_they_say() {
        let classes = [0, 64, 65, 1514, 1518, 1519, 65_550, 65_551, u32::MAX].map(class);
        assert_eq!(classes, [0, 0, 1, 5, 5, 6, 10, 11, 11]);
    }

    #[test]
    fn frames_wait_and_the_oldest_goes_when_too_many_do() {
        let chosen = Chosen { point: 0, id: 0 };
        let followed = Connection::new(&Frame::default());
        let mut lane = LaneRecord::new(0, chosen, &followed, 10);
        for number in 0..WAITING as u64 + 5 {
            lane.wait(Record {
                number,
                ordinal: number,
                ..Record::default()
            });
        }
        assert_eq!(lane.waiting.len(), WAITING);
        assert_eq!(lane.waiting.keys().next(), Some(&(0, 5)));
    }
}
