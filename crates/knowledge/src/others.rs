//! Findings that are not about lost merged frames: other limits of connections.

mod acks;
mod case;
mod handshake;
mod largest;
mod lossless;
mod lost;
mod stuck;

use coalescope_capture::facts::Trace;

use crate::finding::{Finding, Id, Proof, Subject};
use crate::limits::{ConnectionLimit, Limit, loss_frames};
use crate::loss::Kind;
use crate::overview::Overview;
use crate::ranking;
use crate::same::{Group, Same};
use crate::traffic::{Own, Traffic};
use crate::words::{connections, without_frames};
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
            (Limit::Loss, Kind::Handshake) => self.handshake(trace, same),
            (Limit::Loss, Kind::Acks) => self.lost_acks(trace),
            (Limit::Loss, Kind::Stuck) => self.stuck(trace, overview, same),
            (Limit::Loss, Kind::Segments) => self.loss(trace, overview, same),
            (Limit::ReceiverWindow, _) => self.window(),
            (Limit::SenderIdle, _) => self.idle(),
            (Limit::PathBandwidth, _) => self.bandwidth(),
            _ => self.unclear(),
        }
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
    let unanswered = overview.unanswered(" beside these").into_iter();
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
