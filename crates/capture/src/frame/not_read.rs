//! Packets that are not looked into.

use coalescope_wire::Unread;

/// Frames that carry what is not looked into, by its kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NotRead([u64; Unread::ALL.len()]);

impl NotRead {
    /// Counts a frame.
    pub(crate) fn note(&mut self, unread: Unread) {
        let known = Unread::ALL.iter().zip(&mut self.0);
        known
            .filter(|(kind, _)| **kind == unread)
            .for_each(|(_, count)| *count += 1);
    }

    pub(crate) fn add(&mut self, other: Self) {
        let both = self.0.iter_mut().zip(other.0);
        both.for_each(|(sum, count)| *sum += count);
    }

    /// A warning for each kind.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> + '_ {
        let met = Unread::ALL
            .iter()
            .zip(self.0)
            .filter(|(_, count)| *count > 0);
        met.map(|(kind, count)| {
            format!(
                "{count} frames carry {}, which coalescope does not look into: capture in front of whatever puts packets \
                 in there, or behind whatever takes them out",
                kind.name()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_that_is_not_read_is_named_with_its_count() {
        let mut all = NotRead::default();
        let mut more = NotRead::default();
        all.note(Unread::GtpU);
        more.note(Unread::GtpU);
        more.note(Unread::Esp);
        all.add(more);
        let words: Vec<String> = all.words().collect();
        assert_eq!(words.len(), 2);
        assert!(words[0].starts_with("1 frames carry IPsec"), "{words:?}");
        assert!(words[1].starts_with("2 frames carry GTP-U,"), "{words:?}");
    }
}
