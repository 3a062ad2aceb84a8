//! Gaps: what was not read of a host, and whether enough was.

use coalescope_host::model::Snapshot;
use coalescope_knowledge::rules::Checked;

/// Whether enough was read of a host for the absence of findings to count.
pub(crate) fn is_decided(snapshot: &Snapshot, checked: &Checked) -> bool {
    snapshot.platform.is_some() && !checked.undecided
}

/// Rules that could not be applied to a host, and what was not read of it.
pub(crate) fn not_read(snapshot: &Snapshot, checked: &Checked) -> Vec<String> {
    let rules = checked.errors.iter().map(|error| {
        let place = error.interface.as_deref().unwrap_or("the host");
        format!(
            "rule {} could not be asked about {place}: {}",
            error.rule, error.error
        )
    });
    rules.chain(unread(snapshot)).collect()
}

/// What was not read, one text per reason.
fn unread(snapshot: &Snapshot) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for unread in &snapshot.unread {
        match by_reason.iter_mut().find(|(why, _)| *why == unread.why) {
            Some((_, all)) => all.push(&unread.what),
            None => by_reason.push((&unread.why, vec![&unread.what])),
        }
    }
    let texts = by_reason.into_iter();
    let texts = texts.map(|(why, all)| format!("{}: {why}", all.join("; ")));
    texts.collect()
}
