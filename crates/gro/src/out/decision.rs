//! What became of each frame, and how often.

use crate::reason::Reason;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its payload joined a held frame, behind or in front.
    Merged,
    /// It is held, and other frames may join it.
    Held,
    /// It carried no payload, and a held frame took its acknowledgment and window.
    Absorbed,
    /// It goes on unchanged.
    Passed,
}

/// What became of a frame, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What became of it.
    pub action: Action,
    /// The frame that it is part of from now on: the number of that frame's first one, frames being counted from 0 as
    /// they come in. Its own number where it is held or passed.
    pub frame: u64,
    /// For a frame that passed, why. For a held one, why it did not join the held frame of its flow; `None` where there
    /// was none. For one merged or absorbed, why the merged frame went up at once; `None` where it is still open.
    pub reason: Option<Reason>,
}

/// How often each decision was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Frames in.
    pub frames_in: u64,
    /// Frames out.
    pub frames_out: u64,
    /// Frames out that were merged from more than one.
    pub merged_out: u64,
    /// Frames in that joined a held frame.
    pub merged_in: u64,
    /// Frames in that a held frame absorbed.
    pub absorbed: u64,
    /// Frames in that went on unchanged, by reason.
    passed: [u64; Reason::ALL.len()],
    /// Frames in that could not join a held frame of their flow and were held themselves, by reason.
    refused: [u64; Reason::ALL.len()],
    /// Held frames that went up, by reason.
    flushed: [u64; Reason::ALL.len()],
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            frames_in: 0,
            frames_out: 0,
            merged_out: 0,
            merged_in: 0,
            absorbed: 0,
            passed: [0; Reason::ALL.len()],
            refused: [0; Reason::ALL.len()],
            flushed: [0; Reason::ALL.len()],
        }
    }
}

impl Counters {
    /// Frames that went on unchanged for this reason.
    #[must_use]
    pub fn passed(&self, reason: Reason) -> u64 {
        self.passed[reason as usize]
    }

    /// Frames that could not join the held frame of their flow, for this reason, and were held themselves.
    #[must_use]
    pub fn refused(&self, reason: Reason) -> u64 {
        self.refused[reason as usize]
    }

    /// Held frames that went up for this reason.
    #[must_use]
    pub fn flushed(&self, reason: Reason) -> u64 {
        self.flushed[reason as usize]
    }

    /// Counts a frame that joined a held one which stays open.
    #[inline(always)]
    pub(crate) fn merge(&mut self) {
        self.frames_in += 1;
        self.merged_in += 1;
    }

    /// Counts a frame that is held, and the reason if it could not join a held frame of its flow.
    #[inline(always)]
    pub(crate) fn hold(&mut self, refused: Option<Reason>) {
        self.frames_in += 1;
        if let Some(reason) = refused {
            self.refused[reason as usize] += 1;
        }
    }

    pub(crate) fn decide(&mut self, decision: Decision) {
        self.frames_in += 1;
        match (decision.action, decision.reason) {
            (Action::Merged, _) => self.merged_in += 1,
            (Action::Absorbed, _) => self.absorbed += 1,
            (Action::Passed, Some(reason)) => self.passed[reason as usize] += 1,
            (Action::Held, Some(reason)) => self.refused[reason as usize] += 1,
            (Action::Held | Action::Passed, None) => {}
        }
    }

    /// Counts a held frame that goes up.
    #[inline(always)]
    pub(crate) fn flush(&mut self, reason: Reason) {
        self.flushed[reason as usize] += 1;
    }

    /// Counts a frame that comes out.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        self.frames_out += 1;
    }
}
