//! Segments that are lost, and what that has to do with merging.

use coalescope_capture::facts::{Hop, HopConnection, Trace};

use super::case::Case;
use crate::bucket::{Ahead, Fit};
use crate::crossing::Crossing;
use crate::excess::{Doubt, Excess};
use crate::finding::{Evidence, Finding, HopRef, Id, Reason, Subject};
use crate::judged::{at, lost_by};
use crate::limits::{loss_frames, sees_losses, segments};
use crate::merging::is_judged;
use crate::odds::Table;
use crate::overview::Overview;
use crate::same::Same;
use crate::thresholds::{BEHIND, HANDFUL, LOSS_FRAMES};
use crate::words::{probability, share, shown, without_frames};

impl Case<'_> {
    pub(super) fn loss(&self, trace: &Trace, overview: &Overview<'_>, same: &Same<'_>) -> Finding {
        let hop = self.worst_hop(trace, overview, same);
        let excess = self.excess(trace, hop);
        let law = Law::on(hop);
        let (title, next) = self.title_of_loss(trace, excess, &law);
        // From behind nothing shows how long the frames were that carried it.
        let is_behind = hop.is_none() && !sees_losses(self.data());
        let next = if next == FIND_LOSS && is_behind {
            FIND_LOSS_IN_FRONT
        } else {
            next
        };
        let mut finding = self.make(Id::LossNotMerging, title, vec![self.shown_loss()], next);
        let in_front = || self.words_in_front(trace, same);
        let place = hop.map(|hop| hop_words(hop)).or_else(in_front);
        let place = place.or_else(|| self.repeats_words());
        let further = place.into_iter().chain(law.words());
        finding.evidence.extend(further.map(without_frames));
        finding.reason = excess.reason();
        finding.subject = subject(excess);
        finding.hop = hop.map(|hop| HopRef::of(hop));
        finding
    }

    fn shown_loss(&self) -> Evidence {
        let again = self.data().frames_of(|examples| &examples.retransmitted);
        shown(self.loss_words(), self.point, again)
    }

    /// What a loss is called, and what to do about that.
    fn title_of_loss(
        &self,
        trace: &Trace,
        excess: Excess,
        law: &Law,
    ) -> (&'static str, &'static str) {
        match excess {
            Excess::ByLength(Some(Reason::Corruption)) => WRONG_BITS,
            Excess::ByLength(reason) => law.title().unwrap_or(reason.map_or(OPEN_SLOPE, |_| SLOPE)),
            Excess::None if self.passes_merged(trace) => ACQUITTED,
            Excess::Unexplained => (Doubt::UNEXPLAINED, FIND_LOSS),
            Excess::Limited => (Doubt::LIMITED, FIND_LOSS),
            Excess::Hidden => (Doubt::HIDDEN, FIND_LOSS),
            Excess::Uncompared => (Doubt::UNCOMPARED, FIND_LOSS),
            Excess::Mixed => MIXED,
            _ if loss_frames(self.data()) == 0 => UNSEEN,
            _ => OPEN,
        }
    }

    /// Whether a handful of merged frames are known to have got through: only these acquit merging, of the same direction; without
    /// any there is only no evidence against that.
    fn passes_merged(&self, trace: &Trace) -> bool {
        let repeats = &self.data().repeats;
        let behind = if sees_losses(self.data()) {
            repeats.merged
        } else {
            0
        };
        hop_merged(trace, self.direction) + behind >= HANDFUL
    }

    fn words_in_front(&self, trace: &Trace, same: &Same<'_>) -> Option<String> {
        let point = self.lost_in_front_of(trace, same)?;
        Some(format!(
            "they were late at {point} already, and lost in front of it"
        ))
    }

    /// What was lost, or where none of that is seen, as in front of this point, the silences that show it.
    fn loss_words(&self) -> String {
        let needless = match self.data().retransmitted_spurious {
            0 => String::new(),
            frames => format!(" ({frames} of them needlessly)"),
        };
        let waits = self.waits().filter(|_| loss_frames(self.data()) == 0);
        waits.unwrap_or_else(|| {
            format!(
                "{} were lost: {} sent again{needless}, {} late",
                self.lost_words(),
                self.data().retransmitted_frames,
                self.data().late_frames
            )
        })
    }

    /// What was lost of how much. What is sent again are segments as a rule, whatever they were part of before.
    fn lost_words(&self) -> String {
        let (data, lost) = (self.data(), loss_frames(self.data()));
        let segments = segments(data).round() as u64;
        if segments > data.data_frames && lost <= segments {
            format!("{} segments", share(lost, segments))
        } else {
            format!("{} data frames", share(lost, data.data_frames))
        }
    }

    /// How the loss of merged frames compares with that of single ones: on this hop; behind the point; or not at all, if what
    /// was sent again had arrived at the next point.
    fn excess(&self, trace: &Trace, hop: Option<&Crossing<'_>>) -> Excess {
        match hop {
            Some(hop) => Excess::on_hop(hop),
            None if is_judged(trace, self.at, &self.connection, self.direction) => Excess::Slight,
            None => Excess::behind(self.at, self.data()),
        }
    }

    /// The hop that lost most of this connection's data frames, if any did.
    pub(super) fn worst_hop<'o>(
        &self,
        trace: &Trace,
        overview: &'o Overview<'_>,
        same: &Same<'_>,
    ) -> Option<&'o Crossing<'o>> {
        let group = same.group(self.point, self.connection.id);
        let lost = |hop: &&Crossing<'_>| {
            let mine = hop.connections.iter().filter(|c| {
                same.group(&hop.from, c.from_id) == group && !is_lost_in_front(trace, hop, c)
            });
            mine.map(lost_by).sum::<u64>()
        };
        let losing = overview.hops().iter().filter(|hop| lost(hop) > 0);
        losing.max_by_key(lost)
    }

    /// The first of all points, if what this connection lost came late there already.
    fn lost_in_front_of<'t>(&self, trace: &'t Trace, same: &Same<'_>) -> Option<&'t str> {
        let group = same.group(self.point, self.connection.id);
        let leads_there = |other: &Hop, hop: &Hop| other.to == hop.from && other.from != hop.to;
        let is_first = |hop: &&Hop| !trace.hops.iter().any(|other| leads_there(other, hop));
        let shows = |hop: &&Hop| {
            let mut mine = hop.connections.iter();
            mine.any(|c| {
                same.group(&hop.from, c.from_id) == group && is_lost_in_front(trace, hop, c)
            })
        };
        let mut hops = trace.hops.iter().filter(is_first);
        hops.find(shows).map(|hop| &*hop.from)
    }

    fn repeats_words(&self) -> Option<String> {
        let repeats = &self.data().repeats;
        if repeats.merged == 0 {
            return Some("no frame was merged here".to_owned());
        }
        let p = repeats.p_value.map(probability).unwrap_or_default();
        Some(format!(
            "{} merged frames and {} single ones had to be sent again ({p})",
            share(repeats.merged_repeated, repeats.merged),
            share(repeats.single_repeated, repeats.single),
        ))
    }
}

/// What a hop has no room for, in words.
enum Law {
    None,
    /// Frames that come too soon behind others.
    Room(String),
    /// Data too far ahead of the acknowledgments.
    Window(String),
}

impl Law {
    fn on(hop: Option<&Crossing<'_>>) -> Self {
        let room = hop.and_then(Crossing::room).map(Fit::words);
        let window = || hop.and_then(Crossing::window).map(Ahead::words);
        match room {
            Some(words) => Self::Room(words),
            None => window().map_or(Self::None, Self::Window),
        }
    }

    fn title(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::None => None,
            Self::Room(_) => Some(ROOM),
            Self::Window(_) => Some(WINDOW),
        }
    }

    fn words(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Room(words) | Self::Window(words) => Some(words),
        }
    }
}

/// Whether a connection lost far more in front of a hop than on it: at the hop's first point these bytes came late.
fn is_lost_in_front(trace: &Trace, hop: &Hop, seen: &HopConnection) -> bool {
    let connection = at(trace, &hop.from, seen.from_id);
    let late = connection.map_or(0, |c| c.direction(seen.direction).late_frames);
    late >= LOSS_FRAMES && late >= BEHIND * lost_by(seen)
}

/// What a loss is about, by what it takes beyond chance.
fn subject(excess: Excess) -> Subject {
    match excess {
        Excess::Unexplained | Excess::Limited | Excess::Hidden | Excess::Uncompared => {
            Subject::DoubtedLoss
        }
        Excess::Mixed => Subject::MixedLoss,
        _ => Subject::Loss,
    }
}

/// Advice for a loss.
const FIND_LOSS: &str =
    "look for the loss itself: a full queue, a policer, a bad link; leave merging as it is";
/// The same where the loss is in front of the only capture that shows it.
const FIND_LOSS_IN_FRONT: &str = "look for the loss itself: a full queue, a policer, a bad link; it is in front of this capture, where nothing \
     shows whether merged frames are lost: capture closer to the sender as well, and leave merging as it is until then";
/// Title and advice where nothing is known of why segments are lost.
const OPEN: (&str, &str) = (
    "segments are lost, and nothing here points to merging",
    FIND_LOSS,
);
/// The same where merged frames get through.
const ACQUITTED: (&str, &str) = (
    "segments are lost, and merging has no part in it",
    FIND_LOSS,
);
/// The same where no loss is seen, but the silences that it leaves.
const UNSEEN: (&str, &str) = (
    "short connections wait for as long as timeouts take, and nothing here points to merging",
    FIND_LOSS,
);
/// Title and advice where a frame is the likelier lost, the longer it is.
const SLOPE: (&str, &str) = (
    "segments are lost by the byte, so that long frames are hit more often: a rate limit or a queue that is full, \
     not merging",
    "find the rate limit or the short queue on that hop: shape instead of policing, or give it room for a frame of \
     64 KB; leave merging as it is",
);
/// The same where what passed shortly before shows which frames had no room.
const ROOM: (&str, &str) = (
    "segments are lost for want of room: a rate limit or a queue that is full, not merging",
    SLOPE.1,
);
/// The same where what is further ahead of the acknowledgments than some window is lost, however long it is.
const WINDOW: (&str, &str) = (
    "data far ahead of the acknowledgments is lost, merged or not: a firewall that takes the window for smaller than it is, or \
     a short queue, not merging",
    "look for a firewall on that hop that misses the window scale: options taken out of SYNs, a failover, a second way (Linux \
     counts such frames as invalid: conntrack -S); leave merging as it is",
);
/// Title and advice where nothing shows the cause of such loss.
const OPEN_SLOPE: (&str, &str) = (
    "segments are lost by the byte, so that long frames are hit more often, and merging has no part in it",
    "look for a rate limit, a queue that is full, or a link with wrong bits; capture on both sides of what comes next, and \
     coalescope tells which of them; leave merging as it is",
);
/// Title and advice where single frames are lost, and merged ones more often than their length explains.
const MIXED: (&str, &str) = (
    "segments are lost, merged or not, and those of merged frames more often than their length explains",
    "look for the loss itself: a full queue, a policer, a bad link; if it is less with merging switched off (GRO, LRO or RSC) \
     on the interface in front, and nothing else changed, merging is to blame for some of it",
);
/// Title and advice where bits go wrong.
const WRONG_BITS: (&str, &str) = (
    "segments are lost by the byte, however far apart they come: bits change on the way, and merging has no part in it",
    "look for the bad link on that hop: errors and discards of its ports (ethtool -S), cables, transceivers, memory; leave \
     merging as it is",
);

/// Number of merged frames of a direction that hops judge.
fn hop_merged(trace: &Trace, direction: &str) -> u64 {
    let all = trace.hops.iter().flat_map(|hop| &hop.connections);
    let same = all.filter(|seen| seen.direction == direction);
    same.map(|seen| seen.merged.judged()).sum()
}

fn hop_words(hop: &Hop) -> String {
    let table = Table::of(&hop.merged, &hop.single);
    let place = format!("between {} and {}", hop.from, hop.to);
    let mut words = if table.merged > 0 {
        table.words(hop.p_value, &format!("were lost whole {place}"))
    } else {
        format!(
            "{} single frames were lost {place}",
            share(table.single_lost, table.single)
        )
    };
    if hop.merged.partly_lost > 0 {
        let n = hop.merged.partly_lost;
        words += &format!("; {n} merged ones were cut again and lost a part");
    }
    if hop.tso.seen > 0 {
        let hit = share(hop.tso.damaged(), hop.tso.seen);
        words += &format!("; {hit} frames that the sender's NIC had yet to cut lost all or a part");
    }
    words
}
