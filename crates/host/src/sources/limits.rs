//! How much is read at most.

use std::collections::BTreeSet;

use crate::model::Snapshot;

/// The largest text. `sysctl -a` of a host with many interfaces reaches 100 MB; nothing that a
/// reader knows gets near to 256 MiB, so what does is a log or worse.
const TEXT_BYTES: u64 = 256 << 20;

/// All texts of one path that a reader understood: what they say is kept in memory, at a few bytes
/// for each of theirs. Thousands of `ethtool -S` are 100 MB.
const UNDERSTOOD_BYTES: u64 = 512 << 20;

/// All bytes read and unpacked of one path. The largest sosreports unpack to some GB, most of them
/// logs; a packed bomb ends here after some seconds, and none of it is kept.
const TOTAL_BYTES: u64 = 8 << 30;

/// Files of one path. A sosreport has 5,000 to 50,000.
const FILES: u64 = 200_000;

/// Folders within folders. The deepest in a sosreport, in its copy of `/sys`, is about 20.
const DEPTH: usize = 64;

/// Packed files and archives within each other: a collection (tar, xz) of sosreports (tar, xz) with
/// packed logs in them is five.
const NESTING: usize = 6;

/// Lines of one kind in `unread`; the rest is counted in one line.
pub(crate) const LISTED: usize = 100;

/// How much is read at most of one path. What is beyond is named in `unread`, never a failure.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of one text; a larger one is left out.
    pub text_bytes: u64,
    /// Bytes of all texts that are understood, after which no more are read.
    pub understood_bytes: u64,
    /// Bytes read and unpacked in all, after which no more are read.
    pub total_bytes: u64,
    /// Files looked at.
    pub files: u64,
    /// Folders within folders.
    pub depth: usize,
    /// Packed files and archives within each other.
    pub nesting: usize,
    /// Counters of network stacks that are kept of bundles; all, if nobody says which. A kernel has 300 for each
    /// namespace, and of a thousand hosts they take most of the memory.
    pub counters: Option<BTreeSet<String>>,
}

impl Limits {
    /// Drops counters that nobody asked for.
    pub(super) fn narrow(&self, snapshot: &mut Snapshot) {
        let Some(wanted) = &self.counters else { return };
        let inside = snapshot.namespaces.values_mut();
        for stack in inside.chain([&mut snapshot.stack]) {
            stack.counters.retain(|name, _| wanted.contains(name));
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            text_bytes: TEXT_BYTES,
            understood_bytes: UNDERSTOOD_BYTES,
            total_bytes: TOTAL_BYTES,
            files: FILES,
            depth: DEPTH,
            nesting: NESTING,
            counters: None,
        }
    }
}
