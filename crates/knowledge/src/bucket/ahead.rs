//! Whether how far ahead of the acknowledgments a frame is explains which frames of a hop are lost.
//!
//! A firewall drops what ends beyond the window that it believes the receiver to have: it may have missed the window scale
//! (RFC 7323, section 2.2), or lost its state in a failover. Of frames that merged, longer ones reach beyond it more often.

use coalescope_capture::facts::Left;

use super::need::{Limit, Need, Sorts};
use super::part;
use crate::thresholds::{A_FEW, HANDFUL, TENTH};
use crate::words::{bytes, share};

/// The likeliest limit of bytes between the last acknowledgment and a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    pub(super) limit: Limit,
    beyond: Sorts,
    /// Frames that were lost, and of these those that are longer than the whole limit.
    lost: u64,
    too_long: u64,
}

impl Ahead {
    /// Of frames that are cut on their way, those are lost whole that begin beyond the limit, of others those that end there.
    pub(super) fn likeliest(frames: &[Left]) -> Option<Self> {
        let to_end = Self::by(frames, |frame| frame.ahead);
        let to_begin = Self::by(frames, |frame| frame.ahead.saturating_sub(frame.bytes));
        let likelihood = |ahead: &Self| ahead.limit.likelihood();
        let both = to_begin.into_iter().chain(to_end);
        both.max_by(|a, b| likelihood(a).total_cmp(&likelihood(b)))
    }

    fn by(frames: &[Left], ahead: impl Fn(&Left) -> u32) -> Option<Self> {
        let needs = frames
            .iter()
            .map(|frame| Need::of(frame, ahead(frame).into()));
        let limit = Limit::likeliest(needs.collect())?;
        let is_beyond = |frame: &&Left| f64::from(ahead(frame)) > limit.bytes;
        let is_too_long = |frame: &&Left| frame.lost && f64::from(frame.bytes) > limit.bytes;
        Some(Self {
            limit,
            beyond: Sorts::of(frames.iter().filter(is_beyond)),
            lost: part(frames).lost,
            too_long: frames.iter().filter(is_too_long).count() as u64,
        })
    }

    /// Whether single frames are lost beyond it as merged ones are, and frames as long as those that were lost pass within it.
    pub(super) fn hits_all(&self) -> bool {
        self.limit.beyond.lost >= 2 * HANDFUL
            && self.beyond.single.lost >= A_FEW
            && !self.beyond.spares_single()
            && 2 * self.too_long < self.lost
    }

    /// In words, for the limit that divides lost frames from others.
    pub(crate) fn words(&self) -> String {
        let Limit { beyond, within, .. } = self.limit;
        format!(
            "{} frames further than {} ahead of the acknowledgments were lost, and {} of the others",
            share(beyond.lost, beyond.all),
            bytes(self.limit.bytes as u64),
            share(within.lost, within.all),
        )
    }

    /// Whether nearly all frames are lost or pass as the limit says.
    pub(crate) fn is_sharp(&self) -> bool {
        self.limit.errors() as f64 <= TENTH * self.lost as f64
    }
}
