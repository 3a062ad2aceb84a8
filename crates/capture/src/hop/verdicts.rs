//! Outcomes of one direction of one connection, by sort of frame.

use super::outcome::{Judged, Outcome};
use super::over_time::OverTime;

use crate::facts::hop::Outcomes;
use crate::lengths::{Fate, Lengths};
use crate::passes::{Amid, Pass, Passes, place};
use crate::rested::Rested;
use crate::tally::note;
use crate::together::Together;

/// Outcomes of one direction, by sort.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdicts {
    pub(crate) multi: Outcomes,
    pub(crate) single: Outcomes,
    pub(crate) lone: Outcomes,
    /// Single frames by the pause in front of them.
    pub(crate) rested: Rested,
    /// Frames of several segments.
    by_length: Lengths,
    /// Those that the second capture lacks though the receiver acknowledged them.
    missed: Lengths,
    /// Single frames about as long as a segment: four fifths and more.
    pub(crate) full: Fate,
    passes: Passes,
    together: Together,
    pub(crate) multi_lost: Vec<u64>,
    pub(crate) multi_arrived: Vec<u64>,
    pub(crate) single_lost: Vec<u64>,
    /// Frames judged before the segment size was settled.
    early: Vec<Judged>,
    /// All frames judged since the last call of `drain_judged`; `None` if they are not kept.
    pub(super) kept: Option<Vec<Judged>>,
}

/// A length of which only a [full](crate::segment::is_full) single frame has four fifths.
fn just_over(len: u32) -> u32 {
    len + len / 4
}

impl Verdicts {
    /// Counts a frame, here and over the hop's time, once it is known whether it is of several segments.
    pub(super) fn add(
        &mut self,
        judged: Judged,
        is_multi: &impl Fn(u32) -> Option<bool>,
        over_time: &mut OverTime,
    ) {
        match is_multi(judged.len) {
            None => self.wait(judged),
            Some(multi) => {
                self.settle(|len| is_multi(len).unwrap_or(false), over_time);
                self.keep(judged);
                let is_full = !multi && is_multi(just_over(judged.len)).unwrap_or(false);
                self.count(judged, multi, is_full, over_time);
            }
        }
    }

    /// Takes a frame, to be counted when the segment size is settled.
    pub(super) fn wait(&mut self, judged: Judged) {
        self.keep(judged);
        self.early.push(judged);
    }

    fn keep(&mut self, judged: Judged) {
        if let Some(kept) = &mut self.kept {
            kept.push(judged);
        }
    }

    /// Counts frames that were judged before the segment size was settled.
    pub(super) fn settle(&mut self, is_multi: impl Fn(u32) -> bool, over_time: &mut OverTime) {
        for early in std::mem::take(&mut self.early) {
            let multi = is_multi(early.len);
            let is_full = !multi && is_multi(just_over(early.len));
            self.count(early, multi, is_full, over_time);
        }
    }

    fn count(&mut self, judged: Judged, multi: bool, is_full: bool, over_time: &mut OverTime) {
        over_time.add(&judged, multi);
        if fate_of(judged.outcome).passed > 0 && judged.outcome != Outcome::PartlyLost {
            self.together.arrived(judged.own_ns, judged.len);
        }
        if multi {
            count(&mut self.multi, judged.outcome);
            match judged.outcome {
                Outcome::Lost => {
                    self.passes.lost(place(judged.own_ns), judged.own_ns);
                    note(&mut self.multi_lost, judged.number);
                    self.by_length.add(judged.len, 0, 1);
                }
                Outcome::Missed => self.missed.add(judged.len, 1, 0),
                Outcome::NotJudged => {}
                Outcome::PartlyLost => {
                    note(&mut self.multi_arrived, judged.number);
                    self.by_length.add_partly(judged.len);
                }
                _ => {
                    if self.multi.lost > 0 && self.by_length.spares(judged.len) {
                        self.passes.arrived(Pass::left(judged.own_ns));
                    }
                    note(&mut self.multi_arrived, judged.number);
                    self.by_length.add(judged.len, 1, 0);
                }
            }
            return;
        }
        count(&mut self.single, judged.outcome);
        self.rested.add(judged.pause_ns, fate_of(judged.outcome));
        if is_full {
            self.count_full(judged);
        }
        if judged.lone {
            count(&mut self.lone, judged.outcome);
        }
        if judged.outcome == Outcome::Lost {
            note(&mut self.single_lost, judged.number);
        }
    }

    fn count_full(&mut self, judged: Judged) {
        let fate = fate_of(judged.outcome);
        self.full.add(fate);
        if fate.passed > 0 {
            self.passes.arrived(Pass::left(judged.own_ns));
        }
    }

    /// Frames that left together and arrived, by their bytes in all.
    pub(super) fn together(&self) -> Lengths {
        self.together.lengths()
    }

    /// Frames of several segments, those that arrived though the second capture lacks them among them.
    pub(super) fn by_length(&self) -> Lengths {
        let mut all = self.by_length.clone();
        if self.multi.lacks() {
            all.add_all(&self.missed);
        }
        all
    }

    /// Where full single frames arrived while frames of several segments were being lost.
    pub(super) fn amid(&self) -> Amid {
        self.passes.amid(1)
    }
}

fn fate_of(outcome: Outcome) -> Fate {
    match outcome {
        Outcome::Lost => Fate { passed: 0, lost: 1 },
        Outcome::Missed | Outcome::NotJudged => Fate::default(),
        _ => Fate { passed: 1, lost: 0 },
    }
}

fn count(outcomes: &mut Outcomes, outcome: Outcome) {
    outcomes.seen += 1;
    *match outcome {
        Outcome::Arrived => &mut outcomes.arrived,
        Outcome::Resplit => &mut outcomes.resplit,
        Outcome::MergedFurther => &mut outcomes.merged_further,
        Outcome::Fragmented => &mut outcomes.fragmented,
        Outcome::PartlyLost => &mut outcomes.partly_lost,
        Outcome::Lost => &mut outcomes.lost,
        Outcome::Missed => &mut outcomes.missed,
        Outcome::NotJudged => &mut outcomes.not_judged,
    } += 1;
}
