//! A limit that divides frames which are lost from frames which pass.

use coalescope_capture::facts::Left;

use crate::part::Part;
use crate::thresholds::DOUBT;

/// What a frame needs to pass, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Need {
    pub(super) bytes: u64,
    passed: bool,
}

impl Need {
    pub(super) fn of(frame: &Left, bytes: u64) -> Self {
        Self {
            bytes,
            passed: !frame.lost,
        }
    }
}

/// A limit, with the frames on both sides of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) bytes: f64,
    /// Frames that need more.
    pub(super) beyond: Part,
    pub(super) within: Part,
}

impl Limit {
    /// The likeliest one, beyond which a larger share is lost.
    pub(super) fn likeliest(mut needs: Vec<Need>) -> Option<Self> {
        // Of frames that need as much, lost ones come first.
        needs.sort_unstable();
        let lost = needs.iter().map(|need| Part::one(!need.passed));
        let all = lost.fold(Part::default(), Part::and);
        let ends = needs.iter().zip(needs.iter().skip(1));
        let mut within = Part::default();
        let split = |(need, next): (&Need, &Need)| {
            within = within.and(Part::one(!need.passed));
            // Frames that need as much are on one side. No limit is likelier than one just below a frame that was lost.
            (!next.passed && next.bytes > need.bytes).then_some(Self {
                bytes: need.bytes as f64,
                beyond: all.without(within),
                within,
            })
        };
        let loses_beyond = |limit: &Self| limit.beyond.share() > limit.within.share();
        ends.filter_map(split)
            .filter(loses_beyond)
            .max_by(|a, b| a.likelihood().total_cmp(&b.likelihood()))
    }

    /// The logarithm of its likelihood.
    pub(super) fn likelihood(&self) -> f64 {
        self.beyond.own_likelihood() + self.within.own_likelihood()
    }

    /// Frames that it expects to arrive and were lost, or the other way about.
    pub(super) fn errors(&self) -> u64 {
        self.beyond.all - self.beyond.lost + self.within.lost
    }
}

/// Frames by sort.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sorts {
    pub(super) merged: Part,
    pub(super) single: Part,
}

impl Sorts {
    pub(super) fn of<'a>(frames: impl IntoIterator<Item = &'a Left>) -> Self {
        let mut sorts = Self::default();
        for frame in frames {
            let sort = if frame.merged {
                &mut sorts.merged
            } else {
                &mut sorts.single
            };
            *sort = sort.and(Part::one(frame.lost));
        }
        sorts
    }

    /// Whether single frames pass, unlike merged ones.
    pub(super) fn spares_single(&self) -> bool {
        self.merged.share() > self.single.share() && self.merged.against(self.single) < DOUBT
    }
}
