//! What was wrong in a capture that could be read all the same, or in part.

use super::window::Window;
use std::fmt;

/// One sort of damage: where it was seen first, how often, what was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What was wrong.
    pub kind: WarningKind,
    /// Byte offset, in the unpacked file, of the record or block where it was seen first.
    pub offset: u64,
    /// Number of the frame it concerned, or of the frame that would have come next.
    pub frame: u64,
    /// How often it was seen.
    pub count: u64,
}

/// What was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// The file ends in the middle of a record or block. Reading ended.
    Cut {
        /// Bytes left out.
        left_out: u64,
    },
    /// The file could not be read, or unpacked, further. Reading ended.
    ReadFailed {
        /// What the operating system or the decompressor said.
        why: String,
        /// Bytes left out.
        left_out: u64,
    },
    /// A pcap record claims more bytes than any capture program records. Reading ended.
    CapturedLength {
        /// The claimed length.
        claimed: u32,
        /// Bytes left out.
        left_out: u64,
    },
    /// A pcapng block has a length that no block can have. Reading ended.
    BlockLength {
        /// The claimed length.
        claimed: u32,
        /// Bytes left out.
        left_out: u64,
    },
    /// The two lengths around a pcapng block differ. Reading ended.
    LengthsDiffer {
        /// The length before the block.
        leading: u32,
        /// The length behind it.
        trailing: u32,
        /// Bytes left out.
        left_out: u64,
    },
    /// A pcapng section header is damaged. Reading ended.
    SectionHeader {
        /// Bytes left out.
        left_out: u64,
    },
    /// A pcapng section has a version other than 1 in its header; it was read as version 1.
    SectionVersion {
        /// Its major version.
        major: u16,
    },
    /// A pcapng block with a packet is damaged inside, and was left out.
    PacketBlock,
    /// A pcapng block with a packet is larger than any packet, and was left out.
    HugePacketBlock {
        /// The first one's length.
        length: u32,
    },
    /// A pcapng packet names an interface that the section does not have, and was left out.
    UnknownInterface {
        /// The first such interface.
        id: u32,
    },
    /// A pcapng interface description is damaged; packets of the interface are left out.
    InterfaceBlock,
    /// More interfaces than are kept apart: further ones are shared, or their packets left out.
    TooManyInterfaces,
    /// The options of a pcapng block are damaged. Some were left out, the block was not.
    BlockOptions,
    /// A frame has more captured bytes than its original length; the captured length was taken for the original one.
    CapturedOverOriginal,
    /// Simple packet blocks have no time; their frames have the time of the frame before.
    NoTime,
    /// A time before 1970 or after 2116 was set to the nearest one that can be represented.
    TimeOutOfRange,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning {
            offset,
            frame,
            count,
            ..
        } = self;
        self.kind.fmt_what(f)?;
        match count {
            1 => write!(f, " (frame {frame}, byte {offset})")?,
            _ => write!(f, " ({count} times, first at frame {frame}, byte {offset})")?,
        }
        match self.kind.left_out() {
            None => Ok(()),
            Some(1) => write!(f, "; reading ended there, 1 byte was left out"),
            Some(bytes) => write!(f, "; reading ended there, {bytes} bytes were left out"),
        }
    }
}

impl WarningKind {
    fn fmt_what(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadFailed { why, .. } => write!(f, "the file cannot be read on: {why}"),
            Self::CapturedLength { claimed, .. } => {
                write!(
                    f,
                    "a record says it holds {claimed} bytes, the most is 262144"
                )
            }
            Self::BlockLength { claimed, .. } => {
                write!(f, "a block says it has {claimed} bytes, which cannot be")
            }
            Self::LengthsDiffer {
                leading, trailing, ..
            } => write!(
                f,
                "a block has {leading} bytes by its first length and {trailing} by its last"
            ),
            Self::SectionVersion { major } => write!(
                f,
                "a section is of pcapng version {major} and was read as version 1"
            ),
            Self::HugePacketBlock { length } => {
                write!(f, "a packet block of {length} bytes was left out")
            }
            Self::UnknownInterface { id } => write!(
                f,
                "a packet of interface {id} was left out, its section does not describe it"
            ),
            _ => f.write_str(self.fixed_text()),
        }
    }

    fn fixed_text(&self) -> &'static str {
        match self {
            Self::Cut { .. } => "the file ends in the middle of a record",
            Self::SectionHeader { .. } => "a section header is damaged",
            Self::PacketBlock => "a damaged packet block was left out",
            Self::InterfaceBlock => {
                "an interface description is damaged, packets of that interface are left out"
            }
            Self::TooManyInterfaces => {
                "there are more interfaces than are kept apart, some share an entry or are left out"
            }
            Self::BlockOptions => "damaged options of a block were left out",
            Self::CapturedOverOriginal => {
                "a frame holds more bytes than it says the packet had, all of them were kept"
            }
            Self::NoTime => {
                "a simple packet block has no time and was given that of the frame before"
            }
            Self::TimeOutOfRange => {
                "a time lies outside of the years 1970 to 2116 and was set to the nearest"
            }
            _ => "",
        }
    }

    /// Bytes left out where reading ended; `None` where it went on.
    #[must_use]
    pub fn left_out(&self) -> Option<u64> {
        match self {
            Self::Cut { left_out }
            | Self::ReadFailed { left_out, .. }
            | Self::CapturedLength { left_out, .. }
            | Self::BlockLength { left_out, .. }
            | Self::LengthsDiffer { left_out, .. }
            | Self::SectionHeader { left_out } => Some(*left_out),
            _ => None,
        }
    }
}

/// How far reading has come: frames counted, damage noted.
#[derive(Default)]
pub(super) struct Log {
    /// Frames up to now, with those that had to be left out.
    pub(super) frames: u64,
    /// Reading has ended.
    pub(super) ended: bool,
    pub(super) unreadable: u64,
    pub(super) warnings: Vec<Warning>,
}

impl Log {
    /// Notes damage at a byte offset that concerns the frame counted last. One sort is noted once
    /// and counted from then on.
    #[cold]
    pub(super) fn note(&mut self, kind: WarningKind, offset: u64) {
        self.note_for(kind, offset, self.frames);
    }

    /// Notes damage that concerns what comes before the next frame.
    #[cold]
    pub(super) fn note_ahead(&mut self, kind: WarningKind, offset: u64) {
        self.note_for(kind, offset, self.frames + 1);
    }

    fn note_for(&mut self, kind: WarningKind, offset: u64, frame: u64) {
        let sort = std::mem::discriminant(&kind);
        let mut known = self.warnings.iter_mut();
        if let Some(same) = known.find(|w| std::mem::discriminant(&w.kind) == sort) {
            same.count = same.count.saturating_add(1);
            return;
        }
        self.warnings.push(Warning {
            kind,
            offset,
            frame,
            count: 1,
        });
    }

    /// Ends reading at damage in what began at `from`; `kind` gets the number of bytes left out.
    #[cold]
    pub(super) fn stop(
        &mut self,
        window: &mut Window,
        from: u64,
        kind: impl FnOnce(u64) -> WarningKind,
    ) {
        let left_out = window.offset() - from + window.abandon();
        self.unreadable += left_out;
        self.ended = true;
        self.note_ahead(kind(left_out), from);
    }

    /// Ends reading where the stream ended: in good order if nothing began at `from`.
    #[cold]
    pub(super) fn end(&mut self, window: &mut Window, from: u64) {
        let why = window.failure().map(ToString::to_string);
        let nothing_begun = window.offset() == from && window.bytes().is_empty();
        match why {
            Some(why) => self.stop(window, from, |left_out| WarningKind::ReadFailed {
                why,
                left_out,
            }),
            None if nothing_begun => self.ended = true,
            None => self.stop(window, from, |left_out| WarningKind::Cut { left_out }),
        }
    }
}
