//! A block for each finding.

use coalescope_knowledge::{Finding, Id};

use super::page::{Page, Tone};
use crate::words::findings::{capitalised, is_marked, place, quote};

pub(crate) fn show(page: &mut Page, findings: &[Finding]) {
    for finding in findings {
        page.gap();
        page.paragraph("", "  ", &title(finding), tone(finding));
        if let Some(place) = place(finding) {
            page.paragraph("  ", "  ", &place, Tone::Plain);
        }
        for evidence in &finding.evidence {
            page.paragraph("  - ", "    ", &quote(evidence), Tone::Plain);
        }
        let next = format!("next: {}", finding.next);
        page.paragraph("  ", "        ", &next, Tone::Plain);
    }
}

fn tone(finding: &Finding) -> Tone {
    match finding.id {
        Id::MergedFramesLost | Id::MergedFramesRejected | Id::MergedDatagramsLost => Tone::Bad,
        Id::Healthy => Tone::Good,
        _ if finding.note => Tone::Plain,
        _ => Tone::Heading,
    }
}

fn title(finding: &Finding) -> String {
    let (id, proof) = (finding.id.name(), finding.proof.name());
    let note = if is_marked(finding) { ", note" } else { "" };
    format!("{} [{id}, {proof}{note}]", capitalised(&finding.title))
}
