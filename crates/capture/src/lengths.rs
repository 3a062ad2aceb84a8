//! What became of frames, by their length.

/// Lengths up to this fall into narrow classes: an MTU of 9,000 bytes lies within.
const NARROW_UP_TO: u32 = 9 * 1024;
/// So narrow that a frame with one segment more is in another class.
const NARROW: u32 = 256;
const WIDE: u32 = 1024;
/// Longer than any frame except those of BIG TCP (Linux 5.19), which share the last class.
const LONGEST: u32 = 64 * 1024;

/// What became of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Frames that arrived in some form.
    pub passed: u64,
    /// Frames that did not arrive.
    pub lost: u64,
}

impl Fate {
    /// Of so many frames, of which some were lost.
    pub(crate) fn new(all: u32, lost: u32) -> Self {
        Self {
            passed: u64::from(all.saturating_sub(lost)),
            lost: u64::from(lost),
        }
    }

    /// Adds the counts of other frames.
    pub fn add(&mut self, others: Self) {
        self.passed += others.passed;
        self.lost += others.lost;
    }
}

/// Frames of about one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// Payload bytes, at most.
    pub bytes: u32,
    /// Frames that arrived in some form.
    pub passed: u32,
    /// Frames that did not arrive.
    pub lost: u32,
    /// Of those that arrived, frames that lost a part.
    pub partly: u32,
}

/// Frames by length, the shortest first; lengths that no frame had are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths(Vec<Length>);

impl Lengths {
    /// Frames by length.
    pub fn iter(&self) -> impl Iterator<Item = &Length> {
        self.0.iter()
    }

    /// Counts frames of one length.
    pub fn add(&mut self, payload: u32, passed: u32, lost: u32) {
        self.add_these(Length {
            bytes: payload,
            passed,
            lost,
            partly: 0,
        });
    }

    /// Counts a frame that arrived but for a part.
    pub fn add_partly(&mut self, payload: u32) {
        self.add_these(Length {
            bytes: payload,
            passed: 1,
            lost: 0,
            partly: 1,
        });
    }

    /// Adds the counts of frames of one length.
    pub fn add_these(&mut self, these: Length) {
        let bytes = class_of(these.bytes);
        let at = self.0.partition_point(|length| length.bytes < bytes);
        if self.0.get(at).is_none_or(|length| length.bytes != bytes) {
            let none = Length::default();
            self.0.insert(at, Length { bytes, ..none });
        }
        let length = &mut self.0[at];
        length.passed += these.passed;
        length.lost += these.lost;
        length.partly += these.partly;
    }

    /// Adds the counts of other frames.
    pub fn add_all(&mut self, others: &Self) {
        others.0.iter().for_each(|length| self.add_these(*length));
    }

    /// Whether frames were lost, and all of them were longer than one with this payload.
    pub(crate) fn spares(&self, payload: u32) -> bool {
        let mut lost = self.0.iter().filter(|length| length.lost > 0);
        lost.next()
            .is_some_and(|shortest| class_of(payload) < shortest.bytes)
    }

    /// The same frames, those that lost a part among the lost ones.
    #[must_use]
    pub fn damaged(&self) -> Self {
        let damaged = |length: &Length| Length {
            passed: length.passed - length.partly,
            lost: length.lost + length.partly,
            partly: 0,
            ..*length
        };
        Self(self.0.iter().map(damaged).collect())
    }
}

/// The longest payload in the same class as this one.
fn class_of(payload: u32) -> u32 {
    let width = if payload <= NARROW_UP_TO {
        NARROW
    } else {
        WIDE
    };
    payload.max(1).next_multiple_of(width).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_by_about_their_length() {
        let mut lengths = Lengths::default();
        for (payload, passed, lost) in [(2896, 1, 0), (60_000, 0, 1), (2900, 0, 2), (1 << 20, 0, 1)]
        {
            lengths.add(payload, passed, lost);
        }
        let all: Vec<_> = lengths
            .iter()
            .map(|length| (length.bytes, length.passed, length.lost))
            .collect();
        assert_eq!(all, [(3072, 1, 2), (60_416, 0, 1), (LONGEST, 0, 1)]);
    }

    #[test]
    fn frames_in_a_class_below_all_that_were_lost_are_spared() {
        let mut lengths = Lengths::default();
        lengths.add(2896, 5, 0);
        assert!(!lengths.spares(1));
        lengths.add(4344, 0, 1);
        lengths.add(8688, 0, 1);
        assert!(lengths.spares(2896) && !lengths.spares(4300) && !lengths.spares(7240));
    }

    #[test]
    fn a_frame_that_lost_a_part_arrived_and_is_damaged() {
        let mut lengths = Lengths::default();
        lengths.add(2896, 3, 1);
        lengths.add_partly(2896);
        let counts = |lengths: &Lengths| {
            let all = lengths.iter().map(|length| (length.passed, length.lost));
            all.collect::<Vec<_>>()
        };
        assert_eq!(counts(&lengths), [(4, 1)]);
        assert_eq!(counts(&lengths.damaged()), [(3, 2)]);
    }

    #[test]
    fn classes_are_few() {
        let mut lengths = Lengths::default();
        (0..200_000).for_each(|payload| lengths.add(payload, 1, 0));
        assert!(lengths.0.len() < 100, "{}", lengths.0.len());
    }
}
