//! Rules over a host's settings: data (YAML), with conditions in CEL over facts.
//!
//! A rule defines when a setting harms in a role, when it is missed, when it is innocent, or when a remedy was a bad
//! one; why; how sure that is; how to prove it, mend it and take it back. No incident is hard-coded: see
//! `rules/*.yaml`, and docs/rules.md for the language.

mod aside;
mod asked;
mod check;
mod condition;
mod error;
mod facts;
mod findings;
mod fixtures;
mod gaps;
mod indexes;
mod load;
mod meaning;
mod names;
mod narrow;
pub(crate) mod outside;
mod recipes;
mod rule;
mod shared;
#[cfg(test)]
mod steps;
mod subject;
mod template;
mod version;
mod yaml;

pub use aside::{Aside, Baseline, FindingRef, Ignore};
pub use check::check;
pub use error::RulesError;
pub use findings::{Checked, HostEvidence, HostFinding, LeftAlone, Remedy, RemedyKind, RuleError};
pub use fixtures::{FixtureFailure, test};
pub use load::Rules;
pub use meaning::{Meaning, meaning, meanings};
pub use rule::{Blame, Each, Fixtures, RemedyRule, Rule};
