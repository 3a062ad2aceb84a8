//! From files of packets to connections, hops between points, and facts.
//!
//! Reading is one pass and bounded in memory: [`mod@file`] hands over one frame at a time, `frame`
//! keeps of it what the analysis needs, `point` follows every connection by byte ranges, and `hop`
//! finds the same frames again at the next point. [`trace()`] runs all of it; what comes out is
//! [`facts`], plain data without an opinion.

mod acks;
mod connection;
mod doubled;
pub mod facts;
mod feed;
pub mod file;
mod fisher;
mod flow;
mod fragments;
mod frame;
mod hop;
mod kept;
mod key;
mod lengths;
mod lockstep;
mod outstanding;
mod phases;
mod point;
mod ranges;
mod reader;
mod rtt;
mod segment;
pub mod series;
mod stuck;
mod summary;
mod table;
mod tally;
mod vantage;

pub use fisher::fisher_exact;
pub use lockstep::{Options, PointInput, Progress, TraceError, trace};
