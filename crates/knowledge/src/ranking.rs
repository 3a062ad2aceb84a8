//! The order of findings: first those that most bytes and seconds suffer from, last notes that need no action.

use std::cmp::Reverse;

use crate::finding::{Finding, Id, Share};
use crate::thresholds::BYSTANDER;
use crate::traffic::Traffic;
use crate::words::{connections, without_frames};

/// How much of a point's traffic this is.
pub(crate) fn share(mine: Traffic, all: Traffic) -> Share {
    Share {
        connections: mine.connections,
        of_connections: all.connections.max(mine.connections),
        bytes: part(mine.bytes as f64, all.bytes as f64),
        time: part(mine.seconds, all.seconds),
    }
}

fn part(part: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        (part / whole).min(1.0)
    } else {
        0.0
    }
}

/// Sorts findings by what suffers from them, notes last, and adds how much that is.
pub(crate) fn rank(mut findings: Vec<Finding>) -> Vec<Finding> {
    for finding in &mut findings {
        finding.note = is_note(finding);
        let words = finding.share.as_ref().and_then(words);
        finding.evidence.extend(words.map(without_frames));
    }
    // The sort is stable: of equal findings the graver was found first.
    findings.sort_by_key(|finding| {
        let accuses = is_accusation(finding.id);
        (finding.note, !accuses, Reverse(parts_in_thousand(finding)))
    });
    findings
}

fn is_accusation(id: Id) -> bool {
    matches!(
        id,
        Id::MergedFramesLost | Id::MergedFramesRejected | Id::MergedDatagramsLost | Id::NoMerging
    )
}

/// Whether a finding is a note: an idle application, a path that carries all it can, and problems that hardly anything
/// suffers from. Frames that are lost for being merged are the fault of a box, and no note, whichever traffic meets it
/// first.
fn is_note(finding: &Finding) -> bool {
    let is_small = finding
        .share
        .is_some_and(|share| share.weight() < BYSTANDER);
    let harmless = matches!(finding.id, Id::SenderIdle | Id::PathBandwidth | Id::Healthy);
    harmless || is_small && !is_accusation(finding.id)
}

fn parts_in_thousand(finding: &Finding) -> u32 {
    let weight = finding.share.map_or(1.0, |share| share.weight());
    (weight * 1000.0).round() as u32
}

/// Whether all findings are notes about so little traffic that they describe nothing of the rest.
pub(crate) fn are_small(findings: &[Finding]) -> bool {
    findings
        .iter()
        .all(|finding| finding.note && parts_in_thousand(finding) < 500)
}

/// `3 of 126 connections, 2% of the bytes`; `None` for the only connection.
pub(crate) fn words(share: &Share) -> Option<String> {
    if share.of_connections < 2 {
        return None;
    }
    let of = connections(share.of_connections);
    if share.connections == share.of_connections {
        return Some(format!("all {of}"));
    }
    Some(format!(
        "{} of {of}, {} of the bytes, {} of the time",
        share.connections,
        percent(share.bytes),
        percent(share.time)
    ))
}

fn percent(part: f64) -> String {
    match part * 100.0 {
        percent if percent > 0.0 && percent < 1.0 => "less than 1%".to_owned(),
        percent => format!("{percent:.0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Proof, Subject};

    fn finding(id: Id, bytes: f64) -> Finding {
        Finding {
            id,
            proof: Proof::Observed,
            reason: None,
            subject: Subject::Plain,
            note: false,
            share: Some(Share {
                connections: 1,
                of_connections: 126,
                bytes,
                time: 0.0,
            }),
            title: String::new(),
            connection: None,
            hop: None,
            evidence: Vec::new(),
            next: String::new(),
        }
    }

    fn ranked(findings: &[(Id, f64)]) -> Vec<(Id, bool)> {
        let findings = findings.iter().map(|(id, bytes)| finding(*id, *bytes));
        let ranked = rank(findings.collect());
        ranked.iter().map(|f| (f.id, f.note)).collect()
    }

    #[test]
    fn what_most_bytes_suffer_from_comes_first() {
        let found = ranked(&[
            (Id::LossNotMerging, 0.2),
            (Id::ReceiverWindow, 0.7),
            (Id::SenderIdle, 0.9),
        ]);
        let wanted = [
            (Id::ReceiverWindow, false),
            (Id::LossNotMerging, false),
            (Id::SenderIdle, true),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_bystander_is_a_note_and_a_fault_is_none() {
        assert_eq!(
            ranked(&[(Id::LossNotMerging, 0.01), (Id::MergedFramesLost, 0.01)]),
            [(Id::MergedFramesLost, false), (Id::LossNotMerging, true)]
        );
    }

    #[test]
    fn how_much_is_said_where_there_is_more_than_one() {
        let share = finding(Id::SenderIdle, 0.004).share;
        assert_eq!(
            share.as_ref().and_then(words).as_deref(),
            Some("1 of 126 connections, less than 1% of the bytes, 0% of the time")
        );
        let of = |of_connections| Share {
            connections: of_connections,
            of_connections,
            ..share.expect("it has one")
        };
        assert_eq!(words(&of(2)).as_deref(), Some("all 2 connections"));
        assert_eq!(words(&of(1)), None);
    }
}
