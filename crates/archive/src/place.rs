//! Places of files in an archive.

use coalescope_capture::rows::Heads;

/// The place of a file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of its point, from 0, in path order.
    pub point: u16,
    /// The point's name.
    pub point_name: String,
    /// Its number among the files of that point, from 0, in order of time.
    pub file: u32,
    /// How many points there are.
    pub points: u16,
    /// How many shards there are, fragments aside.
    pub shards: u32,
}

impl Place {
    pub(crate) fn heads(&self) -> Heads {
        if self.points > 1 {
            Heads::Compared
        } else {
            Heads::Alone
        }
    }
}
