//! Words for a finding of a trace.

use coalescope_knowledge::{ConnectionRef, Evidence, Finding, HopRef, Id};

/// Frame numbers printed for one piece of evidence; JSON has them all.
pub(crate) const FRAMES: usize = 10;

pub(crate) fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(rest).collect()
}

/// Whether a note is marked as one: a healthy verdict needs no mark.
pub(crate) fn is_marked(finding: &Finding) -> bool {
    finding.note && finding.id != Id::Healthy
}

/// The hop and the connection.
pub(crate) fn place(finding: &Finding) -> Option<String> {
    let hop = finding
        .hop
        .as_ref()
        .map(|HopRef { from, to }| format!("hop {from} -> {to}"));
    let connection = finding.connection.as_ref().map(name);
    let parts: Vec<String> = hop.into_iter().chain(connection).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

pub(crate) fn name(connection: &ConnectionRef) -> String {
    let ConnectionRef {
        point,
        id,
        client,
        server,
    } = connection;
    format!("connection #{id} at {point}: {client} -> {server}")
}

pub(crate) fn quote(evidence: &Evidence) -> String {
    match frames(evidence) {
        Some(frames) => format!("{} [{frames}]", evidence.text),
        None => evidence.text.clone(),
    }
}

/// `CAP-02 frames 17, 23, 31, ...`
pub(crate) fn frames(evidence: &Evidence) -> Option<String> {
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
