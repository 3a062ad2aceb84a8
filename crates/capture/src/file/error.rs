//! Why a capture could not be opened.

use std::io;

/// Why nothing can be read from a file.
///
/// The cause of [`OpenError::Open`] and [`OpenError::Read`] is their `source()`, it is not
/// repeated in their own text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The operating system did not open the file.
    #[error("cannot open the capture {name}: check the path and that you may read it")]
    Open {
        /// The path as given.
        name: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file was opened, but its first bytes could not be read or unpacked.
    #[error("cannot read the first bytes of {name}")]
    Read {
        /// The path as given.
        name: String,
        /// The error of the operating system, or of the decompressor.
        source: io::Error,
    },
    /// The file is empty.
    #[error(
        "{name} is empty: expected a capture (pcap or pcapng, plain or packed with gzip or zstd); \
         if it comes from a running capture, let that write its first packets (tcpdump -U)"
    )]
    Empty {
        /// The path as given.
        name: String,
    },
    /// The first bytes are of no format known here.
    #[error(
        "{name} is not a capture: {place} {seen}; expected pcap (a1b2c3d4 or a1b23c4d, in either \
         byte order) or pcapng (0a0d0d0a), plain or packed with gzip (1f8b) or zstd (28b52ffd). \
         {advice}"
    )]
    NotACapture {
        /// The path as given.
        name: String,
        /// "it begins with", or where else the bytes were seen.
        place: &'static str,
        /// The first bytes, in hexadecimal and as text.
        seen: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// The file ends within its header.
    #[error(
        "{name} breaks off in the header of the {format} file: it has {have} bytes of {need}; \
         copy or record it again"
    )]
    Cut {
        /// The path as given.
        name: String,
        /// "pcap" or "pcapng".
        format: &'static str,
        /// How many bytes there are.
        have: u64,
        /// How many bytes the header has.
        need: u64,
    },
}

/// First bytes of other formats, and what to do about such a file.
const KNOWN_STRANGERS: &[(&[u8], &str)] = &[
    (
        &[0xfd, b'7', b'z', b'X', b'Z'],
        "It is packed with xz: unpack it first (xz -dc FILE | coalescope trace -)",
    ),
    (
        b"BZh",
        "It is packed with bzip2: unpack it first (bzip2 -dc FILE | coalescope trace -)",
    ),
    (
        &[0x04, 0x22, 0x4d, 0x18],
        "It is packed with lz4: unpack it first (lz4 -dc FILE | coalescope trace -)",
    ),
    (b"PK\x03\x04", "It is a zip archive: unpack it first"),
    (
        b"version https://git-lfs.github.com/spec/",
        "It is a pointer of Git LFS, which stands in place of the file: fetch the file itself (git lfs pull)",
    ),
    (
        b"snoop\0\0\0",
        "It is a snoop capture: convert it (editcap -F pcapng IN OUT)",
    ),
    (
        b"RTSS",
        "It is a Network Monitor capture: convert it (editcap -F pcapng IN OUT)",
    ),
    (
        b"GMBU",
        "It is a Network Monitor capture: convert it (editcap -F pcapng IN OUT)",
    ),
];

const GENERAL_ADVICE: &str =
    "If Wireshark opens it, convert it with editcap -F pcapng IN OUT, else record it again";

/// As many bytes as are needed to tell them.
pub(super) const STRANGER_BYTES: usize = 64;

/// What to do about a file that begins with these bytes.
pub(super) fn advice(first: &[u8]) -> &'static str {
    KNOWN_STRANGERS
        .iter()
        .find(|(magic, _)| first.starts_with(magic))
        .map_or(GENERAL_ADVICE, |(_, advice)| advice)
}

/// The first bytes as a message shows them: hexadecimal, then text.
pub(super) fn show_bytes(first: &[u8]) -> String {
    let first = &first[..first.len().min(8)];
    let hex: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} (\"{}\")", hex.join(" "), first.escape_ascii())
}
