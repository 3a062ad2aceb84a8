//! Which rows belong together.
//!
//! All frames of a connection at a point have the same two ends, and so have those of other connections between these
//! that a late frame may belong to: their hash is the shard. Fragments behind the first one have no ports. They go into
//! a shard of their own, the last one, and whoever puts together the datagrams of a point reads that beside any other.

use coalescope_capture::rows::Row;

/// Frames that are in no connection lie together by so many.
const LONE: u64 = 4096;

/// How many shards there are beyond those asked for: the last one, of fragments.
pub const FRAGMENTS_LAST: u32 = 1;

/// All shards, that of fragments included, where so many were asked for.
#[must_use]
pub fn shards_with_fragments(shards: u32) -> u32 {
    shards + FRAGMENTS_LAST
}

/// The shard of a row, from 0; `shards` is that of fragments.
#[must_use]
pub fn shard_of(row: &Row, shards: u32) -> u32 {
    if row.kind.is_fragment() {
        return shards;
    }
    let hash = if row.ends == Default::default() {
        row.number / LONE
    } else {
        row.connection_hash()
    };
    (hash % u64::from(shards.max(1))) as u32
}
