//! The impact of a finding, in a line: how fast the connection was that shows it best, and what held the connection
//! back.

use coalescope_capture::facts::{Hop, Outcomes, Trace};

use crate::finding::{Finding, Id};
use crate::judged::at;
use crate::limits::telling_direction;
use crate::thresholds::{HANDFUL, LOSS};
use crate::words::rate;

/// The impact of the first finding, unless that is a note or about no connection.
pub(crate) fn impact(trace: &Trace, findings: &[Finding]) -> Option<String> {
    let first = findings.first().filter(|finding| !finding.note)?;
    let about = first.connection.as_ref()?;
    let connection = at(trace, &about.point, about.id)?;
    let (direction, _) = telling_direction(&connection);
    let rate = rate(connection.direction(direction).throughput_bps?);
    let several = first.share.is_some_and(|share| share.of_connections > 1);
    let of = if several {
        format!("{rate} for connection #{}", about.id)
    } else {
        rate
    };
    let hop = hop_of(trace, first);
    let more = hop.filter(|hop| carries_more(hop));
    let more = more.map_or("", |_| " where the path carries more");
    let what = hop
        .and_then(vanished)
        .unwrap_or_else(|| first.title.clone());
    Some(format!("{of}{more}: {what}"))
}

/// The hop on which merged frames are lost.
fn hop_of<'a>(trace: &'a Trace, finding: &Finding) -> Option<&'a Hop> {
    let place = finding.hop.as_ref()?;
    let mut hops = trace.hops.iter();
    let hop = hops.find(|hop| hop.from == place.from && hop.to == place.to);
    hop.filter(|_| finding.id == Id::MergedFramesLost)
}

/// Whether full queues and rate limits can be excluded: these lose frames that stand alone as well, and next to none of
/// those were lost.
fn carries_more(hop: &Hop) -> bool {
    let judged = judged(&hop.single);
    judged >= HANDFUL && hop.single.lost as f64 <= judged as f64 * LOSS
}

fn vanished(hop: &Hop) -> Option<String> {
    let (lost, judged) = (hop.merged.lost, judged(&hop.merged));
    let Hop { from, to, .. } = hop;
    (lost > 0).then(|| format!("{lost} of {judged} merged frames vanish between {from} and {to}"))
}

fn judged(outcomes: &Outcomes) -> u64 {
    outcomes.lost + outcomes.came_through()
}
