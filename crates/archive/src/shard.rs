//! The shard of each row.
//!
//! All frames of a connection at a point have the same two ends, as have those of other connections
//! between these ends, to which a late frame may belong. The shard is a hash of the ends. Fragments
//! behind the first one have no ports. They go into a shard of their own, the last one. To
//! reassemble the datagrams of a point, that shard is read beside any other.

use coalescope_capture::rows::Row;

/// With more shards than this, each keeps fewer rows waiting, so that all of them together keep no more.
const FULL: u32 = 64;

/// This many consecutive frames without a connection are in the same shard.
const LONE: u64 = 4096;

/// Number of shards besides those asked for: the last one, of fragments.
pub const FRAGMENTS_LAST: u32 = 1;

/// The number of all shards, including that of fragments.
#[must_use]
pub fn shards_with_fragments(shards: u32) -> u32 {
    shards + FRAGMENTS_LAST
}

/// How many rows of each shard may wait in memory, if that many may with few shards.
pub(crate) fn waiting(rows: usize, shards: u32) -> usize {
    let shards = u64::from(shards.max(FULL));
    (rows as u64 * u64::from(FULL) / shards).max(1) as usize
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_wait_do_not_grow_with_the_number_of_shards() {
        assert_eq!(waiting(8192, 1), 8192);
        assert_eq!(waiting(8192, FULL), 8192);
        for shards in [65, 1000, 1024, u32::MAX] {
            let all = waiting(8192, shards) as u64 * u64::from(shards);
            assert!(
                all <= 8192 * u64::from(FULL) || waiting(8192, shards) == 1,
                "{shards}"
            );
        }
    }
}
