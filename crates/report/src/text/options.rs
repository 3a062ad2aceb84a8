//! Options of a report for people.

/// Width of a report if that of the terminal is not known.
pub const WIDTH: usize = 100;

/// Options of a report for people.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Connections to list for each point; all if `None`.
    pub connections: Option<usize>,
    /// Whether to use colour.
    pub colour: bool,
    /// Width of a line in columns. Only longer words and commands exceed it.
    pub width: usize,
    /// Only the result, without explanations.
    pub brief: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            connections: None,
            colour: false,
            width: WIDTH,
            brief: false,
        }
    }
}
