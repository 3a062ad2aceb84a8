//! Archives of captures, on one machine or with a distributed engine. [`digest()`] turns a capture
//! into rows of an Arrow table, and a [`Folder`] stores such rows as Parquet. [`trace()`] gives the
//! result of a trace of the captures; or [`facts()`] gives the facts of each shard, wherever the
//! shard is, and [`judge()`] a diagnosis of all of them.
//!
//! | step | where | what happens |
//! |---|---|---|
//! | rows | `digest`, `columns` | a file becomes record batches, of one shard each; a row for each frame |
//! | shards | `shard` | rows of one connection are in one shard, at whatever point |
//! | files | `files` | what is left to say of a file: how much was read, what was odd |
//! | whole | `whole` | what always holds for the table of files |
//! | plan | `plan` | files in order of time; what cannot be right is told before work is done |
//! | folder | `folder` | rows as Parquet, by shard, point and file |
//! | parts | `parts` | shards of a point that stands alone, several at a time |
//! | facts | `facts`, `cells` | rows of a shard become connections and hops, as tables |
//! | verdict | `facts/judged` | facts of all shards, judged once |
//! | workers | `workers` | several files or shards at a time |
//! | trace | `trace` | rows of all shards in their order, through the engine of `coalescope_capture` |
//!
//! What the columns mean is in `docs/archive.md`.

mod cells;
mod columns;
mod digest;
mod error;
mod facts;
mod files;
mod folder;
mod parts;
mod place;
mod plan;
mod shard;
mod trace;
mod whole;
mod workers;

pub use columns::{RowViews, rows_schema};
pub use digest::{Digest, ShardBatch, digest};
pub use error::Error;
pub use facts::{Facts, Judged, facts, facts_of, judge, parts};
pub use files::{PointFile, file_ends, file_ends_batch, files_schema};
pub use folder::{Folder, Write};
pub use place::Place;
pub use plan::{Begin, check, check_copies, order_of_time};
pub use shard::{FRAGMENTS_LAST, shard_of, shards_with_fragments};
pub use trace::{trace, trace_batches};
pub use whole::MOST_SHARDS;
pub use workers::each;
