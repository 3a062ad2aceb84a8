//! Merged frames that are lost from some time on, or up to some time, by each connection for itself.
//!
//! What carries the first frames of a flow may not be what carries the rest: once a flow is known, switches, firewalls and cards take
//! its frames on a shorter way (flow offload), and a path may change. Merged frames pass before, and none does afterwards.

use std::collections::BTreeMap;

use coalescope_capture::facts::{Hop, HopConnection, Left};

use crate::bucket::part;
use crate::by_size::{BySize, Step};
use crate::crossing::Crossing;
use crate::thresholds::{A_FEW, HANDFUL, MUCH_BETTER};

/// The frames of some connections, of each those from the first merged one that was lost up to the last.
pub(super) struct Since<'f> {
    within: Vec<&'f Left>,
    outside: Vec<&'f Left>,
}

impl<'f> Since<'f> {
    /// Where merged frames of each connection that loses some pass at other times, and single ones pass meanwhile, again and again.
    fn of(frames: &'f [Left]) -> Self {
        let mut by_connection: BTreeMap<u32, Vec<&Left>> = BTreeMap::new();
        for frame in frames {
            let known = by_connection.entry(frame.connection).or_default();
            known.push(frame);
        }
        let (mut within, mut outside) = (Vec::new(), Vec::new());
        for frames in by_connection.into_values() {
            let range = lossy(&frames).unwrap_or(0..0);
            outside.extend(&frames[..range.start]);
            outside.extend(&frames[range.end..]);
            within.extend(&frames[range]);
        }
        Self { within, outside }
    }

    /// The step that these frames show, if a change of what carries them explains what the hop lost far better than want of room and a
    /// window, which know no time: it was looked for at every frame.
    pub(super) fn step<'h>(hop: &'h Crossing<'_>) -> Option<(Step, &'h HopConnection)> {
        let since = Since::of(&hop.in_turn);
        let passes = since
            .outside
            .iter()
            .filter(|frame| frame.merged && !frame.lost);
        let other = hop.fit()?.likeliest_without_time();
        if (passes.count() as u64) < HANDFUL || since.likelihood() - other < 2.0 * MUCH_BETTER {
            return None;
        }
        let while_lost = since.hop(hop);
        let step = BySize::of_hop(&Crossing::of(&while_lost)).step(hop.in_turn.len())?;
        let worst = hop.connections.iter().max_by_key(|seen| seen.merged.lost)?;
        Some((step, worst))
    }

    /// The logarithm of the likelihood of all that the hop lost, if merged frames meanwhile are lost with one probability, and all others
    /// with another one.
    fn likelihood(&self) -> f64 {
        let (merged, single): (Vec<&Left>, Vec<&Left>) =
            self.within.iter().copied().partition(|frame| frame.merged);
        let others = part(single).and(part(self.outside.iter().copied()));
        part(merged).own_likelihood() + others.own_likelihood()
    }

    /// The hop, as if there were no other frames.
    fn hop(&self, hop: &Hop) -> Hop {
        let mut now = Hop {
            amid: hop.amid,
            delay_spread_s: hop.delay_spread_s,
            in_turn: self.within.iter().map(|frame| **frame).collect(),
            ..Hop::default()
        };
        let full = self.within.iter().filter(|frame| !frame.merged);
        let full = full.map(|frame| frame.bytes).max().unwrap_or(0);
        for frame in &self.within {
            let (lost, passed) = (u64::from(frame.lost), u64::from(!frame.lost));
            let sort = if frame.merged {
                now.by_length.add(frame.bytes, passed as u32, lost as u32);
                &mut now.merged
            } else {
                &mut now.single
            };
            sort.seen += 1;
            sort.lost += lost;
            sort.arrived += passed;
            if !frame.merged && 5 * u64::from(frame.bytes) > 4 * u64::from(full) {
                now.full.lost += lost;
                now.full.passed += passed;
            }
        }
        now
    }
}

/// From the first merged frame that was lost to the last, if single ones passed in between, again and again.
fn lossy(frames: &[&Left]) -> Option<std::ops::Range<usize>> {
    let loses = |frame: &&Left| frame.merged && frame.lost;
    let first = frames.iter().position(loses)?;
    let last = frames.iter().rposition(loses)?;
    let within = &frames[first..=last];
    let told = within
        .iter()
        .filter(|frame| loses(frame) || !frame.merged && !frame.lost);
    let told: Vec<bool> = told.map(|frame| frame.merged).collect();
    let turns = told.windows(2).filter(|pair| pair[0] && !pair[1]);
    (turns.count() as u64 > A_FEW).then_some(first..last + 1)
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::Amid;
    use proptest::prelude::*;

    use super::*;
    use crate::bucket::tests::{bursts, police};

    /// Whether a hop on which single frames arrive while merged ones are lost shows a step for a time.
    fn is_found(frames: &[Left]) -> bool {
        let all = Since {
            within: frames.iter().collect(),
            outside: Vec::new(),
        };
        let amid = Amid {
            resumed_ns: Some(1),
            last_lost_ns: Some(2),
            spared: false,
        };
        let hop = all.hop(&Hop {
            amid,
            ..Hop::default()
        });
        let connection = HopConnection::default();
        let hop = Hop {
            connections: vec![connection],
            ..hop
        };
        Since::step(&Crossing::of(&hop)).is_some()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Each of two connections is taken by a box after some of its frames.
        #[test]
        fn a_box_that_takes_a_flow_later_is_found(
            mut frames in bursts(), after in [60_usize..200, 60..200], both in any::<bool>(),
        ) {
            let (mut seen, mut spared) = ([0; 2], [0; 2]);
            for (turn, frame) in frames.iter_mut().enumerate() {
                let at = turn % 2 * usize::from(both);
                frame.connection = at as u32;
                seen[at] += 1;
                frame.lost = frame.merged && seen[at] > after[at];
                spared[at] += i32::from(!frame.merged && seen[at] > after[at]);
            }
            // Fewer single frames say too little of each.
            prop_assume!(spared[0] >= 15 && (!both || spared[1] >= 15));
            prop_assert!(is_found(&frames));
        }

        /// A bucket that is full at first, whatever it holds and however slowly that comes back.
        #[test]
        fn a_bucket_is_no_such_box(
            mut frames in bursts(), mbit in 0.05..100.0, burst in 1_600.0..100_000.0,
        ) {
            police(&mut frames, mbit * 1e6, burst);
            prop_assert!(!is_found(&frames));
        }

        /// A path that fails for a time, and one that never carries merged frames.
        #[test]
        fn neither_an_outage_nor_a_box_that_is_always_there_is_one(
            mut frames in bursts(), from in 60_usize..200, to in 200_usize..400, outage in any::<bool>(),
        ) {
            for (turn, frame) in frames.iter_mut().enumerate() {
                frame.lost = if outage { (from..to).contains(&turn) } else { frame.merged };
            }
            prop_assert!(!is_found(&frames));
        }
    }
}
