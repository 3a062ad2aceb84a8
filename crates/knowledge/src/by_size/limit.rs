//! What tells a box that cannot carry long frames from a bucket or a queue that is too small for them.

use std::collections::BTreeMap;

use coalescope_capture::facts::{Left, Length};

use super::{BySize, Step};
use crate::crossing::Crossing;
use crate::part::Part;
use crate::thresholds::{
    ALPHA, CLASS, DOUBT, LONE, MOSTLY, MUCH_BETTER, NEARLY_ALL, SEGMENT, SPARED, SPARED_BESIDE,
    TENTH,
};

impl BySize<'_> {
    /// The step beyond which nearly all frames are lost, and next to none of the others, though no step proves that they cannot
    /// be carried: a bucket with room for the shorter ones looks like this as well.
    pub(crate) fn limit(&self, looks: usize) -> Option<Step> {
        let (step, looks) = self.likeliest(looks)?;
        let is_limit = !self.is_unjudged
            && step.p < DOUBT / looks as f64
            && step.is_steep()
            && (step.shorter.share() <= SPARED_BESIDE || self.is_beside_chance(&step))
            && (self.amid.shows_passes() || self.carries_many(&step))
            && self.carries_segments(&step)
            && step.likelihood() - self.by_the_byte() >= MUCH_BETTER;
        is_limit.then_some(step)
    }

    /// Whether many merged frames pass and none of them is longer: an outage hits frames of any length. At one point a frame
    /// whose repeat was merged differently seems to have passed.
    fn carries_many(&self, step: &Step) -> bool {
        let passes = step.carried.map(|carried| self.within(0..=carried));
        passes.is_some_and(|passes| passes.all - passes.lost >= LONE)
            && (step.longer.lost == step.longer.all || self.hop.is_none())
    }

    /// Whether a bucket is as likely as a box. Where the order of frames is known, what a bucket loses depends on what passed
    /// before; one that lets a long frame pass now and then may have been full just then; and what loses shorter frames one after the
    /// other is neither a box nor chance. Where many shorter frames are lost, traffic that no capture shows may share the bucket.
    pub(super) fn may_be_bucket(&self, step: &Step) -> bool {
        match self.hop.and_then(Crossing::fit) {
            Some(_) if self.loses_in_runs(step) => true,
            Some(fit) if step.shorter.share() < TENTH => {
                fit.beats_limit() || step.passes_some() && self.resembles_bucket(step)
            }
            Some(fit) => fit.beats_limit() || self.resembles_bucket(step),
            None => self.resembles_bucket(step),
        }
    }

    /// The same where the order of frames is not known.
    fn resembles_bucket(&self, step: &Step) -> bool {
        (step.looks_like_bucket() || self.starves_single(step))
            && !self.is_sharp(step)
            && !self.passes_in_parts(step)
    }

    /// Whether a hop loses all merged frames and many single ones: a bucket that holds hardly more than the longest frame
    /// does, if it is never full again. Single frames that are sent again from one point may have arrived before.
    fn starves_single(&self, step: &Step) -> bool {
        let is_on_hop = self.together.is_some();
        is_on_hop && step.carried.is_none() && step.shorter.share() >= TENTH
    }

    /// Whether no frame passes that is longer than those that are carried, and few of these are lost, single ones no more often
    /// than merged ones or the other way about: what hits short frames as hard as long ones is neither a bucket nor a queue.
    fn is_beside_chance(&self, step: &Step) -> bool {
        let Some(carried) = step.carried else {
            return false;
        };
        let merged = self.within(0..=carried);
        step.longer.lost == step.longer.all
            && step.shorter.share() <= 1.0 - NEARLY_ALL
            && merged.against(self.single()) >= ALPHA
    }

    /// Whether most of the frames that are carried are lost if they come right behind a lost one of their connection, further ahead
    /// than that; and fewer elsewhere. That is not chance: what loses them loses all that comes for a time, longer frames as
    /// well. Behind a box, and behind chance, they pass and show the receiver a hole. The longest that are carried are left out:
    /// among these may be some that were not.
    fn loses_in_runs(&self, step: &Step) -> bool {
        let beyond_doubt = step.carried.unwrap_or(0).saturating_sub(SEGMENT);
        let is_carried = |frame: &Left| !frame.merged || frame.bytes <= beyond_doubt;
        let pairs = pairs(self.hop.map_or(&[], |hop| &hop.in_turn));
        let behind = |lost: bool| {
            let these = pairs
                .iter()
                .filter(|[before, frame]| is_carried(frame) && before.lost == lost)
                .filter(|[before, frame]| frame.ahead > before.ahead);
            these.fold(Part::default(), |part, [_, frame]| {
                part.and(Part::one(frame.lost))
            })
        };
        let (lost, passed) = (behind(true), behind(false));
        lost.share() >= MOSTLY && lost.share() > passed.share() && lost.against(passed) < ALPHA
    }

    /// Whether nearly all of the longest frames that are carried pass, and none that is up to a segment longer. What is in a
    /// bucket differs from one frame to the next by more than a segment, unless it has no room for more.
    fn is_sharp(&self, step: &Step) -> bool {
        let Some(carried) = step.carried else {
            return false;
        };
        let passes = self.within(carried..=carried);
        let fails = self.within(carried + 1..=carried + SEGMENT + CLASS);
        self.is_beside_chance(step)
            && passes.all.min(fails.all) >= LONE
            && passes.share() <= 1.0 - NEARLY_ALL
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
}

/// Each frame, behind the one before it of its connection.
fn pairs(frames: &[Left]) -> Vec<[&Left; 2]> {
    let mut last = BTreeMap::new();
    let pairs = frames
        .iter()
        .filter_map(|frame| Some([last.insert(frame.connection, frame)?, frame]));
    pairs.collect()
}

impl Step {
    fn passes_some(&self) -> bool {
        self.longer.lost < self.longer.all
    }

    /// Whether a policer's bucket is as likely as a box. A bucket that is too small for most merged frames holds one
    /// now and then, and drops shorter frames as well when it is empty; a box does neither. Both signs together, or one
    /// beside another mark, make a bucket as likely.
    fn looks_like_bucket(&self) -> bool {
        let passes_some = self.passes_some();
        let spared = if passes_some { SPARED_BESIDE } else { SPARED };
        match self.carried {
            Some(_) => passes_some || self.shorter.share() >= spared,
            None => passes_some && self.shorter.share() >= spared,
        }
    }
}
