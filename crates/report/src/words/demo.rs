//! Summaries of demonstrations, in one line.

use coalescope_capture::facts::{Hop, Point};
use coalescope_knowledge::Merging;

use super::connections::busier;
use super::hops::is_accused;
use super::units::{self, count};
use crate::Report;
use crate::lab::LabIncident;

const UNTOUCHED: &str = "your machine was not touched.";

/// The summary of a live run: throughput before and after, and the successful steps.
pub(crate) fn live(one: &LabIncident, remedy: &str) -> String {
    let steps = [
        ("proven", one.proven),
        ("fixed", one.fixed),
        ("undone", one.undone),
    ];
    let steps = steps.map(|(word, done)| {
        if done {
            word.to_owned()
        } else {
            format!("not {word}")
        }
    });
    format!(
        "{} with {remedy}: {}; {UNTOUCHED}",
        units::bit_rate_change(one.slow_bps, one.fast_bps),
        steps.join(", ")
    )
}

/// The summary of simulated captures: what they show, and what they cannot show.
pub(crate) fn simulated(report: &Report, name: &str, is_built: bool) -> String {
    let rate = report.trace.points.last().and_then(throughput);
    let rate = rate.map_or_else(String::new, |bps| format!("{}, ", units::rate(bps)));
    let next = match is_built {
        true => format!("`coalescope lab run {name}` proves and fixes it live"),
        false => "`coalescope demo` proves and fixes one live".to_owned(),
    };
    format!(
        "{rate}{}: observed in simulated captures, not proven or fixed ({next}); {UNTOUCHED}",
        found(report)
    )
}

/// Throughput of the connection with most data.
fn throughput(point: &Point) -> Option<f64> {
    let connections = point.connections.iter();
    let busiest = connections.max_by_key(|one| busier(one).0.unique_bytes)?;
    busier(&busiest).0.throughput_bps
}

fn found(report: &Report) -> String {
    let accused = |hop: &&Hop| is_accused(hop, &report.diagnosis.findings);
    match report.diagnosis.verdict.merging {
        Merging::Harms => match report.trace.hops.iter().find(accused) {
            Some(hop) => lost(hop),
            None => "merged frames do not get through".to_owned(),
        },
        Merging::Innocent => "merging does no harm".to_owned(),
        Merging::NotSeen => "nothing is merged".to_owned(),
        Merging::Unclear => "whether merging harms cannot be told".to_owned(),
    }
}

fn lost(hop: &Hop) -> String {
    format!(
        "{} of {} merged frames and {} of {} single ones lost between {} and {}",
        count(hop.merged.lost),
        count(hop.merged.seen),
        count(hop.single.lost),
        count(hop.single.seen),
        hop.from,
        hop.to
    )
}
