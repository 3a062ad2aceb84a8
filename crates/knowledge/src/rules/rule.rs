//! The rule of a rule file.

use std::collections::BTreeMap;

use coalescope_host::model::{Platform, Setting, Snapshot};
use coalescope_host::roles::RoleName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::RulesError;
use crate::finding::{Id, Proof};

/// One rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// Its name: lower case, words joined by `-`. Fixed once published.
    pub id: String,
    /// What it finds, in one line; a template.
    pub title: String,
    /// Who is to blame.
    pub blame: Blame,
    /// Platforms it is about.
    pub platforms: Vec<Platform>,
    /// The interface must have one of these roles; empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleName>,
    /// What it is asked about: each interface, each virtual switch, or the host as a whole.
    #[serde(default)]
    pub each: Each,
    /// CEL: whether it applies. Sees `host`, and `interface` or `switch`.
    pub when: String,
    /// How sure a finding from settings alone can be.
    #[serde(default = "suspected")]
    pub proof: Proof,
    /// Why, in about two sentences.
    pub mechanism: String,
    /// What to quote; templates.
    pub evidence: Vec<String>,
    /// The `coalescope ab` line that would settle it; a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// How to mend it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<RemedyRule>,
    /// What the remedy costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Findings of `trace` that this would explain: with one of them it is observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explains: Vec<Id>,
    /// The kernel's reasons for dropping merged frames there, as `watch` has them (`NETFILTER_DROP`). Empty: any but those
    /// of a packet filter or of tc.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped_as: Vec<String>,
    /// More general rules that say nothing more where this one applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<String>,
    /// Where it is from: what was read.
    pub sources: Vec<String>,
    /// A host that fires it, and one that almost does: `rules test` wants them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixtures: Option<Fixtures>,
}

fn suspected() -> Proof {
    Proof::Suspected
}

impl Rule {
    /// The rule as it would be written in a rule file.
    ///
    /// # Errors
    /// If it cannot be put into YAML.
    pub fn yaml(&self) -> Result<String, RulesError> {
        serde_saphyr::to_string(&[self]).map_err(|error| RulesError::Malformed {
            file: self.id.clone(),
            error: error.to_string(),
        })
    }
}

/// Who is to blame.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    /// Merging, or a relative of it, harms.
    Harms,
    /// A remedy that people apply, and that harms.
    BadRemedy,
    /// Merging is off, or is kept from working, and should be on.
    Missed,
    /// It depends on what settings do not show: most such hosts are well, and a test tells.
    Ask,
    /// Often blamed, wrongly: to be left alone.
    Innocent,
}

impl Blame {
    /// Its name, as printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Harms => "harms",
            Self::BadRemedy => "bad-remedy",
            Self::Missed => "missed",
            Self::Ask => "ask",
            Self::Innocent => "innocent",
        }
    }
}

impl Blame {
    /// Whether a setting is wrong, rather than missed, to be tested or to be left alone.
    #[must_use]
    pub fn is_wrong(self) -> bool {
        matches!(self, Self::Harms | Self::BadRemedy)
    }
}

/// What a rule is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// Each interface.
    #[default]
    Interface,
    /// Each virtual switch of Hyper-V or ESXi.
    Switch,
    /// The host.
    Host,
}

/// A way to mend it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, untagged)]
pub enum RemedyRule {
    /// Switches of the interface to set: the recipes know the commands, how to make it last and how
    /// to undo it.
    Set {
        /// Feature, by the name in the snapshot, and what to set it to.
        set: BTreeMap<String, bool>,
    },
    /// A command of its own; a template.
    Command {
        /// What it is for: `linux`, `guest`, `hypervisor`.
        platform: String,
        /// Now, for good, or back.
        kind: crate::rules::RemedyKind,
        /// The command.
        command: String,
        /// The same as settings, separated by spaces, where `coalescope fix` can make them
        /// (`eth0:gro=off`); a template.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<String>,
    },
}

/// Data that shows that a rule works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixtures {
    /// A snapshot that fires it.
    pub fires: Snapshot,
    /// One that almost does: what tells them apart is the point of the rule.
    pub almost: Snapshot,
}

/// A setting as a value for CEL.
pub(super) fn plain(setting: &Setting) -> serde_json::Value {
    match setting {
        Setting::Flag(flag) => (*flag).into(),
        Setting::Number(number) => (*number).into(),
        Setting::Text(text) => text.as_str().into(),
    }
}
