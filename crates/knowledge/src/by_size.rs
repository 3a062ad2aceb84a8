//! Loss by length: a step shows frames that could not be carried, a slope shows a queue or a policer.
//!
//! A box that carries frames up to some length loses no shorter frame and all longer ones. A queue without room, or a
//! policer without tokens, loses by the byte: frames twice as long are lost about twice as often, and short frames are
//! not spared.

use coalescope_capture::facts::{
    Amid, DatagramHop, Direction, Fate, Hop, HopConnection, Length, Lengths,
};

use crate::odds::{Table, fisher};
use crate::thresholds::{
    A_FEW, ALPHA, DOUBT, HANDFUL, LONE, MERGED_LOST, MUCH_BETTER, NEARLY_ALL, SEGMENT, SPARED,
    SPARED_BESIDE, SURELY, TIMES_SINGLE,
};
use crate::words::{probability, share};

/// Frames and what became of them: single ones, and longer ones by their length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BySize<'a> {
    pub(crate) table: Table,
    lengths: &'a Lengths,
    /// Single frames about as long as the segments that merged frames are made of.
    full: Part,
    /// Payload bytes of a full single frame.
    segment: u32,
    /// Frames that left together and arrived, by their bytes in all, where that is known.
    together: Option<&'a Lengths>,
    /// Where full single frames arrived while merged ones were being lost. A path that fails when a transfer begins, for
    /// a while or for good, has lost merged frames only, too, and single ones arrived before.
    amid: Amid,
}

/// Frames of some lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) lost: u64,
    pub(crate) all: u64,
}

/// All frames longer than some length are lost, and none of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Payload bytes of the longest merged frames that pass; `None` if no merged frame passes.
    pub(crate) carried: Option<u32>,
    pub(crate) longer: Part,
    pub(crate) shorter: Part,
    pub(crate) p: f64,
}

impl From<Fate> for Part {
    fn from(fate: Fate) -> Self {
        Self {
            lost: fate.lost,
            all: fate.passed + fate.lost,
        }
    }
}

impl Part {
    pub(crate) fn of<'l>(lengths: impl Iterator<Item = &'l Length>) -> Self {
        lengths.fold(Self::default(), |sum, length| Self {
            lost: sum.lost + u64::from(length.lost),
            all: sum.all + u64::from(length.lost) + u64::from(length.passed),
        })
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            lost: self.lost + other.lost,
            all: self.all + other.all,
        }
    }

    fn share(self) -> f64 {
        self.lost as f64 / self.all.max(1) as f64
    }

    /// Logarithm of the likelihood of these counts if each frame is lost with this probability.
    pub(crate) fn likelihood(self, probability: f64) -> f64 {
        let term = |n: u64, p: f64| if n == 0 { 0.0 } else { n as f64 * p.ln() };
        term(self.lost, probability) + term(self.all - self.lost, 1.0 - probability)
    }

    /// Likelihood with the probability that makes the counts likeliest.
    pub(crate) fn own_likelihood(self) -> f64 {
        self.likelihood(self.share())
    }
}

impl<'a> BySize<'a> {
    /// All merged frames of a hop.
    pub(crate) fn of_hop(hop: &'a Hop) -> Self {
        Self {
            table: Table::of(&hop.merged, &hop.single),
            lengths: &hop.by_length,
            full: hop.full.into(),
            segment: SEGMENT,
            together: Some(&hop.together),
            amid: hop.amid,
        }
    }

    /// The merged frames of one connection.
    pub(crate) fn of_connection(connection: &'a HopConnection) -> Self {
        Self {
            table: Table::of(&connection.merged, &connection.single),
            lengths: &connection.by_length,
            full: connection.full.into(),
            segment: SEGMENT,
            together: Some(&connection.together),
            amid: connection.amid,
        }
    }

    /// The frames of one connection that were taken for TSO frames.
    pub(crate) fn of_uncut(connection: &'a HopConnection) -> Self {
        Self {
            table: Table::of(&connection.tso, &connection.single),
            ..Self::of_connection(connection)
        }
    }

    /// The merged frames of a direction at one point, by retransmissions.
    pub(crate) fn of_repeats(direction: &'a Direction) -> Self {
        Self {
            table: Table::of_repeats(direction),
            lengths: &direction.by_length,
            full: Part::from(direction.full).and(direction.full_again.into()),
            segment: direction.segment_size_bytes.unwrap_or(SEGMENT),
            together: None,
            amid: direction.amid,
        }
    }

    /// The frames of a direction at one point that were taken for TSO frames, by retransmissions.
    pub(crate) fn of_uncut_repeats(direction: &'a Direction) -> Self {
        Self {
            table: Table::of_uncut_repeats(direction),
            ..Self::of_repeats(direction)
        }
    }

    /// The merged UDP datagrams of a hop, of which one that lost a part is as good as lost.
    pub(crate) fn of_datagrams(hop: &'a DatagramHop) -> Self {
        let (merged, single) = (&hop.merged, &hop.single);
        Self {
            table: Table {
                merged_lost: merged.damaged(),
                merged: merged.damaged() + merged.intact(),
                single_lost: single.damaged(),
                single: single.damaged() + single.intact(),
            },
            lengths: &hop.by_length,
            full: hop.full.into(),
            segment: SEGMENT,
            together: Some(&hop.together),
            amid: hop.amid,
        }
    }

    /// Any frames together.
    #[cfg(test)]
    fn of_all(table: Table, lengths: &'a Lengths) -> Self {
        Self {
            table,
            lengths,
            full: Part {
                lost: table.single_lost,
                all: table.single,
            },
            segment: SEGMENT,
            together: None,
            amid: PASSES,
        }
    }

    /// A hint at merging that does not convict it. There is none where full single frames are lost like merged ones: a
    /// path that cannot carry full single frames is too narrow for either.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        self.table.hint().filter(|_| !self.is_narrow())
    }

    /// Whether most full single frames are lost as well: then the path is too narrow for either.
    pub(crate) fn is_narrow(&self) -> bool {
        self.full.all >= A_FEW && self.full.share() >= MERGED_LOST
    }

    /// Frames by length: those of several segments.
    pub(crate) fn lengths(&self) -> &Lengths {
        self.lengths
    }

    fn single(&self) -> Part {
        Part {
            lost: self.table.single_lost,
            all: self.table.single,
        }
    }

    /// Whether longer frames cannot be carried; `looks` is the number of tables that were tested.
    pub(crate) fn step(&self, looks: usize) -> Option<Step> {
        if self.table.merged_lost < HANDFUL || self.table.single == 0 {
            return None;
        }
        let (step, looks) = self.likeliest(looks)?;
        let cannot_be_carried = step.p < ALPHA / looks as f64
            && step.is_steep()
            && (!step.may_be_bucket() || self.passes_in_parts(&step))
            && self.amid.shows_passes()
            && self.carries_segments(&step)
            && !self.slopes(&step);
        cannot_be_carried.then_some(step)
    }

    /// The step beyond which nearly all frames are lost, and next to none of the others, though no step proves that they cannot
    /// be carried: a bucket with room for the shorter ones looks like this as well.
    pub(crate) fn limit(&self, looks: usize) -> Option<Step> {
        let (step, looks) = self.likeliest(looks)?;
        let is_limit = step.p < DOUBT / looks as f64
            && step.is_steep()
            && step.shorter.share() <= SPARED_BESIDE
            && self.amid.shows_passes()
            && self.carries_segments(&step)
            && step.likelihood() - self.by_the_byte() >= MUCH_BETTER;
        is_limit.then_some(step)
    }

    /// The likeliest step, and among how many.
    fn likeliest(&self, looks: usize) -> Option<(Step, usize)> {
        let steps = self.steps();
        let looks = looks.max(1) * steps.len();
        let by_likelihood = |a: &Step, b: &Step| a.likelihood().total_cmp(&b.likelihood());
        Some((steps.into_iter().max_by(by_likelihood)?, looks))
    }

    /// Whether as many bytes as in the shortest frame that is too long often pass in frames that leave together. A bucket
    /// without room for such a frame has none for these.
    fn passes_in_parts(&self, step: &Step) -> bool {
        let is_longer = |length: &&Length| length.bytes > step.carried.unwrap_or(0);
        let mut longer = self.lengths.iter().filter(is_longer);
        let Some((shortest, together)) = longer.next().zip(self.together) else {
            return false;
        };
        let as_long = together.iter().filter(|sum| sum.bytes > shortest.bytes);
        let all: u64 = as_long.map(|sum| u64::from(sum.passed)).sum();
        // Of these, some may be with a longer frame that passed.
        all >= LONE + step.longer.all - step.longer.lost
    }

    /// Whether full single frames pass: where they do not, the path's MTU is smaller than they are.
    fn carries_segments(&self, step: &Step) -> bool {
        self.full.all - self.full.lost >= A_FEW
            && step.longer.share() >= TIMES_SINGLE * self.full.share()
    }

    /// Candidate steps: one at every length, and one between single and merged frames.
    fn steps(&self) -> Vec<Step> {
        let lengths: Vec<&Length> = self.lengths.iter().collect();
        let split = |at: usize| {
            let (below, above) = lengths.split_at(at);
            let shorter = self.single().and(Part::of(below.iter().copied()));
            let longer = Part::of(above.iter().copied());
            Step {
                carried: below.last().map(|length| length.bytes),
                longer,
                shorter,
                p: longer.against(shorter),
            }
        };
        (0..lengths.len()).map(split).collect()
    }

    /// Whether loss grows with length: already below the step, or so steadily that loss by the byte explains all of it.
    fn slopes(&self, step: &Step) -> bool {
        let carried = step.carried.unwrap_or(0);
        let merged = Part::of(self.lengths.iter().filter(|length| length.bytes <= carried));
        let below = merged.share() > self.single().share() && merged.against(self.single()) < ALPHA;
        below || step.likelihood() - self.by_the_byte() < SURELY
    }

    /// Whether loss by the byte, with one probability, explains all losses about as well as any step.
    pub(crate) fn falls_by_the_byte(&self) -> bool {
        let steps = self.steps().into_iter().map(|step| step.likelihood());
        let best = steps.fold(f64::NEG_INFINITY, f64::max);
        best - self.by_the_byte() < MUCH_BETTER
    }

    /// Likelihood of all counts if every byte is lost with one probability, the likeliest one.
    fn by_the_byte(&self) -> f64 {
        let single = (f64::from(self.segment), self.single());
        let merged = self
            .lengths
            .iter()
            .map(|length| (f64::from(length.bytes), Part::of(std::iter::once(length))));
        let parts: Vec<(f64, Part)> = std::iter::once(single).chain(merged).collect();
        let likelihood = |rate: f64| -> f64 {
            let of = |(bytes, part): &(f64, Part)| part.likelihood(-(-rate * bytes).exp_m1());
            parts.iter().map(of).sum()
        };
        // From a byte in a gigabyte to a byte in ten, in steps of a tenth.
        let rates = (0..200).map(|i| 1e-9 * 1.1_f64.powi(i));
        rates.map(likelihood).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Part {
    /// Fisher's p of these frames against others.
    fn against(self, other: Self) -> f64 {
        fisher(&Table {
            merged_lost: self.lost,
            merged: self.all,
            single_lost: other.lost,
            single: other.all,
        })
        .unwrap_or(1.0)
    }
}

impl Step {
    fn likelihood(&self) -> f64 {
        self.longer.own_likelihood() + self.shorter.own_likelihood()
    }

    /// Whether a policer's bucket is as likely as a box. A bucket that is too small for most merged frames holds one
    /// now and then, and drops shorter frames as well when it is empty; a box does neither. Both signs together, or one
    /// beside another mark, make a bucket as likely.
    fn may_be_bucket(&self) -> bool {
        let passes_some = self.longer.lost < self.longer.all;
        let spared = if passes_some { SPARED_BESIDE } else { SPARED };
        match self.carried {
            Some(_) => passes_some || self.shorter.share() >= spared,
            None => passes_some && self.shorter.share() >= spared,
        }
    }

    fn is_steep(&self) -> bool {
        self.longer.lost >= HANDFUL
            && self.longer.share() >= NEARLY_ALL
            && self.longer.share() >= TIMES_SINGLE * self.shorter.share()
    }

    /// In words.
    pub(crate) fn words(&self, frames: &str, fate: &str) -> String {
        let longer = share(self.longer.lost, self.longer.all);
        let shorter = share(self.shorter.lost, self.shorter.all);
        let p = probability(self.p);
        match self.carried {
            None => format!(
                "{longer} {frames} {fate}, against {shorter} single ones (Fisher's exact {p})"
            ),
            Some(bytes) => format!(
                "{longer} {frames} of more than {bytes} bytes {fate}, against {shorter} shorter \
                 ones (Fisher's exact {p})"
            ),
        }
    }
}

/// Single frames arrived between losses.
#[cfg(test)]
const PASSES: Amid = Amid {
    resumed_ns: Some(1),
    last_lost_ns: Some(2),
};

/// Single frames, then merged ones by segments: how many there were and how many of them were lost.
#[cfg(test)]
pub(crate) fn counted(single: (u64, u64), merged: &[(u32, u32, u32)]) -> (Table, Lengths) {
    let mut lengths = Lengths::default();
    let mut table = Table {
        single_lost: single.1,
        single: single.0,
        ..Table::default()
    };
    for (segments, all, lost) in merged {
        lengths.add(segments * SEGMENT, all - lost, *lost);
        table.merged += u64::from(*all);
        table.merged_lost += u64::from(*lost);
    }
    (table, lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Single frames, then merged ones by segments: how many there were and how many of them were lost.
    fn step(single: (u64, u64), merged: &[(u32, u32, u32)]) -> Option<Step> {
        let (table, lengths) = counted(single, merged);
        BySize::of_all(table, &lengths).step(1)
    }

    #[test]
    fn all_that_is_merged_is_lost() {
        let step = step((500, 3), &[(2, 20, 20), (4, 10, 10)]).unwrap();
        assert_eq!((step.carried, step.longer.lost), (None, 30));
    }

    /// Two segments pass and three do not, though far fewer than half of the merged frames are lost.
    #[test]
    fn a_box_carries_frames_up_to_a_length() {
        let step = step((400, 0), &[(2, 144, 0), (3, 27, 27)]).unwrap();
        assert_eq!(step.carried, Some(3072));
        assert_eq!(step.longer, Part { lost: 27, all: 27 });
        let words = step.words("merged frames", "never arrived");
        assert!(
            words.starts_with("27 of 27 (100%) merged frames of more than 3072 bytes"),
            "{words}"
        );
    }

    /// Whoever loses by the byte loses longer frames more often, and short ones as well.
    #[test]
    fn a_slope_accuses_nobody() {
        let policed = [(2, 663, 240), (4, 210, 112), (8, 137, 96)];
        assert_eq!(step((4523, 537), &policed), None);
        // So steep that nearly all of the longest are lost.
        let steeper = [(2, 300, 90), (4, 150, 100), (8, 60, 57), (16, 40, 40)];
        assert_eq!(step((2000, 20), &steeper), None);
        let few = [(10, 6, 6)];
        assert_eq!(step((20, 3), &few), None);
    }

    /// Wrong bits: two segments are lost about twice as often as one.
    #[test]
    fn wrong_bits_hit_by_the_byte() {
        let of = |single: (u64, u64), merged: &[(u32, u32, u32)]| {
            let (table, lengths) = counted(single, merged);
            BySize::of_all(table, &lengths).falls_by_the_byte()
        };
        assert!(of((1_000, 20), &[(2, 500, 20), (4, 300, 25), (8, 100, 14)]));
        assert!(!of((229, 38), &[(2, 50, 15), (4, 20, 19), (8, 31, 31)]));
    }

    /// A policer whose bucket just holds the longest frame: one passes when it is full.
    #[test]
    fn a_bucket_that_was_full_once_is_no_box() {
        let starved = [(2, 20, 0), (3, 20, 1), (8, 60, 59), (16, 10, 10)];
        assert_eq!(step((100, 0), &starved), None);
        let carried = step((100, 0), &[(2, 20, 0), (3, 20, 0), (8, 60, 60)]);
        assert_eq!(carried.unwrap().carried, Some(4_352));
        // Single ones are lost by the dozen as well, and some merged ones pass, or shorter ones.
        assert_eq!(step((602, 190), &[(2, 72, 69)]), None);
        assert!(step((602, 90), &[(2, 72, 72)]).is_some());
        assert_eq!(step((137, 25), &[(2, 14, 2), (4, 29, 29)]), None);
        // So they are where only a few of the shorter ones are lost.
        assert_eq!(step((99, 2), &[(4, 20, 0), (8, 28, 28)]), None);
        assert_eq!(step((105, 6), &[(2, 31, 29)]), None);
        assert!(step((460, 7), &[(2, 160, 144)]).is_some());
    }

    /// Short frames that pass say nothing of full ones: a path whose MTU is smaller loses those too.
    #[test]
    fn a_black_hole_accuses_nobody() {
        let mut direction = Direction::default();
        (direction.repeats.merged, direction.repeats.merged_repeated) = (5, 5);
        direction.repeats.single = 60;
        direction.by_length.add(3 * SEGMENT, 0, 5);
        (direction.full_again.passed, direction.full_again.lost) = (1, 12);
        direction.amid = PASSES;
        assert_eq!(BySize::of_repeats(&direction).step(1), None);
        (direction.full_again.passed, direction.full_again.lost) = (15, 0);
        assert!(BySize::of_repeats(&direction).step(1).is_some());
        direction.amid = Amid::default();
        assert_eq!(BySize::of_repeats(&direction).step(1), None);
    }

    /// Nor are a few merged ones that are lost beside full single ones a hint.
    #[test]
    fn a_black_hole_is_no_hint() {
        let mut direction = Direction::default();
        (direction.repeats.merged, direction.repeats.merged_repeated) = (3, 3);
        direction.repeats.single = 40;
        direction.by_length.add(3 * SEGMENT, 0, 3);
        assert!(BySize::of_repeats(&direction).hint().is_some());
        direction.full_again.lost = 4;
        assert_eq!(BySize::of_repeats(&direction).hint(), None);
    }

    #[test]
    fn loss_of_a_burst_or_by_chance_accuses_nobody() {
        assert_eq!(step((100, 0), &[(2, 30, 12), (3, 20, 9)]), None);
        assert_eq!(step((100, 0), &[(4, 4, 4)]), None);
        assert_eq!(step((0, 0), &[(4, 40, 40)]), None);
    }
}
