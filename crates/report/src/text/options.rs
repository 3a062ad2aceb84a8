//! What a report for people looks like.

/// Columns that a report takes where nothing says how wide the terminal is.
pub const WIDTH: usize = 100;

/// What a report for people looks like.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Connections to list for each point; all if `None`.
    pub connections: Option<usize>,
    /// Whether to use colour.
    pub colour: bool,
    /// Columns of a line. Only words that are longer, and commands, stand out.
    pub width: usize,
    /// Only the result, nothing of how it came about.
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
