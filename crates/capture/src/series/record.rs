//! One frame of a connection at one point, while the capture is read.

use coalescope_wire::Flags;

use crate::flow::Data;
use crate::hop::Outcome;

/// How much a frame shows in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    Plain,
    Merged,
    Telling,
}

/// A frame, with the numbers of its own point.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Its place among the lane's frames.
    pub(super) ordinal: u64,
    pub(super) number: u64,
    /// Number of its file, from 0.
    pub(super) file: u16,
    pub(super) time_ns: i64,
    pub(super) from_low: bool,
    /// Position of its first byte, if the direction has any.
    pub(super) position: Option<u64>,
    pub(super) payload: u32,
    pub(super) length: u32,
    pub(super) data: Data,
    pub(super) is_late: bool,
    /// It carries several segments, as far as known when it came.
    pub(super) is_multi: bool,
    pub(super) ack: Option<u64>,
    pub(super) window: u16,
    pub(super) sack: Vec<(u64, u64)>,
    pub(super) flags: Flags,
    pub(super) fate: Option<Outcome>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            ordinal: 0,
            number: 0,
            file: 0,
            time_ns: 0,
            from_low: false,
            position: None,
            payload: 0,
            length: 0,
            data: Data::None,
            is_late: false,
            is_multi: false,
            ack: None,
            window: 0,
            sack: Vec::new(),
            flags: Flags(0),
            fate: None,
        }
    }
}

impl Record {
    /// Whether it carries bytes of the stream.
    pub(super) fn has_data(&self) -> bool {
        is_data(self.data)
    }

    pub(super) fn rank(&self) -> Rank {
        let is_lost = matches!(self.fate, Some(Outcome::Lost | Outcome::PartlyLost));
        let is_odd = matches!(self.data, Data::Repeat | Data::OutOfOrder);
        let ends = self.flags.has(Flags::SYN | Flags::FIN | Flags::RST);
        if is_lost || is_odd || ends || self.window == 0 {
            Rank::Telling
        } else if self.is_multi {
            Rank::Merged
        } else {
            Rank::Plain
        }
    }
}

pub(super) fn is_data(data: Data) -> bool {
    matches!(data, Data::New | Data::OutOfOrder | Data::Repeat)
}

/// The window in bytes. A SYN's window is not scaled (RFC 7323, 2.2), a RST's means nothing.
pub(super) fn scaled(record: &Record, scale: Option<u8>) -> Option<u32> {
    if record.flags.has(Flags::RST) || !record.flags.has(Flags::ACK) {
        return None;
    }
    if record.flags.has(Flags::SYN) {
        return Some(u32::from(record.window));
    }
    // The scale is 14 at most (RFC 7323, 2.3).
    scale.map(|scale| u32::from(record.window) << scale.min(14))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_syn_and_rst() {
        let with = |flags| {
            let record = Record {
                window: 100,
                flags: Flags(flags),
                ..Record::default()
            };
            scaled(&record, Some(7))
        };
        assert_eq!(with(Flags::ACK), Some(12_800));
        assert_eq!(with(Flags::ACK | Flags::SYN), Some(100));
        assert_eq!(with(Flags::ACK | Flags::RST), None);
        assert_eq!(with(Flags::SYN), None);
    }
}
