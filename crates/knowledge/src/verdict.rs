//! The diagnosis: a verdict in words, and the findings behind it.

mod losses;
mod unify;

use std::collections::BTreeSet;

use coalescope_capture::facts::Trace;
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::{Comparison, compare};
use crate::datagrams;
use crate::excess::Excess;
use crate::finding::{Finding, Id, Share, Subject};
use crate::hints::{doubted, hints};
use crate::impact::{Points, impact};
use crate::limits::ConnectionLimit;
use crate::merging::{accusations, unjudged};
use crate::others::{healthy, others};
use crate::overview::Overview;
use crate::ranking;
use crate::same::Same;
use crate::traffic::Traffic;
use crate::unarrived::unarrived;
use crate::unlinked::unlinked;
use crate::unseen::unseen;
use crate::untimed::untimed;
use crate::words::counted;
use losses::{hops_show_losses, losses_of_hops, lost_for_room, room_explains};
use unify::unify;

/// What can be said about merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Merging {
    /// Merged frames are lost or refused.
    Harms,
    /// Frames are merged, and do no harm.
    Innocent,
    /// No frame was merged at any of these points.
    NotSeen,
    /// It cannot be told from this.
    Unclear,
}

/// The first lines of a report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Verdict {
    /// About merging.
    pub merging: Merging,
    /// What the first finding comes to, in a line: how fast the connection was that shows it best, or how long it took to
    /// connect, and what held it back. Null where nothing is wrong, or nobody knows how fast it was.
    pub impact: Option<String>,
    /// In one to three sentences.
    pub text: String,
}

/// All that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// First lines.
    pub verdict: Verdict,
    /// Findings: what most bytes and seconds suffer from first, notes last; none if there was nothing to judge.
    pub findings: Vec<Finding>,
    /// What limits each connection with enough data to tell, by point and connection.
    pub limits: Vec<ConnectionLimit>,
}

/// Judges a trace.
#[must_use]
pub fn judge(trace: &Trace) -> Diagnosis {
    judge_all(trace, &mut Overview::of(trace))
}

fn judge_all(trace: &Trace, overview: &mut Overview<'_>) -> Diagnosis {
    let same = Same::of(trace);
    let accusations = accusations(trace, overview, &same);
    let mut findings = accusations.findings;
    overview.believe_hops(trace);
    unify(trace, &mut overview.limits, &accusations.explained, &same);
    let mut explained = accusations.explained;
    if findings.is_empty() {
        findings = hints(trace, overview);
        explained.extend(doubted(overview));
    }
    findings.extend(datagrams::lost(trace));
    for finding in &mut findings {
        finding.share = share_of(finding, trace, overview, &explained);
    }
    let losses = losses_of_hops(trace, &same);
    let roomless = lost_for_room(trace, overview, &same);
    overview.settle(|limit| {
        hops_show_losses(trace, &same, &losses, limit)
            || room_explains(trace, &same, &roomless, limit)
    });
    let others = others(trace, overview, &same, &findings);
    findings.extend(others);
    let mut findings = ranking::rank(findings);
    let is_sound = findings.iter().all(|finding| finding.note);
    let undecided = unlinked(trace, overview)
        .or_else(|| untimed(trace, overview))
        .or_else(|| unseen(trace, overview))
        .or_else(|| unarrived(trace, overview.unarrived()));
    let undecided = undecided.filter(|_| is_sound);
    if undecided.is_some() {
        findings.splice(0..0, undecided);
    } else if ranking::are_small(&findings) {
        let healthy = healthy(overview, &findings);
        findings.splice(0..0, healthy);
    }
    Diagnosis {
        verdict: Verdict {
            impact: impact(trace, overview, &findings, Points::Path),
            ..verdict(trace, overview, &findings)
        },
        findings,
        limits: std::mem::take(&mut overview.limits),
    }
}

/// How much of the traffic at its point an accusation explains; for a hint, the share of its connection.
fn share_of(
    finding: &Finding,
    trace: &Trace,
    overview: &Overview<'_>,
    explained: &[(String, u64)],
) -> Option<Share> {
    let about = finding.connection.as_ref()?;
    let point = trace
        .points
        .iter()
        .find(|point| point.name == about.point)?;
    let explained = explained.iter().filter(|(name, _)| *name == about.point);
    let ids: BTreeSet<u64> = explained.map(|(_, id)| *id).chain([about.id]).collect();
    let mut suffers = Traffic::default();
    let connections = ids.into_iter().filter_map(|id| point.connections.get(id));
    connections.for_each(|connection| suffers += Traffic::of(&connection));
    Some(ranking::share(
        suffers,
        overview.traffic_at(trace, &about.point),
    ))
}

/// Judges a trace of two transfers, and the difference between them. `None` if either shows no data.
#[must_use]
pub fn judge_pair(trace: &Trace) -> Option<(Comparison, Diagnosis)> {
    let (comparison, mut findings) = compare(trace)?;
    let mut overview = Overview::of(trace);
    let mut diagnosis = judge_all(trace, &mut overview);
    diagnosis
        .findings
        .retain(|finding| findings.is_empty() || finding.id != Id::Healthy);
    findings.append(&mut diagnosis.findings);
    diagnosis.verdict = Verdict {
        impact: impact(trace, &overview, &findings, Points::Transfers),
        ..verdict(trace, &overview, &findings)
    };
    let is_said = findings.iter().any(|finding| finding.id == Id::NoMerging);
    if let Some(difference) = comparison.difference.as_ref().filter(|_| !is_said) {
        let text = &mut diagnosis.verdict.text;
        text.push(' ');
        text.push_str(&sentence(difference));
    }
    diagnosis.findings = findings;
    Some((comparison, diagnosis))
}

fn verdict(trace: &Trace, overview: &Overview<'_>, findings: &[Finding]) -> Verdict {
    let merging = merging(trace, overview, findings);
    let Some(first) = findings.first() else {
        return without_findings(overview);
    };
    let about = match merging {
        Merging::Harms => String::new(),
        Merging::Innocent => innocent(overview, findings),
        Merging::NotSeen => "No frame was merged at these points. ".to_owned(),
        Merging::Unclear => unclear(overview, findings),
    };
    let why = first.evidence.first();
    let why = why
        .map(|evidence| sentence(&evidence.text))
        .unwrap_or_default();
    let share = first.share.as_ref().and_then(ranking::words);
    let share = share
        .map(|words| format!(" This concerns {words}."))
        .unwrap_or_default();
    let text = format!("{about}{} {why}{share}", sentence(&headline(first)));
    Verdict {
        merging,
        impact: None,
        text: text.trim_end().to_owned(),
    }
}

/// Whether a finding by itself has nothing to do with merging.
fn acquits(finding: &Finding) -> bool {
    finding.id == Id::LossNotMerging && !is_open(finding.subject)
}

/// Whether merging may have a part in a loss.
fn is_open(subject: Subject) -> bool {
    matches!(subject, Subject::DoubtedLoss | Subject::MixedLoss)
}

/// The verdict without a TCP connection: what hops show of UDP, if anything.
fn without_findings(overview: &Overview<'_>) -> Verdict {
    const NO_TCP: &str = "no TCP connection carries data here.";
    let (merging, text) = match overview.merged_datagrams() {
        None => (
            Merging::Unclear,
            format!("There is nothing to judge: {NO_TCP}"),
        ),
        Some(0) => (
            Merging::NotSeen,
            format!("No UDP datagram is seen to be merged at these points, and {NO_TCP}"),
        ),
        Some(merged) => (
            Merging::Innocent,
            format!("{}; {NO_TCP}", harmless(merged, "UDP datagram")),
        ),
    };
    let unanswered = overview.unanswered("");
    let unanswered = unanswered.map_or(String::new(), |words| format!(" {words}."));
    Verdict {
        merging,
        impact: None,
        text: text + &unanswered,
    }
}

/// The title; a note is marked as one.
fn headline(first: &Finding) -> String {
    if first.note && first.id != Id::Healthy {
        format!("nothing is wrong: {}", first.title)
    } else {
        first.title.clone()
    }
}

fn merging(trace: &Trace, overview: &Overview<'_>, findings: &[Finding]) -> Merging {
    let harms = [
        Id::MergedFramesLost,
        Id::MergedFramesRejected,
        Id::MergedDatagramsLost,
    ];
    if harms.into_iter().any(|id| found(findings, id)) {
        Merging::Harms
    } else if is_doubtful(findings) || is_in_doubt(trace, overview) {
        Merging::Unclear
    } else if all_merged(overview) > 0 {
        if overview.passes_merged() {
            Merging::Innocent
        } else {
            Merging::Unclear
        }
    } else if overview.may_hide_merging().is_some() {
        Merging::Unclear
    } else {
        Merging::NotSeen
    }
}

/// Frames and datagrams that were merged.
fn all_merged(overview: &Overview<'_>) -> u64 {
    overview.merged_frames() + overview.merged_datagrams().unwrap_or(0)
}

fn found(findings: &[Finding], id: Id) -> bool {
    let mut graver = findings.iter().filter(|finding| !finding.note);
    graver.any(|finding| finding.id == id)
}

fn is_doubtful(findings: &[Finding]) -> bool {
    found(findings, Id::NotEnoughEvidence) || found(findings, Id::NoMerging)
}

/// Whether merged frames are lost more often than single ones, and their length does not explain all of it: on a hop, or behind
/// a point where no hop shows what became of them.
fn is_in_doubt(trace: &Trace, overview: &Overview<'_>) -> bool {
    let mut hops = overview.hops().iter();
    let mut on_hops = || hops.any(|hop| Excess::on_hop(hop).is_doubt());
    let mut points = trace.points.iter().enumerate();
    on_hops()
        || points.any(|(i, point)| {
            let mut unjudged = unjudged(trace, point, overview.suspects(i));
            unjudged.any(|(connection, name)| {
                Excess::behind(point, connection.direction(name)).is_doubt()
            })
        })
}

/// Whether frames were merged may be unknown even if nothing points to harm.
fn unclear(overview: &Overview<'_>, findings: &[Finding]) -> String {
    let merged = all_merged(overview);
    if merged > 0 && !is_doubtful(findings) && !overview.passes_merged() {
        let frames = counted(merged, "merged frame");
        return format!("None of {frames} is known to have arrived. ");
    }
    match overview.may_hide_merging() {
        Some(longest) if !is_doubtful(findings) => format!(
            "Frames of up to {longest} bytes are longer than packets on wires: merged, not cut yet, or never \
             on a wire; these captures do not show which. "
        ),
        _ if findings.first().is_some_and(acquits) => {
            "Not enough evidence to say whether merging is to blame for the rest. ".to_owned()
        }
        _ => "Not enough evidence to say whether merging is to blame. ".to_owned(),
    }
}

fn innocent(overview: &Overview<'_>, findings: &[Finding]) -> String {
    let merged = all_merged(overview);
    // Here the finding is a note, or the verdict would be another one.
    let is_doubtful = findings
        .iter()
        .any(|finding| finding.id == Id::NotEnoughEvidence);
    if is_doubtful {
        let (frames, _) = were_merged(merged, "frame");
        return format!("Next to nothing points to merging: {frames}. ");
    }
    format!("{}. ", harmless(merged, "frame"))
}

/// `Merging is innocent here: 2 frames were merged and do no harm`
fn harmless(merged: u64, what: &str) -> String {
    let (frames, they_do) = were_merged(merged, what);
    format!("Merging is innocent here: {frames} and {they_do} no harm")
}

/// `2 frames were merged`, and what they do.
fn were_merged(merged: u64, what: &str) -> (String, &'static str) {
    let (were, they_do) = match merged {
        1 => ("was", "does"),
        _ => ("were", "do"),
    };
    (format!("{} {were} merged", counted(merged, what)), they_do)
}

/// Makes a sentence with a capital and a full stop; names of points at the beginning of a title keep their letters.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|c| c.to_uppercase().to_string())
        .unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests;
