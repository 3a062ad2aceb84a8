//! Words for hosts and captures together.

use coalescope_knowledge::rules::HostFinding;
use coalescope_knowledge::{Merging, Proof};

use super::check;
use crate::diagnose::DiagnoseReport;

/// The verdict of the captures, and the setting that explains it.
pub(crate) fn verdict(report: &DiagnoseReport) -> String {
    let findings: Vec<&HostFinding> = report
        .check
        .hosts
        .iter()
        .flat_map(|(_, checked)| &checked.findings)
        .collect();
    let settings = check::verdict_text(&report.check, &findings);
    let Some(trace) = &report.trace else {
        return settings;
    };
    let shown = &trace.diagnosis.verdict;
    let explained = findings
        .iter()
        .find(|finding| finding.proof >= Proof::Observed);
    match (shown.merging, explained) {
        (Merging::Harms, Some(finding)) => {
            format!(
                "{} The reason, as far as settings tell: {}.",
                shown.text, finding.title
            )
        }
        (Merging::Harms, None) => {
            format!(
                "{} No setting that was read explains it. {settings}",
                shown.text
            )
        }
        _ => format!("{} {settings}", shown.text),
    }
}
