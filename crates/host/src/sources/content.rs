//! The kind of a file, by its first bytes.

use coalescope_unpack::Packing;

use super::normalise;

/// How many bytes are looked at: enough for the first header of a tar archive, and to see whether a
/// file without one is text.
pub(super) const HEAD: usize = 8 * 1024;

/// The kind of a file.
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

const MAGIC: &[(&[u8], Content)] = &[
    (
        b"version https://git-lfs.github.com/spec/",
        Content::Foreign(
            "a pointer of Git LFS, which stands in place of the file: `git lfs pull` fetches the file itself",
        ),
    ),
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

/// The kind of a file that begins with these bytes.
pub(super) fn of(head: &[u8]) -> Content {
    let known = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
    if head.is_empty() {
        return Content::Empty;
    }
    if let Some((_, content)) = known {
        return *content;
    }
    if let Some(packing) = Packing::of(head) {
        return Content::Packed(packing);
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
