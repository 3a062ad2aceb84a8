//! What memory costs: the same frames, read or copied and nothing else.

use std::cell::RefCell;
use std::hint::black_box;
use std::io;
use std::rc::Rc;

use crate::clock::now;
use crate::engine::{Engine, Rule, Sample};
use crate::frames::{Frames, Load};
use crate::id::Id;

/// Bytes that copies go to, over and over: a merged frame, in the second-level cache.
const ROOM: usize = 65_536;

/// A lower bound.
pub(crate) struct Floor {
    id: Id,
    frames: Rc<RefCell<Frames>>,
    room: Vec<u8>,
}

impl Floor {
    pub(crate) fn new(id: Id, frames: &Rc<RefCell<Frames>>) -> Self {
        Self {
            id,
            frames: Rc::clone(frames),
            room: vec![1; ROOM],
        }
    }

    fn run(&mut self) {
        match self.id {
            Id::FloorHeaders => self.read(self.frames.borrow().layout.header_len()),
            Id::FloorRead => self.read(self.frames.borrow().layout.frame_len()),
            _ => self.copy(),
        }
    }

    fn read(&self, len: usize) {
        let frames = self.frames.borrow();
        let sum = frames.descriptors.iter().fold(0_u64, |sum, &at| {
            sum.wrapping_add(words(&frames.bytes(at)[..len]))
        });
        black_box(sum);
    }

    /// Copies, and reads the copy if that is wanted: the copy is in the first-level cache.
    fn copy(&mut self) {
        let frames = self.frames.borrow();
        let (mut at, mut sum) = (0, 0_u64);
        for &descriptor in &frames.descriptors {
            let bytes = frames.bytes(descriptor);
            if at + bytes.len() > ROOM {
                at = 0;
            }
            let copy = &mut self.room[at..at + bytes.len()];
            copy.copy_from_slice(bytes);
            if self.id == Id::FloorBoth {
                sum = sum.wrapping_add(words(copy));
            }
            at += bytes.len();
        }
        black_box((&self.room, sum));
    }
}

/// Sums whole words, and the last one again if there is a rest.
#[inline]
fn words(bytes: &[u8]) -> u64 {
    let word = |word: &[u8]| word.try_into().map_or(0, u64::from_ne_bytes);
    let rest = word(&bytes[bytes.len() - 8..]);
    bytes
        .chunks_exact(8)
        .fold(rest, |sum, bytes| sum.wrapping_add(word(bytes)))
}

impl Engine for Floor {
    fn id(&self) -> Id {
        self.id
    }

    fn load(&mut self, load: &Load) -> io::Result<()> {
        self.frames.borrow_mut().load(load);
        Ok(())
    }

    fn pass(&mut self, loops: u32) -> io::Result<Sample> {
        let mut ns = 0;
        for _ in 0..loops {
            self.frames.borrow_mut().restore();
            let begin = now();
            self.run();
            ns += now() - begin;
        }
        let out = self.frames.borrow().descriptors.len();
        Ok(Sample { ns, out })
    }

    fn rule(&self, _: &Load) -> Option<Rule> {
        None
    }
}
