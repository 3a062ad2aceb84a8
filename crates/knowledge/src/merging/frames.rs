//! Frames of several segments, as findings call them.

use std::fmt::{self, Display, Formatter};

use crate::finding::{Evidence, Subject};
use crate::words::without_frames;

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

    /// Why those that may have been left uncut are evidence as well.
    pub(super) fn not_cut(self) -> Option<Evidence> {
        let text = "what the sender's card cuts is lost segment by segment: these frames were merged on their way, \
                    or not cut where they had to be";
        matches!(self, Self::Large).then(|| without_frames(text.to_owned()))
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
