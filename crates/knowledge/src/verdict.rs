//! The diagnosis: a verdict in words, and the findings behind it.

use coalescope_capture::facts::Trace;
use serde::Serialize;

use crate::finding::Finding;
use crate::limits::ConnectionLimit;

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
    /// Findings, gravest first; never empty when anything was read.
    pub findings: Vec<Finding>,
    /// What limits each connection with enough data to tell, by point and connection.
    pub limits: Vec<ConnectionLimit>,
}

/// Judges a trace.
#[must_use]
pub fn judge(trace: &Trace) -> Diagnosis {
    let _ = trace;
    todo!()
}
