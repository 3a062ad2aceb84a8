//! One first transmission, and what became of it.

use crate::frame::Frame;

/// One first transmission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transmission {
    pub(crate) start: u64,
    pub(crate) number: u64,
    /// When these bytes were sent last.
    pub(crate) time_ns: i64,
    pub(crate) len: u32,
    /// How many of its bytes were sent again.
    pub(crate) repeated: u32,
}

impl Transmission {
    /// The whole of a frame.
    #[inline]
    pub(crate) fn new(frame: &Frame, start: u64) -> Self {
        Self {
            start,
            number: frame.number,
            time_ns: frame.time_ns,
            len: frame.payload,
            repeated: 0,
        }
    }

    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Whether all of it was sent again.
    pub(super) fn is_repeated(&self) -> bool {
        self.repeated >= self.len
    }

    pub(super) fn fate(&self) -> Fate {
        Fate {
            len: self.len,
            repeated: self.is_repeated(),
            number: self.number,
        }
    }

    /// What is left of it once everything below a position is acknowledged; `None` if it is not.
    #[inline(always)]
    pub(super) fn acknowledged(&self, una: u64) -> Option<Gone> {
        (self.end() <= una).then(|| Gone {
            start: self.start,
            clean_ns: (self.repeated == 0).then_some(self.time_ns),
            fate: self.fate(),
        })
    }
}

/// What is left of an acknowledged transmission. The rest is not even copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    pub(super) start: u64,
    /// When it was sent, if only once.
    pub(super) clean_ns: Option<i64>,
    pub(super) fate: Fate,
}

/// What became of a first transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) len: u32,
    /// All of it was sent again, and nothing says that this was unnecessary.
    pub(crate) repeated: bool,
    pub(crate) number: u64,
}

impl Fate {
    /// Whether the two need not be told apart, but for their numbers.
    #[inline]
    pub(crate) fn is_like(self, other: Self) -> bool {
        (self.len, self.repeated) == (other.len, other.repeated)
    }
}
