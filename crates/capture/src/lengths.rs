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
        let bytes = class_of(payload);
        let at = self.0.partition_point(|length| length.bytes < bytes);
        if self.0.get(at).is_none_or(|length| length.bytes != bytes) {
            let (passed, lost) = (0, 0);
            self.0.insert(
                at,
                Length {
                    bytes,
                    passed,
                    lost,
                },
            );
        }
        self.0[at].passed += passed;
        self.0[at].lost += lost;
    }

    /// Adds the counts of other frames.
    pub fn add_all(&mut self, others: &Self) {
        for length in &others.0 {
            self.add(length.bytes, length.passed, length.lost);
        }
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
    fn classes_are_few() {
        let mut lengths = Lengths::default();
        (0..200_000).for_each(|payload| lengths.add(payload, 1, 0));
        assert!(lengths.0.len() < 100, "{}", lengths.0.len());
    }
}
