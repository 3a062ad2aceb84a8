//! Losses that point to merging without convicting it.

use coalescope_capture::facts::{Connection, Direction, Hop, Point, Trace};

use crate::finding::{Evidence, Finding, HopRef, Id, Proof};
use crate::merging::{at, unjudged};
use crate::odds::{Table, fisher};
use crate::overview::Overview;
use crate::words::{reference, shown};

/// Losses of merged frames that are too few to convict, and losses of large frames of which it is
/// not known that they were merged.
pub(crate) fn hints(trace: &Trace, overview: &Overview) -> Vec<Finding> {
    let on_hops = trace.hops.iter().filter_map(|hop| hint_on(hop, trace));
    let at_points = trace
        .points
        .iter()
        .enumerate()
        .filter_map(|(i, point)| hint_at(trace, point, overview.suspects(i)));
    on_hops.chain(at_points).collect()
}

fn hint_on(hop: &Hop, trace: &Trace) -> Option<Finding> {
    let worst = hop.connections.first()?;
    let table = Table::of(&hop.merged, &hop.single);
    let title = table.hint()?;
    let words = table.words(fisher(&table), "that left never arrived");
    Some(Finding {
        title: title.to_owned(),
        connection: at(trace, &hop.from, worst.from_id).map(|c| reference(&hop.from, &c)),
        hop: Some(HopRef {
            from: hop.from.clone(),
            to: hop.to.clone(),
        }),
        ..hint(shown(words, &hop.from, &worst.merged_lost_frames))
    })
}

fn hint_at(trace: &Trace, point: &Point, suspects: &[Connection]) -> Option<Finding> {
    let title = |d: &Direction| Table::of_repeats(d).hint();
    let mut all = unjudged(trace, point, suspects);
    let (connection, data, title) =
        all.find_map(|(connection, data)| Some((connection, data, title(data)?)))?;
    let table = Table::of_repeats(data);
    let words = table.words(fisher(&table), "had to be sent again whole");
    Some(Finding {
        title: title.to_owned(),
        connection: Some(reference(&point.name, connection)),
        ..hint(shown(
            words,
            &point.name,
            data.frames_of(|examples| &examples.merged_repeated),
        ))
    })
}

fn hint(evidence: Evidence) -> Finding {
    Finding {
        id: Id::NotEnoughEvidence,
        proof: Proof::Suspected,
        reason: None,
        note: false,
        share: None,
        title: String::new(),
        connection: None,
        hop: None,
        evidence: vec![evidence],
        next:
            "capture a longer transfer: ten merged frames that vanish among single ones that pass \
               would settle it"
                .to_owned(),
    }
}
