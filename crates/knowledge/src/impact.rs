//! The impact of a finding, in a line: how fast the connection was that shows it best, and what held the connection
//! back.

use coalescope_capture::facts::Trace;

use crate::finding::{Finding, Id};
use crate::judged::at;
use crate::limits::telling_direction;
use crate::merging::Lost;
use crate::overview::Overview;
use crate::part::Part;
use crate::thresholds::{HANDFUL, LOSS};
use crate::words::rate;

/// The impact of the first finding, unless that is a note or about no connection.
pub(crate) fn impact(
    trace: &Trace,
    overview: &Overview<'_>,
    findings: &[Finding],
) -> Option<String> {
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
    let what = lost(overview, first).unwrap_or_else(|| format!(": {}", first.title));
    Some(format!("{of}{what}"))
}

/// The frames that a hop loses, with the numbers of the finding and no others.
fn lost(overview: &Overview<'_>, finding: &Finding) -> Option<String> {
    let place = finding.hop.as_ref()?;
    let mut hops = overview.hops().iter();
    let hop = hops.find(|hop| hop.from == place.from && hop.to == place.to)?;
    let told = Lost::on(hop)?;
    let said = &finding.evidence.first()?.text;
    let is_same = finding.id == Id::MergedFramesLost && *said == told.words();
    is_same.then(|| {
        format!(
            "{}: {} vanish between {} and {}",
            more(&told),
            counted(&told),
            hop.from,
            hop.to
        )
    })
}

/// `33 of 33 merged frames of more than 3072 bytes`.
fn counted(told: &Lost<'_>) -> String {
    let Part { lost, all, .. } = told.step.longer;
    let frames = told.frames;
    match told.step.carried {
        None => format!("{lost} of {all} {frames}"),
        Some(bytes) => format!("{lost} of {all} {frames} of more than {bytes} bytes"),
    }
}

/// Whether full queues and rate limits can be excluded: these lose shorter frames as well, and next to none of those were
/// lost.
fn more(told: &Lost<'_>) -> &'static str {
    let Part { lost, all, .. } = told.step.shorter;
    if all >= HANDFUL && lost as f64 <= all as f64 * LOSS {
        " where the path carries more"
    } else {
        ""
    }
}
