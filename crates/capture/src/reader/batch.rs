//! Frames of one point or several, in slots that are used again.

use coalescope_wire::LinkType;

use crate::file::{RawFrame, Source};
use crate::frame::Frame;
use crate::frame::digester::Digester;
use crate::key::Key;
use crate::row::Kind;

/// One frame and its point: two cache lines.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Item {
    /// Number of the point, of at most `MAX_POINTS`.
    pub(crate) point: u8,
    /// Number of the file that it is of, from 0.
    pub(crate) file: u16,
    pub(crate) digest: Kind,
    pub(crate) link: LinkType,
    pub(crate) frame: Frame,
}

impl Default for Item {
    fn default() -> Self {
        Self {
            point: 0,
            file: 0,
            link: LinkType::Null,
            digest: Kind::default(),
            frame: Frame::default(),
        }
    }
}

impl Item {
    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.digest, Kind::Tcp)
    }

    /// Whether the frame is of the same connection as the TCP frame before, so that no look-up is needed.
    #[inline]
    pub(crate) fn continues(&self) -> bool {
        self.is_tcp() && self.frame.follows
    }

    /// Of a "packet too big" message, the connection that it is about.
    #[inline]
    pub(crate) fn rejected(&self) -> Option<&Key> {
        let error = match self.digest {
            Kind::TooBig => self.frame.too_big(),
            _ => None,
        };
        error.map(|error| &error.key)
    }

    fn fill(&mut self, raw: &RawFrame<'_>, point: u8, digester: &mut Digester) {
        self.note(raw, point);
        self.digest = digester.digest(raw, &mut self.frame);
    }

    /// Like `fill`, if the frame is of the commonest shape; false if it is not.
    #[inline(always)]
    fn fill_fixed(&mut self, raw: &RawFrame<'_>, digester: &mut Digester) -> bool {
        self.note(raw, 0);
        self.digest = Kind::Tcp;
        digester.digest_fixed(raw, &mut self.frame)
    }

    #[inline(always)]
    fn note(&mut self, raw: &RawFrame<'_>, point: u8) {
        self.point = point;
        self.link = raw.link;
    }
}

/// Frames in the order of the file. The slots are used again and again.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(super) slots: Vec<Item>,
    pub(super) used: usize,
    passed: usize,
    /// Whether slots may name another file than the first.
    has_files: bool,
    /// Bytes of the files that were read up to the end of the batch.
    pub(crate) consumed: u64,
}

impl Batch {
    /// The frames not passed yet.
    pub(crate) fn items(&self) -> &[Item] {
        &self.slots[self.passed..self.used]
    }

    /// The same, to be changed.
    pub(crate) fn items_mut(&mut self) -> &mut [Item] {
        &mut self.slots[self.passed..self.used]
    }

    /// Takes a frame of another batch, in whose place one that is of no use is left; false if there is no room.
    #[inline]
    pub(crate) fn take_over(&mut self, item: &mut Item) -> bool {
        let slot = self.slot();
        let is_there = slot.is_some();
        if let Some(slot) = slot {
            std::mem::swap(slot, item);
        }
        is_there
    }

    /// Passes over some frames.
    pub(crate) fn pass(&mut self, frames: usize) {
        self.passed = (self.passed + frames).min(self.used);
    }

    /// Makes room for so many frames, and drops the old ones.
    pub(crate) fn begin(&mut self, frames: usize) {
        (self.used, self.passed) = (0, 0);
        self.slots.resize_with(frames, Item::default);
    }

    /// The place of the next frame, as long as there is room.
    pub(crate) fn slot(&mut self) -> Option<&mut Item> {
        let slot = self.slots.get_mut(self.used)?;
        self.used += 1;
        Some(slot)
    }

    /// Notes the file of the frames from a place on.
    pub(super) fn note_file(&mut self, from: usize, file: usize) {
        self.has_files |= file > 0;
        if self.has_files {
            let file = u16::try_from(file).unwrap_or(u16::MAX);
            let slots = self.slots[from..self.used].iter_mut();
            slots.for_each(|slot| slot.file = file);
        }
    }

    /// Takes a frame in.
    #[inline(never)]
    pub(super) fn add(&mut self, raw: &RawFrame<'_>, point: u8, digester: &mut Digester) {
        self.slots[self.used].fill(raw, point, digester);
        self.used += 1;
    }

    /// Adds the frames that a source has in memory, as far as they are of the commonest shape.
    #[inline]
    pub(super) fn add_fixed(&mut self, source: &mut Source, digester: &mut Digester) {
        let mut slots = self.slots[self.used..].iter_mut();
        self.used += source.each_in_memory(|raw| {
            slots
                .next()
                .is_some_and(|slot| slot.fill_fixed(raw, digester))
        });
    }
}
