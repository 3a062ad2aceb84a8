//! The facts that a trace yields, as `coalescope/trace/1` prints them. `None` is "not known".

pub(crate) mod connection;
pub(crate) mod datagrams;
pub(crate) mod hop;
pub(crate) mod trace;

pub use crate::kept::Connections;
pub use crate::lengths::{Fate, Length, Lengths};
pub use crate::passes::Amid;
pub use connection::{
    Connection, Direction, Endpoint, Examples, Phases, Rejected, Repeats, Vantage,
};
pub use datagrams::DatagramHop;
pub use hop::{Blocked, Hop, HopConnection, Left, Loser, Outcomes, Slot, Strip};
pub use trace::{COUNTED_NS, Point, Trace, UNTIMED_FRAMES};
