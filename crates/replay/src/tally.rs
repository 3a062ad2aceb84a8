//! Counts by reason.

use std::collections::BTreeMap;

use crate::facts::Reasons;

/// The reason of frames that were merged before they were captured.
pub(crate) const ALREADY_MERGED: &str = "already-merged";

/// The event that a reason belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A frame passed.
    Passed,
    /// A frame was held, and not merged with a held one.
    Refused,
    /// A frame came out, passed or held.
    Out,
}

/// Few of all reasons occur in one connection, so a list is smaller than a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Vec<(Event, &'static str, u64)>);

impl Tally {
    pub(crate) fn count(&mut self, event: Event, reason: &'static str) {
        let same = |entry: &&mut (Event, &str, u64)| entry.0 == event && entry.1 == reason;
        match self.0.iter_mut().find(same) {
            Some(entry) => entry.2 += 1,
            None => self.0.push((event, reason, 1)),
        }
    }

    /// The reasons for which held frames went up are those of frames that came out without having passed: a passing
    /// frame comes out for the reason for which it passed, though perhaps later.
    pub(crate) fn reasons(&self) -> Reasons {
        let of = |event| {
            let entries = self.0.iter().filter(move |entry| entry.0 == event);
            entries.map(|&(_, reason, count)| (reason, count))
        };
        let passed: BTreeMap<_, _> = of(Event::Passed).collect();
        let held = |(reason, out): (&'static str, u64)| {
            let out = out.saturating_sub(passed.get(reason).copied().unwrap_or(0));
            (out > 0).then_some((reason, out))
        };
        Reasons {
            flushed: of(Event::Out).filter_map(held).collect(),
            refused: of(Event::Refused).collect(),
            passed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_was_not_flushed() {
        let mut tally = Tally::default();
        for _ in 0..3 {
            tally.count(Event::Out, "flags");
        }
        tally.count(Event::Passed, "flags");
        tally.count(Event::Passed, "no-payload");
        tally.count(Event::Out, "no-payload");
        tally.count(Event::Refused, "window");
        let reasons = tally.reasons();
        assert_eq!(
            reasons.passed,
            BTreeMap::from([("flags", 1), ("no-payload", 1)])
        );
        assert_eq!(reasons.refused, BTreeMap::from([("window", 1)]));
        assert_eq!(reasons.flushed, BTreeMap::from([("flags", 2)]));
    }
}
