//! A family: scenarios of one sort, with everything about them drawn.

use crate::case::Drawn;
use crate::dice::Dice;

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
