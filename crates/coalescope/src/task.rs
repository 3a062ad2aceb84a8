//! What a command reads of captures, and how.

use coalescope_archive::Folder;
use coalescope_capture::Options;

use crate::inputs::Point;
use crate::interrupt::Interrupt;
use crate::system::memory;

/// What to read, and how.
pub(crate) struct Task {
    /// The points.
    pub(crate) points: Vec<Point>,
    /// An archive in their place.
    pub(crate) archive: Option<Folder>,
    /// Whether they show two transfers to set side by side.
    pub(crate) compare: bool,
    /// Whether the interfaces of the one input are the points.
    pub(crate) points_by_interface: bool,
    /// Connections to keep of one point.
    pub(crate) max_connections: usize,
    /// Threads to read with.
    pub(crate) threads: usize,
    /// Ends this reading, and a second one.
    pub(crate) interrupt: Interrupt,
}

impl Task {
    /// The same for reading.
    pub(crate) fn options(&self) -> Options {
        Options {
            threads: self.threads,
            points_by_interface: self.points_by_interface,
            separate: self.compare,
            max_connections: self.max_connections,
            is_short: Some(memory::is_short),
            stop: self.interrupt.flag(),
        }
    }
}
