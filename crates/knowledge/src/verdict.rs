//! The diagnosis: a verdict in words, and the findings behind it.

use std::collections::HashMap;

use coalescope_capture::facts::{Direction, Trace};
use serde::Serialize;

use crate::compare::{Comparison, compare};
use crate::finding::{Finding, Id};
use crate::hints::hints;
use crate::limits::{self, ConnectionLimit, Limit};
use crate::merging::accusations;
use crate::others::{healthy, others};
use crate::same::{Group, Same};
use crate::thresholds::LARGEST_PACKET;

/// What can be said about merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// About merging.
    pub merging: Merging,
    /// In one to three sentences.
    pub text: String,
}

/// All that was found.
#[derive(Clone, Debug, Serialize)]
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
    let same = Same::of(trace);
    let accusations = accusations(trace, &same);
    let mut findings = accusations.findings;
    let limits = unify(limits::all(trace), &accusations.explained, &same);
    if findings.is_empty() {
        findings = hints(trace);
    }
    findings.extend(others(trace, &limits, &same));
    if findings.is_empty() {
        findings.extend(healthy(trace, &limits));
    }
    Diagnosis {
        verdict: verdict(trace, &findings),
        findings,
        limits,
    }
}

/// Judges a trace of two transfers, and what sets them apart. `None` if either shows no data.
#[must_use]
pub fn judge_pair(trace: &Trace) -> Option<(Comparison, Diagnosis)> {
    let (comparison, mut findings) = compare(trace)?;
    let mut diagnosis = judge(trace);
    findings.append(&mut diagnosis.findings);
    diagnosis.verdict = verdict(trace, &findings);
    diagnosis.findings = findings;
    Some((comparison, diagnosis))
}

/// Gives each connection one limit, whatever its points show of it: the gravest.
fn unify(
    mut limits: Vec<ConnectionLimit>,
    explained: &[(String, u64)],
    same: &Same<'_>,
) -> Vec<ConnectionLimit> {
    let mut gravest: HashMap<Group<'_>, Limit> = explained
        .iter()
        .map(|(point, id)| (same.group(point, *id), Limit::MergedLoss))
        .collect();
    for limit in &limits {
        let group = same.group(&limit.point, limit.connection);
        if matches!(group, Group::Of(_)) {
            let known = gravest.entry(group).or_insert(limit.limit);
            *known = (*known).min(limit.limit);
        }
    }
    if gravest.is_empty() {
        return limits;
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
    limits
}

fn verdict(trace: &Trace, findings: &[Finding]) -> Verdict {
    let merging = merging(trace, findings);
    let Some(first) = findings.first() else {
        let text = "There is nothing to judge: no TCP connection carries data here.".to_owned();
        return Verdict {
            merging: Merging::Unclear,
            text,
        };
    };
    let about = match merging {
        Merging::Harms => String::new(),
        Merging::Innocent => innocent(trace),
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

fn merging(trace: &Trace, findings: &[Finding]) -> Merging {
    let found = |id| findings.iter().any(|finding| finding.id == id);
    if found(Id::MergedFramesLost) || found(Id::MergedFramesRejected) {
        Merging::Harms
    } else if found(Id::NotEnoughEvidence) || found(Id::NoMerging) {
        Merging::Unclear
    } else if merged_frames(trace) > 0 {
        Merging::Innocent
    } else if directions(trace).any(may_hide_merging) {
        Merging::Unclear
    } else {
        Merging::NotSeen
    }
}

fn directions(trace: &Trace) -> impl Iterator<Item = &Direction> {
    let connections = trace.points.iter().flat_map(|point| &point.connections);
    connections.flat_map(|connection| [&connection.to_client, &connection.to_server])
}

/// Frames larger than any wire packet, of a segment size that the capture does not tell.
fn may_hide_merging(direction: &Direction) -> bool {
    direction.segment_size_bytes.is_none()
        && direction.payload_bytes > LARGEST_PACKET * direction.data_frames.max(1)
}

/// Merged frames at the point that has most of them.
fn merged_frames(trace: &Trace) -> u64 {
    let of_point = |point: &coalescope_capture::facts::Point| {
        let both = |c: &coalescope_capture::facts::Connection| {
            c.to_client.merged_frames + c.to_server.merged_frames
        };
        point.connections.iter().map(both).sum()
    };
    trace.points.iter().map(of_point).max().unwrap_or(0)
}

fn innocent(trace: &Trace) -> String {
    format!(
        "Merging is innocent here: {} frames were merged and do no harm. ",
        merged_frames(trace)
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
