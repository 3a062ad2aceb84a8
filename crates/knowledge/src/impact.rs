//! The impact of a finding, in a line: how fast the connection was that shows it best, and what held the connection
//! back.

use coalescope_capture::facts::{Connection, Trace};

use crate::finding::{Finding, Id, Subject};
use crate::judged::at;
use crate::limits::telling_direction;
use crate::merging::Lost;
use crate::others::LATE_SYN;
use crate::overview::Overview;
use crate::part::Part;
use crate::thresholds::{HANDFUL, LOSS};
use crate::words::{rate, time};

/// What points are of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Points {
    /// Of one path.
    Path,
    /// Of two transfers.
    Transfers,
}

/// The impact of the first finding, unless that is a note, about no connection, or about one whose speed nobody knows.
pub(crate) fn impact(
    trace: &Trace,
    overview: &Overview<'_>,
    findings: &[Finding],
    points: Points,
) -> Option<String> {
    let first = findings.first().filter(|finding| !finding.note)?;
    let about = first.connection.as_ref()?;
    let connection = at(trace, &about.point, about.id)?;
    let several = first.share.is_some_and(|share| share.of_connections > 1);
    let of = match (several, points) {
        (true, Points::Path) => format!(" for connection #{}", about.id),
        (true, Points::Transfers) => format!(" for connection #{} of {}", about.id, about.point),
        (false, Points::Path) => String::new(),
        (false, Points::Transfers) => format!(" in {}", about.point),
    };
    let lost = lost(overview, first);
    let Some(figure) = figure(first, &connection) else {
        return lost.map(|(_, frames)| frames);
    };
    Some(match lost {
        Some((more, frames)) => format!("{figure}{of}{more}: {frames}"),
        None => format!("{figure}{of}: {}", cause(first)),
    })
}

/// How fast the connection was, or how long it took to connect, if that is what it waits for.
fn figure(finding: &Finding, connection: &Connection) -> Option<String> {
    let took = connection
        .phases
        .connect_s
        .filter(|_| is_handshake(finding));
    let (direction, _) = telling_direction(connection);
    let speed = connection.direction(direction).throughput_bps;
    took.map(|took| format!("{} to connect", time(took)))
        .or_else(|| speed.map(rate))
}

/// What is said of it behind a figure.
fn cause(finding: &Finding) -> &str {
    match is_handshake(finding) {
        true => LATE_SYN,
        false => &finding.title,
    }
}

/// Whether connections wait for their handshake.
fn is_handshake(finding: &Finding) -> bool {
    finding.subject == Subject::Handshake
}

/// The frames that a hop loses, with the numbers of the finding and no others, and whether the path carries more.
fn lost(overview: &Overview<'_>, finding: &Finding) -> Option<(&'static str, String)> {
    let place = finding.hop.as_ref()?;
    let mut hops = overview.hops().iter();
    let hop = hops.find(|hop| hop.from == place.from && hop.to == place.to)?;
    let told = Lost::on(hop)?;
    let said = &finding.evidence.first()?.text;
    let is_same = finding.id == Id::MergedFramesLost && *said == told.words();
    let vanish = || {
        format!(
            "{} vanish between {} and {}",
            counted(&told),
            hop.from,
            hop.to
        )
    };
    is_same.then(|| (more(&told), vanish()))
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
