//! The diagnosis: a verdict in words, and the findings behind it.

use std::collections::HashMap;

use coalescope_capture::facts::Trace;
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::{Comparison, compare};
use crate::finding::{Finding, Id};
use crate::hints::hints;
use crate::limits::{ConnectionLimit, Limit};
use crate::merging::accusations;
use crate::others::{healthy, others};
use crate::overview::Overview;
use crate::same::{Group, Same};

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
    /// In one to three sentences.
    pub text: String,
}

/// All that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// First lines.
    pub verdict: Verdict,
    /// Findings, gravest first; none if there was nothing to judge.
    pub findings: Vec<Finding>,
    /// What limits each connection with enough data to tell, by point and connection.
    pub limits: Vec<ConnectionLimit>,
}

/// Judges a trace.
#[must_use]
pub fn judge(trace: &Trace) -> Diagnosis {
    judge_all(trace, &mut Overview::of(trace))
}

fn judge_all(trace: &Trace, overview: &mut Overview) -> Diagnosis {
    let same = Same::of(trace);
    let accusations = accusations(trace, overview, &same);
    let mut findings = accusations.findings;
    unify(&mut overview.limits, &accusations.explained, &same);
    if findings.is_empty() {
        findings = hints(trace, overview);
    }
    findings.extend(others(trace, overview, &same));
    if findings.is_empty() {
        findings.extend(healthy(overview));
    }
    Diagnosis {
        verdict: verdict(overview, &findings),
        findings,
        limits: std::mem::take(&mut overview.limits),
    }
}

/// Judges a trace of two transfers, and what sets them apart. `None` if either shows no data.
#[must_use]
pub fn judge_pair(trace: &Trace) -> Option<(Comparison, Diagnosis)> {
    let (comparison, mut findings) = compare(trace)?;
    let mut overview = Overview::of(trace);
    let mut diagnosis = judge_all(trace, &mut overview);
    findings.append(&mut diagnosis.findings);
    diagnosis.verdict = verdict(&overview, &findings);
    let is_said = findings.iter().any(|finding| finding.id == Id::NoMerging);
    if let Some(difference) = comparison.difference.as_ref().filter(|_| !is_said) {
        let text = &mut diagnosis.verdict.text;
        text.push(' ');
        text.push_str(&sentence(difference));
    }
    diagnosis.findings = findings;
    Some((comparison, diagnosis))
}

/// Gives each connection one limit, whatever its points show of it: the gravest.
fn unify(limits: &mut [ConnectionLimit], explained: &[(String, u64)], same: &Same<'_>) {
    let mut gravest: HashMap<Group<'_>, Limit> = explained
        .iter()
        .map(|(point, id)| (same.group(point, *id), Limit::MergedLoss))
        .collect();
    for limit in &*limits {
        let group = same.group(&limit.point, limit.connection);
        if matches!(group, Group::Of(_)) {
            let known = gravest.entry(group).or_insert(limit.limit);
            *known = (*known).min(limit.limit);
        }
    }
    if gravest.is_empty() {
        return;
    }
    let unified = limits.iter().map(|limit| {
        let group = same.group(&limit.point, limit.connection);
        let gravest = gravest.get(&group).copied();
        gravest.map_or(limit.limit, |gravest| gravest.min(limit.limit))
    });
    let unified: Vec<Limit> = unified.collect();
    for (limit, unified) in limits.iter_mut().zip(unified) {
        limit.limit = unified;
    }
}

fn verdict(overview: &Overview, findings: &[Finding]) -> Verdict {
    let merging = merging(overview, findings);
    let Some(first) = findings.first() else {
        let text = "There is nothing to judge: no TCP connection carries data here.".to_owned();
        return Verdict {
            merging: Merging::Unclear,
            text,
        };
    };
    let about = match merging {
        Merging::Harms => String::new(),
        Merging::Innocent => innocent(overview),
        Merging::NotSeen => "No frame was merged at these points. ".to_owned(),
        Merging::Unclear => "Not enough evidence to say whether merging is to blame. ".to_owned(),
    };
    let why = first
        .evidence
        .first()
        .map(|evidence| sentence(&evidence.text))
        .unwrap_or_default();
    let text = format!("{about}{} {why}", sentence(&first.title));
    Verdict {
        merging,
        text: text.trim_end().to_owned(),
    }
}

fn merging(overview: &Overview, findings: &[Finding]) -> Merging {
    let found = |id| findings.iter().any(|finding| finding.id == id);
    if found(Id::MergedFramesLost) || found(Id::MergedFramesRejected) {
        Merging::Harms
    } else if found(Id::NotEnoughEvidence) || found(Id::NoMerging) {
        Merging::Unclear
    } else if overview.merged_frames() > 0 {
        Merging::Innocent
    } else if overview.may_hide_merging() {
        Merging::Unclear
    } else {
        Merging::NotSeen
    }
}

fn innocent(overview: &Overview) -> String {
    format!(
        "Merging is innocent here: {} frames were merged and do no harm. ",
        overview.merged_frames()
    )
}

/// With a capital and a full stop; names of points, which begin many a title, keep their letters.
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
