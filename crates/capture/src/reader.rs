//! One capture, or several of one point in turn, as batches of digests.

mod batch;
mod earlier;
mod times;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::file::Source;
use crate::frame::NotRead;
use crate::frame::digester::Digester;
pub(crate) use batch::{Batch, Item};
use earlier::{Asked, Earlier};
use times::Times;

/// Frames in a batch that one thread fills and empties: few enough to stay in a core's first-level
/// cache, enough that with many connections their cache misses overlap ([`crate::table::Table::warm`]).
pub(crate) const BATCH: usize = 128;
/// Frames in a batch that goes from one thread to another: waking a thread costs as much as some
/// hundred frames.
pub(crate) const BATCH_BETWEEN_THREADS: usize = 1024;
/// Points that the interfaces of one file can make.
const MAX_POINTS: usize = 64;

/// A source of a point's frames, in their order: files, or rows made of them.
pub(crate) trait Frames: Send {
    /// Fills a batch; an empty one means that there are no more.
    fn fill(&mut self, batch: &mut Batch);
    /// Makes batches of another size from now on.
    fn set_batch(&mut self, frames: usize);
    /// The warnings and counts at the end.
    fn finish(self: Box<Self>) -> End;
}

/// Warnings and counts of an input, when everything was read.
#[derive(Debug, Default)]
pub(crate) struct End {
    pub(crate) files: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) unreadable_bytes: u64,
    pub(crate) incomplete_datagrams: Vec<u64>,
    /// Names of the points, where interfaces are points.
    pub(crate) names: Vec<String>,
    /// Why not all of the input was read, if the result would be wrong without the rest.
    pub(crate) failed: Option<String>,
}

/// Reads the files of one input.
pub(crate) struct Reader {
    sources: VecDeque<(String, Source)>,
    by_interface: bool,
    /// Points by the interface's name, or its number where it has none.
    points: HashMap<String, u8>,
    /// The point of each interface number in the current file.
    routes: Vec<Option<u8>>,
    digesters: Vec<Digester>,
    behind: u64,
    left_out: u64,
    stop: Arc<AtomicBool>,
    names_interfaces: bool,
    /// All frames of a batch are of one file.
    file_by_file: bool,
    /// Frames in a batch.
    batch: usize,
    /// The times of the current file.
    times: Times,
    earlier: Earlier,
    end: End,
}

impl Reader {
    pub(crate) fn new(
        sources: Vec<(String, Source)>,
        by_interface: bool,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let digesters = if by_interface {
            Vec::new()
        } else {
            vec![Digester::default()]
        };
        let mut earlier = Earlier::new(by_interface);
        if let Some((name, source)) = sources.first() {
            earlier.begin(name, source);
        }
        Self {
            sources: sources.into(),
            by_interface,
            points: HashMap::new(),
            routes: Vec::new(),
            digesters,
            behind: 0,
            left_out: 0,
            stop,
            names_interfaces: false,
            file_by_file: false,
            batch: BATCH,
            times: Times::default(),
            earlier,
            end: End::default(),
        }
    }

    /// For a single point: keeps times going forward where the clock was set back.
    pub(crate) fn alone(mut self) -> Self {
        self.digesters.fill_with(Digester::with_steady_time);
        self
    }

    /// Returns frames as their files have them: fragments, times as they are, and with several interfaces the
    /// interface's number in place of the point's.
    pub(crate) fn unaltered(mut self) -> Self {
        self.digesters.fill_with(Digester::with_pieces);
        self.names_interfaces = true;
        self
    }

    /// Gives no batch with frames of two files.
    pub(crate) fn file_by_file(mut self) -> Self {
        self.file_by_file = true;
        self
    }

    /// Number of the file that the last batch was of, from 0.
    pub(crate) fn file(&self) -> usize {
        self.end.files.len()
    }

    /// Fills a batch.
    fn fill_batch(&mut self, batch: &mut Batch) {
        batch.begin(self.batch);
        while batch.used < self.batch && !self.stop.load(Ordering::Relaxed) {
            let from = batch.used;
            let more = if self.by_interface {
                self.next(batch)
            } else {
                self.fill_plainly(batch)
            };
            batch.note_file(from, self.file());
            self.times.see(&batch.slots[from..batch.used]);
            self.earlier.seen += (batch.used - from) as u64;
            let is_full = more || self.file_by_file && batch.used > 0;
            if !more && (is_full || !self.next_source()) {
                break;
            }
        }
        let current = self
            .sources
            .front()
            .map_or(0, |(_, source)| source.consumed_bytes());
        batch.consumed = self.behind + current;
    }

    /// Fills a batch from the current file; false at its end.
    #[inline]
    fn fill_plainly(&mut self, batch: &mut Batch) -> bool {
        let Some((_, source)) = self.sources.front_mut() else {
            return false;
        };
        let digester = &mut self.digesters[0];
        loop {
            if !self.earlier.is_asked() {
                batch.add_fixed(source, digester);
            }
            if batch.used == self.batch {
                return true;
            }
            let Some(raw) = source.next() else {
                return false;
            };
            let may_be = self.earlier.is_asked() || digester.is_behind(raw.time_ns);
            if may_be && self.earlier.has_plain(&raw, digester.latest_ns()) {
                if self.stop.load(Ordering::Relaxed) {
                    return true;
                }
                continue;
            }
            let point = if self.names_interfaces {
                raw.interface.min(u8::MAX.into()) as u8
            } else {
                0
            };
            batch.add(&raw, point, digester);
        }
    }

    /// Takes one frame of the current file, whose interfaces are points; false at its end.
    fn next(&mut self, batch: &mut Batch) -> bool {
        let Some((_, source)) = self.sources.front_mut() else {
            return false;
        };
        let Some(raw) = source.next() else {
            return false;
        };
        if let Some(Some(point)) = self.routes.get(raw.interface as usize) {
            let digester = &mut self.digesters[usize::from(*point)];
            let name = &self.end.names[usize::from(*point)];
            let may_be = self.earlier.is_asked() || digester.is_behind(raw.time_ns);
            let mut is_earlier = || self.earlier.has_named(&raw, name, digester.latest_ns());
            if !(may_be && is_earlier()) {
                batch.add(&raw, *point, digester);
            }
            return true;
        }
        // The frame borrows from its source, which has the interface's name: so the frame is digested before its point
        // is known.
        let (interface, asked) = (raw.interface, self.earlier.asked(&raw));
        batch.add(&raw, 0, &mut Digester::default());
        match self.route(interface) {
            Some(point) if !self.has_earlier(point, asked) => {
                batch.slots[batch.used - 1].point = point;
            }
            _ => batch.used -= 1,
        }
        true
    }

    /// Whether the first frame of an interface is an earlier one of its point, as in a second section of a file.
    #[cold]
    fn has_earlier(&mut self, point: u8, asked: Asked) -> bool {
        let digester = &self.digesters[usize::from(point)];
        let may_be = self.earlier.is_asked() || digester.is_behind(asked.time_ns());
        let name = &self.end.names[usize::from(point)];
        may_be && self.earlier.has(asked, name, digester.latest_ns())
    }

    /// The point of an interface, new if need be. Interfaces become points in the order in which the file describes
    /// them; which point shows a frame first depends on clocks.
    #[cold]
    fn route(&mut self, interface: u32) -> Option<u8> {
        let described = self
            .sources
            .front()
            .map_or(0, |(_, source)| source.interfaces().len());
        if described <= MAX_POINTS {
            for other in 0..described.min(interface as usize) {
                self.route_one(other as u32);
            }
        }
        let point = self.route_one(interface);
        self.left_out += u64::from(point.is_none());
        point
    }

    fn route_one(&mut self, interface: u32) -> Option<u8> {
        let name = self.interface_name(interface);
        let next = self.points.len();
        if next == MAX_POINTS && !self.points.contains_key(&name) {
            return None;
        }
        let point = *self.points.entry(name.clone()).or_insert(next as u8);
        if usize::from(point) == next {
            self.digesters.push(Digester::default());
            self.end.names.push(name);
        }
        let number = interface as usize;
        if self.routes.len() <= number {
            self.routes.resize(number + 1, None);
        }
        self.routes[number] = Some(point);
        Some(point)
    }

    fn interface_name(&self, interface: u32) -> String {
        match self.sources.front() {
            Some((_, source)) => name_of(source, interface),
            None => nameless(interface),
        }
    }

    /// Goes on to the next file; false if there is none.
    fn next_source(&mut self) -> bool {
        let Some((file, source)) = self.sources.pop_front() else {
            return false;
        };
        self.behind += source.consumed_bytes();
        self.end.unreadable_bytes += source.unreadable_bytes();
        self.end
            .warnings
            .extend(source.warnings().iter().map(|w| format!("{file}: {w}")));
        let odd = self.oddities();
        let named = odd.into_iter().map(|odd| format!("{file}: {odd}"));
        self.end.warnings.extend(named);
        self.end.files.push(file);
        self.routes.clear();
        if let Some((name, source)) = self.sources.front() {
            self.earlier.begin(name, source);
        }
        true
    }

    /// What was odd about the frames of the current file.
    fn oddities(&mut self) -> Vec<String> {
        let mut not_read = NotRead::default();
        for digester in &mut self.digesters {
            not_read.add(digester.take_not_read());
        }
        let times = std::mem::take(&mut self.times);
        let odd = times.words().into_iter().chain(not_read.words());
        odd.chain(self.earlier.words()).collect()
    }

    fn end(mut self) -> End {
        while self.next_source() {}
        if self.left_out > 0 {
            self.end.warnings.push(format!(
                "{} frames of interfaces beyond the first {MAX_POINTS} were left out",
                self.left_out
            ));
        }
        let set_back = self.digesters.iter().filter_map(Digester::set_back_ns);
        self.end.warnings.extend(set_back.map(words_of_set_back));
        let incomplete = self.digesters.iter().map(Digester::incomplete_datagrams);
        self.end.incomplete_datagrams = incomplete.collect();
        self.end
    }
}

impl Frames for Reader {
    fn fill(&mut self, batch: &mut Batch) {
        self.fill_batch(batch);
    }

    fn set_batch(&mut self, frames: usize) {
        self.batch = frames;
    }

    fn finish(self: Box<Self>) -> End {
        self.end()
    }
}

/// The warning that frames of a file stand in it twice, or in it and in one in front of it.
pub(crate) fn words_of_copies(copies: u64, in_one_file: bool) -> String {
    let place = match in_one_file {
        true => "in it twice",
        false => "in it and in a file in front of it, or in it twice",
    };
    format!("{copies} frames stand {place}, with the same time and bytes; the copies were left out")
}

/// The name of an interface, or its number.
fn name_of(source: &Source, interface: u32) -> String {
    let known = source.interfaces().get(interface as usize);
    let name = known.and_then(|known| known.name.clone());
    name.unwrap_or_else(|| nameless(interface))
}

fn nameless(interface: u32) -> String {
    format!("interface-{interface}")
}

/// The warning that a clock was set back.
pub(crate) fn words_of_set_back(ns: i64) -> String {
    format!(
        "the clock was set back by {:.3} s meanwhile; what came after that counts as later all the same",
        ns as f64 / 1e9
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch has to leave room for connections in a first-level cache of 32 KiB.
    #[test]
    fn a_frame_on_its_way_is_two_cache_lines() {
        assert_eq!(size_of::<Item>(), 128);
    }
}
