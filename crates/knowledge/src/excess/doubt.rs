//! The doubts that are stated: merging is neither convicted nor cleared.

use coalescope_capture::facts::{DatagramHop, Direction, Point};

use super::hidden::Runs;
use super::parts::Parts;
use super::{Excess, damaged, looks_at, span, uncut};
use crate::by_size::BySize;
use crate::crossing::Crossing;
use crate::finding::Subject;
use crate::odds::{Table, fisher};
use crate::words::time;

/// Merging is neither convicted nor cleared of a loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) title: &'static str,
    pub(crate) subject: Subject,
    /// What was lost, against what was not.
    pub(crate) words: String,
}

/// What may be lost for being merged, and the titles of doubts about that.
struct Sort {
    merged: &'static str,
    subject: Subject,
    /// Many were lost, too many for chance, and no step, no loss by the byte, no queue and no policer explains it.
    unexplained: &'static str,
    /// All beyond some length were lost.
    limited: &'static str,
}

const FRAMES: Sort = Sort {
    merged: "merged frames",
    subject: Subject::DoubtedLoss,
    unexplained: Doubt::UNEXPLAINED,
    limited: Doubt::LIMITED,
};

const DATAGRAMS: Sort = Sort {
    merged: "merged datagrams",
    subject: Subject::Loss,
    unexplained: "merged UDP datagrams are lost more often than single ones, and their length does not explain it",
    limited: "merged UDP datagrams beyond some length are lost, by a box that cannot carry them or a rate \
         limit that has no room for them",
};

impl Sort {
    fn doubt(&self, title: &'static str, words: String) -> Doubt {
        Doubt {
            title,
            subject: self.subject,
            words,
        }
    }

    fn unexplained(&self, table: &Table, fate: &str) -> Doubt {
        let words = table.words_of(self.merged, fisher(table), fate);
        self.doubt(self.unexplained, words)
    }

    fn limited(&self, size: &BySize<'_>, looks: usize, fate: &str) -> Option<Doubt> {
        let step = size.limit(looks)?;
        Some(self.doubt(self.limited, step.words(self.merged, fate)))
    }
}

const LOST: &str = "that left never arrived";
const DAMAGED: &str = "that left lost all or a part";

impl Doubt {
    pub(crate) const UNEXPLAINED: &str =
        "merged frames are lost more often than single ones, and their length does not explain it";
    pub(crate) const LIMITED: &str = "merged frames beyond some length are lost, by a box that cannot carry them or a rate limit that has no \
     room for them";

    pub(crate) const UNCOMPARED: &str = "merged frames are lost, and what became of single ones, or of most merged ones, is not seen";

    pub(crate) const HIDDEN: &str =
        "segments are lost in runs on a hop that merges them: merged frames may be what is lost";

    pub(crate) const IN_PART: &str =
        "merged frames lose a part more often than single ones are lost";

    /// Of UDP datagrams on one of so many hops.
    pub(crate) fn on_datagrams(hop: &DatagramHop, looks: usize) -> Option<Self> {
        const LOST: &str = "that left never arrived whole";
        let size = BySize::of_datagrams(hop);
        match Excess::of(&size, looks, || None) {
            Excess::Limited => DATAGRAMS.limited(&size, looks, LOST),
            Excess::Unexplained | Excess::Mixed => Some(DATAGRAMS.unexplained(&size.table, LOST)),
            _ => None,
        }
    }

    /// On a hop: of merged frames, or of those that no card cut.
    pub(crate) fn on_hop(hop: &Crossing<'_>) -> Option<Self> {
        Self::of_merged(hop).or_else(|| Self::of_uncut(&Crossing::of(&uncut(hop)?)))
    }

    fn of_uncut(hop: &Crossing<'_>) -> Option<Self> {
        match Excess::of_uncut(hop)? {
            excess if excess == Excess::of_lost(hop) => Self::on(hop, excess, LOST),
            excess => Self::on(&Crossing::of(&damaged(hop)), excess, DAMAGED),
        }
    }

    fn of_merged(hop: &Crossing<'_>) -> Option<Self> {
        if let Some(span) = span::of_loss(hop) {
            let (from, to) = (time(span.from_s), time(span.to_s));
            let fate = format!("that left from {from} to {to} after the first frame never arrived");
            return Some(FRAMES.unexplained(&span.table, &fate));
        }
        if let Some(runs) = Runs::of_merged(hop) {
            return Some(FRAMES.doubt(Self::HIDDEN, runs.words()));
        }
        let whole = Self::on(hop, Excess::of_lost(hop), LOST);
        let in_part = || {
            Self::on(
                &Crossing::of(&damaged(hop)),
                Excess::of_merged(hop),
                DAMAGED,
            )
        };
        whole.or_else(in_part)
    }

    fn on(hop: &Crossing<'_>, excess: Excess, fate: &str) -> Option<Self> {
        match excess {
            Excess::Limited => FRAMES.limited(&BySize::of_hop(hop), 1, fate),
            Excess::Unexplained => Some(FRAMES.unexplained(&Table::of_hop(hop), fate)),
            Excess::Uncompared => Some(Self::uncompared(&Table::of_hop(hop), fate)),
            _ => None,
        }
    }

    fn uncompared(table: &Table, fate: &str) -> Self {
        FRAMES.doubt(Self::UNCOMPARED, table.words(None, fate))
    }

    /// Of one of all directions at a point.
    pub(crate) fn behind(point: &Point, data: &Direction) -> Option<Self> {
        const AGAIN: &str = "had to be sent again whole";
        if let Some(parts) = Parts::of(data, looks_at(point)) {
            return Some(FRAMES.doubt(Self::IN_PART, parts.words()));
        }
        match Excess::behind(point, data) {
            Excess::Limited => FRAMES.limited(&BySize::of_repeats(data), looks_at(point), AGAIN),
            Excess::Unexplained => Some(FRAMES.unexplained(&Table::of_repeats(data), AGAIN)),
            Excess::Uncompared => Some(Self::uncompared(&Table::of_repeats(data), AGAIN)),
            _ => None,
        }
    }
}
