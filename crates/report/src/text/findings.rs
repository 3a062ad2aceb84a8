//! A block for each finding.

use coalescope_knowledge::{Finding, Id};

use super::page::{Page, Tone};
use crate::words::findings::{capitalised, place, quote};

pub(crate) fn show(page: &mut Page, findings: &[Finding]) {
    for finding in findings {
        page.gap();
        page.paragraph("", "  ", &title(finding), tone(finding.id));
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

fn tone(id: Id) -> Tone {
    match id {
        Id::MergedFramesLost | Id::MergedFramesRejected => Tone::Bad,
        Id::Healthy => Tone::Good,
        _ => Tone::Heading,
    }
}

fn title(finding: &Finding) -> String {
    let (id, proof) = (finding.id.name(), finding.proof.name());
    format!("{} [{id}, {proof}]", capitalised(&finding.title))
}
