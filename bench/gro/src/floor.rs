//! What memory costs: the same frames, read or copied and nothing else.

use std::cell::RefCell;
use std::hint::black_box;
use std::io;
use std::rc::Rc;

use crate::engine::{Engine, Rule, Sample};
use crate::frames::{Frames, Load, passes};
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

    fn run(&mut self, frames: &[&[u8]], header_len: usize) {
        match self.id {
            Id::FloorHeaders => read(frames.iter().map(|frame| &frame[..header_len])),
            Id::FloorRead => read(frames.iter().copied()),
            _ => self.copy(frames),
        }
    }

    /// Copies, and reads the copy if that is wanted: the copy is in the first-level cache.
    fn copy(&mut self, frames: &[&[u8]]) {
        let (mut at, mut sum) = (0, 0_u64);
        for &bytes in frames {
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

fn read<'f>(frames: impl Iterator<Item = &'f [u8]>) {
    black_box(frames.fold(0_u64, |sum, bytes| sum.wrapping_add(words(bytes))));
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
        let frames = Rc::clone(&self.frames);
        let header_len = frames.borrow().layout.header_len();
        Ok(passes(&frames, loops, |slices| {
            self.run(slices, header_len);
            slices.len()
        }))
    }

    fn rule(&self, _: &Load) -> Option<Rule> {
        None
    }
}
