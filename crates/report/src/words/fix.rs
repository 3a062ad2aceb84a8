//! Words for fixes.

use coalescope_knowledge::Standing;
use coalescope_remedy::{FileChange, Refused, Reload};

use super::units::date;
use crate::fix::{FixReport, Fixed, Shown, Verified};

/// A finding in one line, with its id and proof level, after the name of its host if there are several.
pub(crate) fn head(fixed: &Fixed) -> String {
    let said = format!("{} [{}, {}]", fixed.title, fixed.id, fixed.proof.name());
    match &fixed.host {
        Some(host) => format!("{host}: {said}"),
        None => said,
    }
}

/// Why there is nothing to fix or to verify, if there is nothing.
pub(crate) fn nothing(report: &FixReport) -> Option<String> {
    if !report.verified.is_empty() || !report.fixes.is_empty() {
        return None;
    }
    if !report.in_force.is_empty() {
        let settings = report.in_force.join(", ");
        return Some(format!("In force since an earlier fix: {settings}."));
    }
    let text = if report.verifies {
        "Nothing that `fix --apply` changed is in force, so there is nothing to verify."
    } else if report.is_elsewhere {
        "Nothing to fix: no setting there is known to harm."
    } else {
        "Nothing to fix: `coalescope check` finds no setting here that is known to harm."
    };
    Some(text.to_owned())
}

/// The verdict of an experiment, and its date.
pub(crate) fn proof(shown: &Shown) -> String {
    let verdict = shown.verdict.trim_end_matches('.');
    let when = date(shown.begun_unix_s);
    match shown.now {
        Standing::Proven => format!("proven by `coalescope ab` on {when}: {verdict}"),
        Standing::Cleared => format!(
            "cleared by `coalescope ab` on {when}: {verdict}; to change it would gain nothing here"
        ),
        Standing::Open => format!("not clear after `coalescope ab` on {when}: {verdict}"),
    }
}

/// A file that makes settings last, and why this one.
pub(crate) fn file(change: &FileChange) -> String {
    format!("{} has it: {}", change.owner, change.why)
}

/// What makes a manager read its files at once, in front of the command.
pub(crate) fn reload(reload: &Reload) -> String {
    let disturbs = match reload.disturbs_traffic {
        true => " (may interrupt traffic)",
        false => "",
    };
    format!(
        "So that it is read at once{disturbs}, because {}:",
        reload.why
    )
}

/// A setting that cannot be made to last, and why.
pub(crate) fn refused(refused: &Refused) -> String {
    let wish = &refused.wish;
    format!(
        "cannot be made to last: {} {} of {}: {}; {}",
        wish.feature,
        if wish.on { "on" } else { "off" },
        wish.interface,
        refused.why,
        refused.what_to_do
    )
}

/// That changes were taken back because one failed, if they were.
pub(crate) fn by_itself(report: &FixReport) -> Option<&'static str> {
    let is_back = report.unrestored.is_empty() && !report.changes.is_empty();
    (report.problem.is_some() && is_back).then_some("All of it was taken back.")
}

/// What was not restored, and what was left out.
pub(crate) fn left(report: &FixReport) -> Vec<String> {
    let unrestored = report.unrestored.iter();
    let unrestored = unrestored.map(|left| format!("NOT restored: {left}"));
    let left_out = report.left_out.iter();
    let left_out = left_out.map(|left| format!("left out: {left}"));
    unrestored.chain(left_out).collect()
}

/// What came of it in the end, and whether something was changed.
pub(crate) fn outcome(report: &FixReport) -> Option<(&'static str, bool)> {
    if report.applied && !report.journals.is_empty() {
        let text = "Done. `coalescope undo` takes it back; `coalescope fix --verify` tells whether it still holds.";
        return Some((text, true));
    }
    let text = if report.applied && !report.left_out.is_empty() {
        "Nothing was changed."
    } else if report.applied && !report.in_force.is_empty() {
        "No file is to be changed for that."
    } else if report.applied && !report.fixes.is_empty() {
        "There was nothing to change."
    } else if report.fixes.iter().any(|fixed| fixed.host.is_some()) {
        "Nothing was changed: these are commands for the hosts that are named with them."
    } else if report.is_elsewhere && !report.fixes.is_empty() {
        "Nothing was changed: these are commands for the host that this was saved on."
    } else if report.problem.is_none()
        && !(report.fixes.is_empty() && report.files.files.is_empty())
    {
        "Nothing was changed. With --apply it is changed now, with --apply --persist in the \
         files of whatever manages the interface as well."
    } else {
        return None;
    };
    Some((text, false))
}

/// Whether an applied setting holds, with both values.
pub(crate) fn verified(one: &Verified) -> String {
    format!(
        "{}: {} is {}, wanted {} [{}]",
        if one.holds { "holds" } else { "REVERTED" },
        one.what,
        one.is,
        one.wanted,
        one.journal
    )
}
