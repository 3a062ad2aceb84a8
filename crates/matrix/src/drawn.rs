//! The draws of families.

use coalescope_simulate::Scenario;

/// The draw of a family.
pub(crate) struct Drawn {
    /// One run, or two to compare.
    pub(crate) runs: Vec<Scenario>,
    /// What the main finding must be about where merging does no harm.
    pub(crate) otherwise: Otherwise,
    /// The same run without the cause that makes it slow: the difference in speed shows whether the cause matters.
    pub(crate) twin: Option<Scenario>,
    /// Another transfer, whose captures are given as well.
    pub(crate) stranger: Option<Scenario>,
    /// One of the captures is given again under another name.
    pub(crate) one_twice: bool,
    /// Which of the points are given to the analysis.
    pub(crate) given: Given,
    /// The client may be the one that sends.
    pub(crate) may_flip: bool,
    /// Few bytes of each frame may be kept.
    pub(crate) may_snap: bool,
    /// The captures are given in any order.
    pub(crate) may_shuffle: bool,
}

/// Which points the analysis gets to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// All of them, two neighbours, or one: drawn.
    Some,
    /// All.
    All,
}

impl Drawn {
    /// A run with everything else drawn.
    pub(crate) fn one(scenario: Scenario, otherwise: Otherwise) -> Self {
        Self {
            runs: vec![scenario],
            otherwise,
            twin: None,
            stranger: None,
            one_twice: false,
            given: Given::Some,
            may_flip: true,
            may_snap: true,
            may_shuffle: true,
        }
    }

    /// Two runs to compare, each with one point.
    pub(crate) fn pair(first: Scenario, second: Scenario, otherwise: Otherwise) -> Self {
        Self {
            runs: vec![first, second],
            given: Given::All,
            may_flip: false,
            ..Self::one(
                Scenario::new("", coalescope_simulate::Cause::Healthy),
                otherwise,
            )
        }
    }

    /// Adds a twin without the cause.
    pub(crate) fn beside(mut self, twin: Scenario) -> Self {
        self.twin = Some(twin);
        self
    }

    /// Adds captures of another transfer.
    pub(crate) fn with_stranger(mut self, other: Scenario) -> Self {
        self.stranger = Some(other);
        self
    }

    /// Gives one of the captures a second time.
    pub(crate) fn with_one_twice(mut self) -> Self {
        self.one_twice = true;
        self
    }

    /// Gives the captures in the order in which data passes them. Where only one direction is captured, only clocks
    /// show which of two points it passes first, and clocks may show anything: then the given order decides
    /// (docs/inference.md).
    pub(crate) fn in_order(mut self) -> Self {
        self.may_shuffle = false;
        self
    }

    /// Keeps as much of each frame as its points do.
    pub(crate) fn unsnapped(mut self) -> Self {
        self.may_snap = false;
        self
    }
}

/// What the main finding must be where merging harms nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// Nothing is wrong.
    Healthy,
    /// Frames are lost.
    Loss,
    /// Acknowledgments are lost.
    LostAcks,
    /// The receiver's window.
    Window,
    /// The sender has nothing to send.
    Idle,
    /// A link or a shaper.
    Bandwidth,
    /// Frames overtake each other.
    Reordering,
    /// Nothing is wrong, and the captures have no data that could show it.
    Unseen,
    /// Nothing is wrong at either place, and the captures have nothing in common.
    Unlinked,
    /// A link, whose queue is hidden where no timestamps tell how long data waited in front of the captures.
    HiddenQueue,
    /// Whatever the limit is, merging is not the cause.
    NotMerging,
    /// Of two transfers the slow one arrives unmerged since merged frames were lost on its way.
    Unmerged,
}
