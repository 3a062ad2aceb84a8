//! How a verdict compares with the label.

use coalescope_knowledge::{Diagnosis, Merging};

use crate::case::AGAIN;
use crate::label::{FEW, Label};

/// How good a verdict was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// The right cause and place.
    Right,
    /// "Not enough evidence", where little was lost.
    TooLittle,
    /// The right cause, at another place or at none.
    WrongHop,
    /// "Not enough evidence" where there was enough.
    NotEnough,
    /// Another cause.
    Wrong,
    /// A loss with a finer cause that is not the one.
    WrongReason,
    /// Merging accused where it harms nothing.
    FalselyAccused,
}

impl Mark {
    /// In the order of the table's columns.
    pub const ALL: [Self; 7] = [
        Self::Right,
        Self::TooLittle,
        Self::WrongHop,
        Self::NotEnough,
        Self::Wrong,
        Self::WrongReason,
        Self::FalselyAccused,
    ];

    /// Whether the verdict is acceptable.
    #[must_use]
    pub fn is_right(self) -> bool {
        matches!(self, Self::Right | Self::TooLittle)
    }

    /// In a word or two.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::TooLittle => "too little",
            Self::WrongHop => "wrong hop",
            Self::NotEnough => "not enough",
            Self::Wrong => "wrong",
            Self::WrongReason => "wrong reason",
            Self::FalselyAccused => "accused",
        }
    }
}

/// Findings that accuse merging, or an element that cannot carry merged frames.
const ACCUSING: [&str; 4] = [
    "merged-frames-lost",
    "merged-frames-rejected",
    "merged-datagrams-lost",
    "no-merging",
];

/// The mark of a diagnosis.
pub(crate) fn mark(label: &Label, diagnosis: &Diagnosis) -> Mark {
    let ids = || diagnosis.findings.iter().map(|finding| finding.id.name());
    let accuses =
        ids().any(|id| ACCUSING.contains(&id)) || diagnosis.verdict.merging == Merging::Harms;
    if label.guilt.is_none() && !label.costs && accuses {
        return Mark::FalselyAccused;
    }
    let denies = diagnosis.verdict.merging == Merging::NotSeen;
    if denies && label.merged >= FEW {
        return Mark::Wrong;
    }
    let main = ids().next().unwrap_or("none");
    match main {
        "not-enough-evidence" if label.little => Mark::TooLittle,
        "not-enough-evidence" => Mark::NotEnough,
        main if !label.accepted.contains(&main) => Mark::Wrong,
        _ if is_elsewhere(label, diagnosis) => Mark::WrongHop,
        _ if is_otherwise(label, diagnosis) => Mark::WrongReason,
        _ => Mark::Right,
    }
}

/// Whether a loss is given a reason that is not true.
fn is_otherwise(label: &Label, diagnosis: &Diagnosis) -> bool {
    let reason = diagnosis.findings.first().and_then(|first| first.reason);
    let known = label.reasons.as_ref().zip(reason);
    known.is_some_and(|(known, reason)| !known.contains(&reason))
}

/// The right cause with another hop, or without one that the captures show.
fn is_elsewhere(label: &Label, diagnosis: &Diagnosis) -> bool {
    let wanted = label.guilt.as_ref().and_then(|guilt| guilt.hop.as_ref());
    let Some((from, to)) = wanted else {
        return false;
    };
    let main = &diagnosis.findings[0];
    // A message of a router names the router, wherever it was captured.
    if main.id.name() == "merged-frames-rejected" {
        return false;
    }
    let hop = main.hop.as_ref();
    let is = |name: &str, wanted: &str| name.trim_end_matches(AGAIN) == wanted;
    !hop.is_some_and(|hop| is(&hop.from, from) && is(&hop.to, to))
}
