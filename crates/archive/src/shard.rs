//! The shard of each row.
//!
//! All frames of a connection at a point have the same two ends, as have those of other connections
//! between these ends, to which a late frame may belong. The shard is a hash of the ends. Fragments
//! behind the first one have no ports. They go into a shard of their own, the last one. To
//! reassemble the datagrams of a point, that shard is read beside any other.

use coalescope_capture::rows::Row;

/// This many consecutive frames without a connection are in the same shard.
const LONE: u64 = 4096;

/// Number of shards besides those asked for: the last one, of fragments.
pub const FRAGMENTS_LAST: u32 = 1;

/// The number of all shards, including that of fragments.
#[must_use]
pub fn shards_with_fragments(shards: u32) -> u32 {
    shards + FRAGMENTS_LAST
}

/// The shard of a row, from 0; `shards` is the shard of fragments.
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
