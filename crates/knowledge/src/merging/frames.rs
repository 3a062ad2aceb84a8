//! Frames of several segments, as findings call them.

use std::fmt::{self, Display, Formatter};

use crate::finding::Subject;

/// Frames of several segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Those that were merged.
    Merged,
    /// Those that may have been, or were left uncut by their sender.
    Large,
}

impl Frames {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Merged => "merged frames",
            Self::Large => "large frames",
        }
    }

    pub(super) fn subject(self) -> Subject {
        match self {
            Self::Merged => Subject::Plain,
            Self::Large => Subject::LargeFrames,
        }
    }
}

impl Display for Frames {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
