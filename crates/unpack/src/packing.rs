//! How a file is packed, by its first bytes.

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// As bzip2 packs.
    #[cfg(feature = "archives")]
    Bzip2,
    /// As xz packs.
    #[cfg(feature = "archives")]
    Xz,
}

impl Packing {
    /// The packing by a file's first bytes: four are enough for gzip and zstd, six for xz, ten for bzip2.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        let is = |magic: &[u8]| head.starts_with(magic);
        if is(&[0x1f, 0x8b]) {
            return Some(Self::Gzip);
        }
        if is(&[0x28, 0xb5, 0x2f, 0xfd]) {
            return Some(Self::Zstd);
        }
        #[cfg(feature = "archives")]
        if is(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
            return Some(Self::Xz);
        }
        #[cfg(feature = "archives")]
        if is_bzip2(head) {
            return Some(Self::Bzip2);
        }
        None
    }
}

/// `BZh`, the block size, and the magic of a block or of the end: a text file may begin with `BZh`.
#[cfg(feature = "archives")]
fn is_bzip2(head: &[u8]) -> bool {
    let block = head.get(4..10);
    head.starts_with(b"BZh")
        && (block == Some(b"\x31\x41\x59\x26\x53\x59")
            || block == Some(b"\x17\x72\x45\x38\x50\x90"))
}
