//! What a family makes of dice.

use coalescope_simulate::Scenario;

/// What a family draws.
pub(crate) struct Drawn {
    /// One run, or two to compare.
    pub(crate) runs: Vec<Scenario>,
    /// What the verdict has to be about where merging harms nothing.
    pub(crate) otherwise: Otherwise,
    /// The same run without what makes it slow: how much slower it is tells whether that matters.
    pub(crate) twin: Option<Scenario>,
    /// Another transfer, whose captures are given as well.
    pub(crate) stranger: Option<Scenario>,
    /// One of the captures is given again under another name.
    pub(crate) one_twice: bool,
    /// Which of the points are given to the analysis.
    pub(crate) given: Given,
    /// The client may be the one that sends.
    pub(crate) may_flip: bool,
    /// Bytes kept of each frame may be few.
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

    /// Beside a twin without what makes it slow.
    pub(crate) fn beside(mut self, twin: Scenario) -> Self {
        self.twin = Some(twin);
        self
    }

    /// With captures of another transfer.
    pub(crate) fn with_stranger(mut self, other: Scenario) -> Self {
        self.stranger = Some(other);
        self
    }

    /// With one of the captures given again.
    pub(crate) fn with_one_twice(mut self) -> Self {
        self.one_twice = true;
        self
    }

    /// With the captures given in the order in which data passes them. Where only one direction is captured, nothing
    /// but clocks tells which of two points it passes first, and these may show anything: the given order then
    /// decides, as docs/inference.md says.
    pub(crate) fn in_order(mut self) -> Self {
        self.may_shuffle = false;
        self
    }

    /// With as much of each frame as its points keep.
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
    /// The receiver's window.
    Window,
    /// The sender has nothing to send.
    Idle,
    /// A link or a shaper.
    Bandwidth,
    /// Frames overtake each other.
    Reordering,
    /// Nothing is wrong, and the captures have no data from which that could be said.
    Unseen,
    /// Nothing is wrong at either place, and the captures have nothing in common.
    Unlinked,
    /// A link, whose queue is hidden where no timestamps tell how long data waited in front of the captures.
    HiddenQueue,
    /// Whatever it is, merging has no part in it.
    NotMerging,
    /// Of two transfers the slow one arrives unmerged since merged frames were lost on its way.
    Unmerged,
}
