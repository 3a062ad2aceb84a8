//! Words and numbers that a report says, in a terminal and on a page alike.

pub(crate) mod units;
