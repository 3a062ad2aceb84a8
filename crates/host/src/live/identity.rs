//! Which network namespace is which.

/// What tells namespaces apart: device and inode of the file that stands for it.
pub(super) type Identity = (u64, u64);
