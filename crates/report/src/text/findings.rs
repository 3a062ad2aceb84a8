//! A block for each finding.

use coalescope_knowledge::{ConnectionRef, Evidence, Finding, HopRef, Id};

use super::page::{Page, Tone};

/// Frame numbers printed for one piece of evidence; JSON has them all.
const FRAMES: usize = 10;

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

pub(super) fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(rest).collect()
}

/// The hop and the connection.
fn place(finding: &Finding) -> Option<String> {
    let hop = finding
        .hop
        .as_ref()
        .map(|HopRef { from, to }| format!("hop {from} -> {to}"));
    let connection = finding.connection.as_ref().map(name);
    let parts: Vec<String> = hop.into_iter().chain(connection).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn name(connection: &ConnectionRef) -> String {
    let ConnectionRef {
        point,
        id,
        client,
        server,
    } = connection;
    format!("connection #{id} at {point}: {client} -> {server}")
}

fn quote(evidence: &Evidence) -> String {
    match frames(evidence) {
        Some(frames) => format!("{} [{frames}]", evidence.text),
        None => evidence.text.clone(),
    }
}

/// `CAP-02 frames 17, 23, 31, ...`
fn frames(evidence: &Evidence) -> Option<String> {
    if evidence.frames.is_empty() {
        return None;
    }
    let point = evidence
        .point
        .as_ref()
        .map_or(String::new(), |point| format!("{point} "));
    let noun = if evidence.frames.len() == 1 {
        "frame"
    } else {
        "frames"
    };
    let listed = evidence.frames.iter().take(FRAMES).map(u64::to_string);
    let more = (evidence.frames.len() > FRAMES).then(|| "...".to_owned());
    let numbers: Vec<String> = listed.chain(more).collect();
    Some(format!("{point}{noun} {}", numbers.join(", ")))
}
