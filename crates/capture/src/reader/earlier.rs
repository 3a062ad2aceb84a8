//! Frames that stand in a point's captures a second time: a capture with itself behind it (`mergecap -a`), or files that overlap.
//!
//! A frame with the time and the bytes of an earlier one is that frame, however far in front the earlier one stands. Nothing is
//! kept of frames for this: where times go back, what was read before is read once more, beside what comes.

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::{name_of, words_of_copies};
use crate::file::{Again, RawFrame, Source};

/// Frames known of those that are read once more.
const HELD: usize = 65_536;
/// So far from its time a frame is looked for, since frames need not be in order of time.
const AROUND_NS: i64 = 1_000_000_000;
/// Frames that are read once more whatever comes of it: a fifth of a second's work.
const ALLOWED: u64 = 1 << 20;
/// Further frames for each that is found.
const FOR_EACH: u64 = 8;
/// Times that go back this far are no disorder: then all that was read before may be read once more,
const FAR_NS: i64 = 1_000_000_000;
/// this often.
const OFTEN: u32 = 8;

/// A frame, as far as it is compared: its time, and a hash of its bytes and its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stamp {
    time_ns: i64,
    hash: u64,
}

/// A frame that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    stamp: Stamp,
    /// Its number in the current file.
    number: u64,
}

impl Asked {
    pub(super) fn time_ns(self) -> i64 {
        self.stamp.time_ns
    }
}

/// A file of the point.
#[derive(Default)]
struct File {
    name: String,
    again: Option<Again>,
    /// The earliest and the latest time, once all was read a second time.
    span_ns: Option<(i64, i64)>,
}

impl File {
    fn may_have(&self, time_ns: i64) -> bool {
        let is_inside = |(first, last)| (first..=last).contains(&time_ns);
        self.again.is_some() && self.span_ns.is_none_or(is_inside)
    }
}

/// Where frames are read once more.
struct Cursor {
    file: usize,
    source: Source,
    /// The next frame, if it was the one that is asked for, or comes behind.
    ahead: Option<(u64, Stamp)>,
    /// The earliest and the latest time in the file so far.
    span_ns: (i64, i64),
}

/// What was read of a point before.
pub(super) struct Earlier {
    files: Vec<File>,
    /// Frames that were read of the point.
    pub(super) seen: u64,
    /// Names of interfaces tell frames apart.
    by_name: bool,
    /// Frames are asked for up to this time.
    until_ns: Option<i64>,
    cursor: Option<Cursor>,
    known: HashSet<Stamp, RandomState>,
    order: VecDeque<Stamp>,
    /// The latest time of frames that are no longer known.
    forgotten_ns: Option<i64>,
    /// Frames that may be read once more.
    left: u64,
    /// How often times went far back.
    far: u32,
    /// Frames of the current file that stand in it, or in files before, already.
    again: u64,
    hasher: RandomState,
}

impl Earlier {
    pub(super) fn new(by_name: bool) -> Self {
        Self {
            files: Vec::new(),
            seen: 0,
            by_name,
            until_ns: None,
            cursor: None,
            known: HashSet::default(),
            order: VecDeque::new(),
            forgotten_ns: None,
            left: ALLOWED,
            far: 0,
            again: 0,
            hasher: RandomState::default(),
        }
    }

    /// Goes on to the next file.
    pub(super) fn begin(&mut self, name: &str, source: &Source) {
        self.files.push(File {
            name: name.to_owned(),
            again: source.again(),
            span_ns: None,
        });
    }

    /// Whether frames are being asked for, one by one.
    #[inline]
    pub(super) fn is_asked(&self) -> bool {
        self.until_ns.is_some()
    }

    /// What is compared of a frame, but for its interface.
    fn stamp(&self, raw: &RawFrame<'_>) -> Stamp {
        let bytes = (raw.data, raw.original_len, raw.link.dlt());
        Stamp {
            time_ns: raw.time_ns,
            hash: self.hasher.hash_one(bytes),
        }
    }

    /// The same with the name of its interface.
    fn named(&self, stamp: Stamp, name: &str) -> Stamp {
        let hash = self.hasher.hash_one((stamp.hash, name));
        Stamp { hash, ..stamp }
    }

    /// What is asked of a frame.
    pub(super) fn asked(&self, raw: &RawFrame<'_>) -> Asked {
        Asked {
            stamp: self.stamp(raw),
            number: raw.number,
        }
    }

    /// Whether a frame of the current file stands in front already; `latest_ns` is the latest time so far.
    #[cold]
    pub(super) fn has_plain(&mut self, raw: &RawFrame<'_>, latest_ns: i64) -> bool {
        let asked = self.asked(raw);
        self.is_known(asked, latest_ns)
    }

    /// The same where interfaces are points.
    #[cold]
    pub(super) fn has_named(&mut self, raw: &RawFrame<'_>, name: &str, latest_ns: i64) -> bool {
        let asked = self.asked(raw);
        self.has(asked, name, latest_ns)
    }

    /// The same of a frame that was put by.
    pub(super) fn has(&mut self, asked: Asked, name: &str, latest_ns: i64) -> bool {
        let stamp = self.named(asked.stamp, name);
        self.is_known(Asked { stamp, ..asked }, latest_ns)
    }

    fn is_known(&mut self, Asked { stamp, number }: Asked, latest_ns: i64) -> bool {
        self.ask(stamp.time_ns, latest_ns);
        let is_known = self.known.contains(&stamp) || self.find(stamp, number);
        if is_known {
            self.again += 1;
            self.left += FOR_EACH;
        } else if self.left == 0
            || self
                .until_ns
                .is_none_or(|until_ns| stamp.time_ns > until_ns)
        {
            self.until_ns = None;
        }
        is_known
    }

    /// Begins to ask for frames, unless that has begun.
    fn ask(&mut self, time_ns: i64, latest_ns: i64) {
        if self.is_asked() {
            return;
        }
        if latest_ns - time_ns >= FAR_NS && self.far < OFTEN {
            self.far += 1;
            self.left += self.seen;
        }
        self.until_ns = Some(latest_ns);
    }

    /// Reads on until the frame is found, or what comes is later by far.
    fn find(&mut self, stamp: Stamp, number: u64) -> bool {
        let is_forgotten = self.forgotten_ns.is_some_and(|ns| stamp.time_ns <= ns);
        if self.cursor.is_none() || is_forgotten {
            self.restart(stamp.time_ns);
        }
        while self.left > 0 && !self.is_beyond(stamp.time_ns) {
            let Some(read) = self.next(stamp.time_ns, number) else {
                return false;
            };
            self.keep(read);
            if read == stamp {
                return true;
            }
        }
        false
    }

    /// Whether what is read once more is later by far, or half of the frames that are known are later.
    fn is_beyond(&self, time_ns: i64) -> bool {
        let last = self.order.back();
        let middle = self.order.len().checked_sub(HELD / 2);
        let middle = middle.and_then(|at| self.order.get(at));
        last.is_some_and(|last| last.time_ns > time_ns.saturating_add(AROUND_NS))
            || middle.is_some_and(|middle| middle.time_ns > time_ns)
    }

    fn restart(&mut self, time_ns: i64) {
        self.known.clear();
        self.order.clear();
        self.forgotten_ns = None;
        self.cursor = None;
        self.open(0, time_ns);
    }

    /// Begins to read the first of the files from here on that may have a frame of this time.
    fn open(&mut self, from: usize, time_ns: i64) {
        let mut files = self.files.iter().enumerate().skip(from);
        self.cursor = files.find_map(|(file, one)| {
            let again = one.again.as_ref().filter(|_| one.may_have(time_ns))?;
            let source = Source::from_reader(&one.name, again().ok()?, None).ok()?;
            Some(Cursor::new(file, source))
        });
    }

    /// The next frame in front of the one with this number in the current file.
    fn next(&mut self, time_ns: i64, number: u64) -> Option<Stamp> {
        loop {
            let mut cursor = self.cursor.take()?;
            let is_current = cursor.file + 1 == self.files.len();
            let limit = if is_current { number } else { u64::MAX };
            let read = cursor.ahead.take().or_else(|| self.read(&mut cursor));
            match read {
                Some((at, stamp)) if at < limit => {
                    cursor.note(stamp.time_ns);
                    self.cursor = Some(cursor);
                    return Some(stamp);
                }
                Some(ahead) => {
                    cursor.ahead = Some(ahead);
                    self.cursor = Some(cursor);
                    return None;
                }
                None if is_current => {
                    self.cursor = Some(cursor);
                    return None;
                }
                None => {
                    self.files[cursor.file].span_ns = Some(cursor.span_ns);
                    self.open(cursor.file + 1, time_ns);
                }
            }
        }
    }

    fn read(&mut self, cursor: &mut Cursor) -> Option<(u64, Stamp)> {
        self.left = self.left.saturating_sub(1);
        let raw = cursor.source.next()?;
        let (number, interface) = (raw.number, raw.interface);
        let stamp = self.stamp(&raw);
        Some(match self.by_name {
            true => (
                number,
                self.named(stamp, &name_of(&cursor.source, interface)),
            ),
            false => (number, stamp),
        })
    }

    fn keep(&mut self, read: Stamp) {
        if self.known.insert(read) {
            self.order.push_back(read);
        }
        if self.order.len() > HELD
            && let Some(old) = self.order.pop_front()
        {
            self.known.remove(&old);
            self.forgotten_ns = self.forgotten_ns.max(Some(old.time_ns));
        }
    }

    /// A warning about the current file, which has ended.
    pub(super) fn words(&mut self) -> Option<String> {
        let again = std::mem::take(&mut self.again);
        (again > 0).then(|| words_of_copies(again, self.files.len() == 1))
    }
}

impl Cursor {
    fn new(file: usize, source: Source) -> Self {
        Self {
            file,
            source,
            ahead: None,
            span_ns: (i64::MAX, i64::MIN),
        }
    }

    fn note(&mut self, time_ns: i64) {
        let (first, last) = self.span_ns;
        self.span_ns = (first.min(time_ns), last.max(time_ns));
    }
}
