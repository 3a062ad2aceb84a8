//! What a file is, by its first bytes.

use super::normalise;

/// How many bytes are looked at: enough for the first header of a tar archive, and to see whether a
/// file without one is text.
pub(super) const HEAD: usize = 8 * 1024;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Empty,
    Packed(Packing),
    Tar,
    /// Of a known format that is not read; what it is, and what to do.
    Foreign(&'static str),
    Binary,
    Text,
}

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Xz,
    Bzip2,
    Zstd,
}

const MAGIC: &[(&[u8], Content)] = &[
    (&[0x1f, 0x8b, 8], Content::Packed(Packing::Gzip)),
    (
        &[0xfd, b'7', b'z', b'X', b'Z', 0],
        Content::Packed(Packing::Xz),
    ),
    (&[0x28, 0xb5, 0x2f, 0xfd], Content::Packed(Packing::Zstd)),
    (
        b"PK\x03\x04",
        Content::Foreign("a zip archive: unpack it, and give the folder"),
    ),
    (
        b"7z\xbc\xaf\x27\x1c",
        Content::Foreign("a 7-Zip archive: unpack it, and give the folder"),
    ),
    (
        b"MSCF",
        Content::Foreign("a cabinet archive: unpack it, and give the folder"),
    ),
    (
        &[0x0a, 0x0d, 0x0d, 0x0a],
        Content::Foreign("a capture: give it to coalescope trace"),
    ),
    (
        &[0xd4, 0xc3, 0xb2, 0xa1],
        Content::Foreign("a capture: give it to coalescope trace"),
    ),
];

/// What a file that begins with these bytes is.
pub(super) fn of(head: &[u8]) -> Content {
    let known = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
    if head.is_empty() {
        return Content::Empty;
    }
    if let Some((_, content)) = known {
        return *content;
    }
    if is_bzip2(head) {
        return Content::Packed(Packing::Bzip2);
    }
    match (is_ustar(head), normalise::is_binary(head)) {
        (true, true) => Content::Tar,
        (false, true) => Content::Binary,
        (_, false) => Content::Text,
    }
}

/// The magic of POSIX.1 at its place. A text may have the word there: only a header, whose fields and
/// last 12 bytes are filled up with zeros, has zeros as well.
fn is_ustar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// `BZh`, the block size, and the magic of a block or of the end: a text may well begin with `BZh`.
fn is_bzip2(head: &[u8]) -> bool {
    let block = head.get(4..10);
    head.starts_with(b"BZh")
        && (block == Some(b"\x31\x41\x59\x26\x53\x59")
            || block == Some(b"\x17\x72\x45\x38\x50\x90"))
}
