//! Loss by length: a step shows frames that could not be carried, a slope shows a queue or a policer.
//!
//! A box that carries frames up to some length loses no shorter frame and all longer ones. A queue without room, or a
//! policer without tokens, loses by the byte: frames twice as long are lost about twice as often, and short frames are
//! not spared.

mod limit;

use std::ops::RangeInclusive;

use coalescope_capture::facts::{
    Amid, DatagramHop, Direction, HopConnection, Length, Lengths, Outcomes,
};

use crate::crossing::Crossing;
use crate::judged::is_unjudged;
use crate::odds::{Table, all_damaged};
use crate::part::Part;
use crate::thresholds::{
    A_FEW, ALPHA, DOUBT, HANDFUL, HEAVY_LOSS, MERGED_LOST, MUCH_BETTER, NEARLY_ALL, SEGMENT,
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
    /// Most of them were not judged, unlike single frames: what was lost shows by its repeats, and nothing shows that the
    /// others arrived.
    is_unjudged: bool,
    /// The hop that shows these frames and others in the order in which they left.
    hop: Option<&'a Crossing<'a>>,
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

impl<'a> BySize<'a> {
    /// All merged frames of a hop.
    pub(crate) fn of_hop(hop: &'a Crossing<'a>) -> Self {
        let (merged, single) = hop.compared();
        Self {
            table: judged(&merged, &single),
            lengths: &hop.by_length,
            full: hop.full.into(),
            segment: SEGMENT,
            together: Some(&hop.together),
            amid: hop.amid,
            is_unjudged: is_unjudged(&merged, &single),
            hop: Some(hop),
        }
    }

    /// The merged frames of one connection of a hop.
    pub(crate) fn of_connection(hop: &'a Crossing<'a>, connection: &'a HopConnection) -> Self {
        Self {
            table: judged(&connection.merged, &connection.single),
            lengths: &connection.by_length,
            full: connection.full.into(),
            segment: SEGMENT,
            together: Some(&connection.together),
            amid: connection.amid,
            is_unjudged: is_unjudged(&connection.merged, &connection.single),
            hop: Some(hop),
        }
    }

    /// The frames of one connection that were taken for TSO frames.
    pub(crate) fn of_uncut(hop: &'a Crossing<'a>, connection: &'a HopConnection) -> Self {
        Self {
            table: judged(&connection.tso, &connection.single),
            is_unjudged: is_unjudged(&connection.tso, &connection.single),
            ..Self::of_connection(hop, connection)
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
            is_unjudged: false,
            hop: None,
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
        Self {
            table: Table::of(&all_damaged(&hop.merged), &all_damaged(&hop.single)),
            lengths: &hop.by_length,
            full: hop.full.into(),
            segment: SEGMENT,
            together: Some(&hop.together),
            amid: hop.amid,
            is_unjudged: is_unjudged(&hop.merged, &hop.single),
            hop: None,
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
            is_unjudged: false,
            hop: None,
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

    /// Whether nothing on a hop shows how frames of another length fared, where so many merged ones are lost that chance is no
    /// likely reason; or more merged ones are not judged than lost.
    pub(crate) fn is_uncompared(&self) -> bool {
        let table = &self.table;
        let is_alone = table.single < HANDFUL && table.single_lost == 0 && self.are_of_one_length();
        let is_alone = is_alone && table.merged_share() >= HEAVY_LOSS;
        self.hop.is_some() && table.merged_lost >= HANDFUL && (is_alone || self.is_unjudged)
    }

    fn are_of_one_length(&self) -> bool {
        let all: Vec<Part> = self
            .lengths
            .iter()
            .map(|one| Part::of([one].into_iter()))
            .collect();
        let sum: u64 = all.iter().map(|part| part.all).sum();
        let most = all.iter().map(|part| part.all).max().unwrap_or(0);
        most as f64 >= NEARLY_ALL * sum as f64
    }

    /// Frames by length: those of several segments.
    pub(crate) fn lengths(&self) -> &Lengths {
        self.lengths
    }

    /// Whether the order of frames shows no want of room: what was lost came at no worse times than what passed.
    pub(crate) fn order_refutes_room(&self) -> bool {
        let fit = self.hop.and_then(Crossing::fit);
        fit.is_some_and(|fit| !fit.shows_want_of_room())
    }

    fn single(&self) -> Part {
        Part {
            lost: self.table.single_lost,
            all: self.table.single,
        }
    }

    /// Merged frames of these lengths.
    fn within(&self, bytes: RangeInclusive<u32>) -> Part {
        let lengths = self.lengths.iter();
        Part::of(lengths.filter(|length| bytes.contains(&length.bytes)))
    }

    /// Whether longer frames cannot be carried; `looks` is the number of tables that were tested.
    pub(crate) fn step(&self, looks: usize) -> Option<Step> {
        if self.table.merged_lost < HANDFUL || self.is_unjudged {
            return None;
        }
        let (step, looks) = self.likeliest(looks)?;
        let cannot_be_carried = step.p < ALPHA / looks as f64
            && step.is_steep()
            && !self.may_be_bucket(&step)
            && self.amid.shows_passes()
            && self.carries_segments(&step)
            && !self.slopes(&step);
        cannot_be_carried.then_some(step)
    }

    /// The likeliest step, and among how many.
    fn likeliest(&self, looks: usize) -> Option<(Step, usize)> {
        let steps = self.steps();
        let looks = looks.max(1) * steps.len();
        let by_likelihood = |a: &Step, b: &Step| a.likelihood().total_cmp(&b.likelihood());
        Some((steps.into_iter().max_by(by_likelihood)?, looks))
    }

    /// Whether most merged frames beyond some length are hit, and hardly any other frame: what passes so much of each frame,
    /// or carries none that is longer, does that. Chance hits them here and there, and so do queues.
    pub(crate) fn is_stepped(&self) -> bool {
        let likeliest = self.likeliest(1);
        likeliest.is_some_and(|(step, _)| {
            step.longer.share() >= MERGED_LOST
                && step.longer.lost >= step.shorter.lost
                && step.shorter.share() <= SPARED_BESIDE
        })
    }

    /// Whether full single frames pass, or merged ones below the step: where none do, the path's MTU is smaller than they are.
    fn carries_segments(&self, step: &Step) -> bool {
        let carried = step.carried.map(|bytes| self.within(0..=bytes));
        let full = self.full.and(carried.unwrap_or_default());
        full.all - full.lost >= A_FEW && step.longer.share() >= TIMES_SINGLE * full.share()
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
        let merged = self.within(0..=step.carried.unwrap_or(0));
        let below = merged.share() > self.single().share() && merged.against(self.single()) < ALPHA;
        below || step.likelihood() - self.by_the_byte() < SURELY
    }

    /// Whether loss by the byte, with one probability, explains all losses about as well as any step.
    pub(crate) fn falls_by_the_byte(&self) -> bool {
        let steps = self.steps().into_iter().map(|step| step.likelihood());
        let best = steps.fold(f64::NEG_INFINITY, f64::max);
        best - self.by_the_byte() < MUCH_BETTER
    }

    /// Whether merged frames of some length are lost more often than longer ones: neither bytes nor want of room explain that.
    pub(crate) fn spares_longer(&self) -> bool {
        let lengths: Vec<&Length> = self.lengths.iter().collect();
        let is_worse = |at: usize| {
            let band = Part::of(lengths[at..=at].iter().copied());
            let longer = Part::of(lengths[at + 1..].iter().copied());
            band.lost >= HANDFUL
                && band.share() > longer.share()
                && band.against(longer) < DOUBT / lengths.len() as f64
        };
        (0..lengths.len()).any(is_worse)
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

/// What is known of frames. Where most of those of several segments were not judged, the others were sent again: of what no
/// acknowledgment shows the fate, that has arrived which was not.
fn judged(merged: &Outcomes, single: &Outcomes) -> Table {
    let mut table = Table::of(merged, single);
    if is_unjudged(merged, single) {
        table.merged += merged.not_judged;
    }
    table
}

impl Step {
    fn likelihood(&self) -> f64 {
        self.longer.own_likelihood() + self.shorter.own_likelihood()
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
    spared: false,
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
mod tests;
