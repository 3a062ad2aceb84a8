//! The result of evaluating rules for a host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::Blame;
use crate::experiment::{Experiment, SetTo};
use crate::finding::{Id, Proof};

/// What rules say of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checked {
    /// What is wrong, gravest first.
    pub findings: Vec<HostFinding>,
    /// What is often blamed, and is right here.
    pub left_alone: Vec<LeftAlone>,
    /// Whether there is a rule about the host's platform, if that is known.
    pub judged: bool,
    /// Rules that could not be asked.
    pub errors: Vec<RuleError>,
    /// What was not read, and without which little can be said: "offloads (ethtool -k)".
    pub gaps: Vec<String>,
    /// Something among the gaps decides what an interface does or is set to: that nothing was found
    /// means nothing.
    pub undecided: bool,
}

/// A finding about a host's settings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HostFinding {
    /// The rule's id.
    pub id: String,
    /// How sure.
    pub proof: Proof,
    /// Who is to blame.
    pub blame: Blame,
    /// The host.
    pub host: String,
    /// The interface, if it is about one.
    pub interface: Option<String>,
    /// The virtual switch, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// In one line.
    pub title: String,
    /// Why it harms.
    pub mechanism: String,
    /// What shows it here.
    pub evidence: Vec<HostEvidence>,
    /// The command that would settle it.
    #[schemars(with = "Option<String>")]
    pub experiment: Option<Experiment>,
    /// How to mend it.
    pub remedies: Vec<Remedy>,
    /// What that costs.
    pub cost: Option<String>,
    /// Where the rule is from.
    pub sources: Vec<String>,
    /// Findings of `trace` that it would explain.
    #[serde(skip)]
    pub explains: Vec<Id>,
    /// Reasons for which the kernel drops what it is about; empty: not known.
    #[serde(skip)]
    pub dropped_as: Vec<String>,
    /// Settings among its remedies that hold already: what makes it last makes these last as well.
    #[serde(skip)]
    pub holding: Vec<SetTo>,
}

impl HostFinding {
    /// The interface or switch that the finding is about; `None` if that is the host itself.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        self.interface.as_deref().or(self.switch.as_deref())
    }

    /// Commands that mend it now, each with its platform.
    pub fn now(&self) -> impl Iterator<Item = String> {
        let now = self.remedies.iter();
        let now = now.filter(|one| one.kind == RemedyKind::Runtime);
        now.map(|one| format!("{}: {}", one.platform, one.command))
    }
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostEvidence {
    /// In words, with the values.
    pub text: String,
}

/// A way to mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remedy {
    /// What it is for: a platform, or the program that keeps the settings there.
    pub platform: String,
    /// Now, for good, or back.
    pub kind: RemedyKind,
    /// The command, or the file and its lines.
    pub command: String,
    /// The same as settings, as `coalescope ab` and `fix` take them: `eth0:gro=off`. Empty where they
    /// cannot make them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub settings: Vec<SetTo>,
}

/// When a remedy is for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RemedyKind {
    /// Until the next reboot.
    Runtime,
    /// For good.
    Persistent,
    /// Takes it back.
    Undo,
}

/// Something that is right as it is, though often blamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftAlone {
    /// The rule's id.
    pub id: String,
    /// The host.
    pub host: String,
    /// The interface, if it is about one.
    pub interface: Option<String>,
    /// In one line.
    pub title: String,
    /// Why it is innocent.
    pub why: String,
}

/// A rule that could not be asked, or not be put into words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleError {
    /// The rule's id.
    pub rule: String,
    /// The host.
    pub host: String,
    /// The interface, if it was asked about one.
    pub interface: Option<String>,
    /// What went wrong.
    pub error: String,
}
