//! A family: scenarios of one sort, with everything about them drawn.

use crate::dice::Dice;
use crate::drawn::Drawn;

/// Scenarios of one sort.
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What happens in it.
    pub title: &'static str,
    /// Whether merging harms in it, unless a draw happens to be too small.
    pub harms: bool,
    pub(crate) draw: fn(&mut Dice) -> Drawn,
}

impl Family {
    /// A family in which merging harms.
    pub(crate) const fn guilty(
        name: &'static str,
        title: &'static str,
        draw: fn(&mut Dice) -> Drawn,
    ) -> Self {
        Self {
            name,
            title,
            harms: true,
            draw,
        }
    }

    /// A family in which merging does no harm.
    pub(crate) const fn innocent(
        name: &'static str,
        title: &'static str,
        draw: fn(&mut Dice) -> Drawn,
    ) -> Self {
        Self {
            harms: false,
            ..Self::guilty(name, title, draw)
        }
    }
}
