//! Facts as tables: connections and hops, of one shard or of all.

mod follow;
mod judged;
mod records;
mod tables;

pub use follow::{facts, facts_of, parts};
pub use judged::{Judged, judge};
pub use tables::Facts;
