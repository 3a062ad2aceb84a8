//! Findings that are not about lost merged frames: other limits of connections.

mod acks;
mod case;
mod handshake;
mod largest;
mod lossless;
mod stuck;

use coalescope_capture::facts::{Hop, HopConnection, Trace};

use crate::bucket::{Ahead, Fit};
use crate::crossing::Crossing;
use crate::excess::{Doubt, Excess};
use crate::finding::{Finding, HopRef, Id, Proof, Reason, Subject};
use crate::judged::{at, lost_by};
use crate::limits::{ConnectionLimit, Limit, loss_frames, sees_losses, segments};
use crate::loss::Kind;
use crate::merging::is_judged;
use crate::odds::Table;
use crate::overview::Overview;
use crate::ranking;
use crate::same::{Group, Same};
use crate::thresholds::{BEHIND, HANDFUL, LOSS_FRAMES};
use crate::traffic::{Own, Traffic};
use crate::words::{connections, probability, share, shown, without_frames};
use acks::acknowledged_in_vain;
use case::Case;
pub(crate) use handshake::LATE_SYN;
use largest::largest;

/// One finding for each limit that occurs, and for each kind of loss, about its largest connection.
pub(crate) fn others(
    trace: &Trace,
    overview: &Overview<'_>,
    same: &Same<'_>,
    before: &[Finding],
) -> Vec<Finding> {
    let any = Kind::default();
    let order = [
        (Limit::Unclear, any),
        (Limit::Loss, Kind::Stuck),
        (Limit::Loss, Kind::Segments),
        (Limit::Loss, Kind::Acks),
        (Limit::Loss, Kind::Handshake),
        (Limit::Reordering, any),
        (Limit::ReceiverWindow, any),
        (Limit::SenderIdle, any),
        (Limit::PathBandwidth, any),
    ];
    order
        .into_iter()
        .filter_map(|wanted| finding(trace, overview, (wanted, before), same))
        .collect()
}

fn finding(
    trace: &Trace,
    overview: &Overview<'_>,
    ((wanted, kind), before): ((Limit, Kind), &[Finding]),
    same: &Same<'_>,
) -> Option<Finding> {
    let is_kind = |own: &Own| wanted != Limit::Loss || own.kind == kind;
    let limited = || {
        let all = overview.limits_and_own();
        all.filter(|(limit, own)| limit.limit == wanted && is_kind(own))
    };
    // The limit must be visible at this very point.
    let shown = limited().filter(|(_, own)| own.limit == wanted);
    let lost = |limit: &ConnectionLimit| {
        let case = (wanted == Limit::Loss).then(|| Case::find(trace, limit));
        case.map(|case| case.map_or(0, |case| loss_frames(case.data())))
    };
    // What was lost in front of a point is seen in front of that loss only.
    let shows = |limit: &ConnectionLimit| lost(limit).is_none_or(|lost| lost > 0);
    let largest = largest(shown.map(|(limit, own)| (own.unique_bytes, limit)), shows)?;
    // And of what was lost behind it, a later point sees the part that came late.
    let group = same.group(&largest.point, largest.connection);
    let is_lost_elsewhere = wanted == Limit::Loss && matches!(group, Group::Of(_));
    let of_it = limited().filter(|(limit, own)| {
        is_lost_elsewhere
            && own.limit == wanted
            && same.group(&limit.point, limit.connection) == group
    });
    let most = of_it.max_by_key(|(limit, _)| (lost(limit), limit.point == largest.point));
    let largest = most.map_or(largest, |(limit, _)| limit);
    let elsewhere = (kind == Kind::Acks).then(|| acknowledged_in_vain(trace, largest));
    let case = elsewhere.flatten().or_else(|| Case::find(trace, largest))?;
    let mut finding = case.finding((trace, overview), (wanted, kind), same);
    if before.iter().any(|doubt| is_same_loss(doubt, &finding)) {
        return None;
    }
    let at_point = limited().filter(|(limit, _)| limit.point == largest.point);
    let mut suffers = Traffic::default();
    at_point.for_each(|(_, own)| suffers += own.traffic());
    finding.share = Some(ranking::share(
        suffers,
        overview.traffic_at(trace, &largest.point),
    ));
    Some(finding)
}

impl Case<'_> {
    fn finding(
        &self,
        (trace, overview): (&Trace, &Overview<'_>),
        limit: (Limit, Kind),
        same: &Same<'_>,
    ) -> Finding {
        match limit {
            (Limit::Reordering, _) => self.reordering(),
            (Limit::Loss, Kind::Handshake) => self.handshake(),
            (Limit::Loss, Kind::Acks) => self.lost_acks(trace),
            (Limit::Loss, Kind::Stuck) => self.stuck(trace, overview, same),
            (Limit::Loss, Kind::Segments) => self.loss(trace, overview, same),
            (Limit::ReceiverWindow, _) => self.window(),
            (Limit::SenderIdle, _) => self.idle(),
            (Limit::PathBandwidth, _) => self.bandwidth(),
            _ => self.unclear(),
        }
    }

    fn loss(&self, trace: &Trace, overview: &Overview<'_>, same: &Same<'_>) -> Finding {
        let mut evidence = vec![shown(
            self.loss_words(),
            self.point,
            self.data().frames_of(|examples| &examples.retransmitted),
        )];
        let hop = self.worst_hop(trace, overview, same);
        let excess = self.excess(trace, hop);
        let reason = excess.reason();
        let room = hop.and_then(Crossing::room).map(Fit::words);
        let window = hop
            .filter(|_| room.is_none())
            .and_then(Crossing::window)
            .map(Ahead::words);
        // Only merged frames that got through acquit merging, of the same direction; without any there is only no evidence
        // against it.
        let behind = if sees_losses(self.data()) {
            self.data().repeats.merged
        } else {
            0
        };
        let seen = hop_merged(trace, self.direction) + behind;
        let (title, next) = match excess {
            Excess::ByLength(Some(Reason::Corruption)) => WRONG_BITS,
            Excess::ByLength(_) if room.is_some() => ROOM,
            Excess::ByLength(_) if window.is_some() => WINDOW,
            Excess::ByLength(Some(_)) => SLOPE,
            Excess::ByLength(None) => OPEN_SLOPE,
            Excess::None if seen >= HANDFUL => (
                "segments are lost, and merging has no part in it",
                FIND_LOSS,
            ),
            Excess::Unexplained => (Doubt::UNEXPLAINED, FIND_LOSS),
            Excess::Limited => (Doubt::LIMITED, FIND_LOSS),
            Excess::Hidden => (Doubt::HIDDEN, FIND_LOSS),
            Excess::Uncompared => (Doubt::UNCOMPARED, FIND_LOSS),
            Excess::Mixed => MIXED,
            _ if loss_frames(self.data()) == 0 => (
                "short connections wait for as long as timeouts take, and nothing here points to merging",
                FIND_LOSS,
            ),
            _ => (
                "segments are lost, and nothing here points to merging",
                FIND_LOSS,
            ),
        };
        let in_front = || {
            let point = self.lost_in_front_of(trace, same)?;
            Some(format!(
                "they were late at {point} already, and lost in front of it"
            ))
        };
        // From behind nothing shows how long the frames were that carried it.
        let is_behind = hop.is_none() && !sees_losses(self.data());
        let next = if next == FIND_LOSS && is_behind {
            FIND_LOSS_IN_FRONT
        } else {
            next
        };
        let place = hop.map(|hop| hop_words(hop)).or_else(in_front);
        evidence.extend(place.or_else(|| self.repeats_words()).map(without_frames));
        evidence.extend(room.or(window).map(without_frames));
        let mut finding = self.make(Id::LossNotMerging, title, evidence, next);
        finding.reason = reason;
        finding.subject = subject(excess);
        finding.hop = hop.map(|hop| HopRef::of(hop));
        finding
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
    fn worst_hop<'o>(
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

/// Whether a finding is about a loss of which a doubt was stated before.
fn is_same_loss(doubt: &Finding, loss: &Finding) -> bool {
    let [is_doubt, of_loss] = [doubt, loss].map(|one| one.subject == Subject::DoubtedLoss);
    let is_same = doubt.id == loss.id && doubt.connection == loss.connection;
    is_doubt
        && of_loss
        && doubt.hop == loss.hop
        && (loss.hop.is_some() || doubt.connection == loss.connection)
        || is_doubt && is_same
}

/// Advice for a loss.
const FIND_LOSS: &str =
    "look for the loss itself: a full queue, a policer, a bad link; leave merging as it is";
/// The same where the loss is in front of the only capture that shows it.
const FIND_LOSS_IN_FRONT: &str = "look for the loss itself: a full queue, a policer, a bad link; it is in front of this capture, where nothing \
     shows whether merged frames are lost: capture closer to the sender as well, and leave merging as it is until then";
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

/// The finding that all is well: nothing else was found but notes about little of the traffic, and there was data to
/// look at.
pub(crate) fn healthy(overview: &Overview<'_>, notes: &[Finding]) -> Option<Finding> {
    let n = Some(overview.with_data()).filter(|n| *n > 0)?;
    let is_noted = notes.iter().any(|note| note.id != Id::SenderIdle);
    let what = if overview.limits.is_empty() {
        "too short to tell what would limit a longer one"
    } else if is_noted {
        "next to none of which is held back by the network"
    } else {
        "none of which is held back by the network"
    };
    let text = format!("{}, {what}", connections(n));
    let unanswered = overview.unanswered().into_iter();
    Some(Finding {
        id: Id::Healthy,
        proof: Proof::Observed,
        reason: None,
        subject: Subject::Plain,
        note: true,
        share: None,
        title: "nothing is wrong".to_owned(),
        connection: None,
        hop: None,
        evidence: std::iter::once(text)
            .chain(unanswered)
            .map(without_frames)
            .collect(),
        next: "if it is slow all the same, capture while it is, at the slow side".to_owned(),
    })
}
