//! A limit on how much is read and unpacked in all: the end of a decompression bomb.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// The number of bytes that may still be read from one path. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Rc<Cell<u64>>);

impl Budget {
    /// A budget of this number of bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self(Rc::new(Cell::new(bytes)))
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    fn spend(&self, bytes: u64) {
        self.0.set(self.0.get().saturating_sub(bytes));
    }

    /// A reader that fails once the budget is spent.
    pub fn meter<R: Read>(&self, inner: R) -> Metered<R> {
        Metered {
            inner,
            budget: self.clone(),
        }
    }
}

/// A reader with a budget, see [`Budget::meter`].
#[derive(Debug)]
pub struct Metered<R> {
    inner: R,
    budget: Budget,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_spent() {
            return Err(io::Error::other("too much to read in one path"));
        }
        let count = self.inner.read(into)?;
        self.budget.spend(count as u64);
        Ok(count)
    }
}
