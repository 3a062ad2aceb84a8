//! The meanings of a trace's findings, as data: the same words and remedies as for a host's settings.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::RulesError;
use super::findings::Remedy;
use super::rule::Blame;
use super::template::one_line;
use super::yaml::parse;
use crate::experiment::Experiment;
use crate::finding::Id;

const FILE: &str = "rules/trace.yaml";
const TEXT: &str = include_str!("../../rules/trace.yaml");

/// What a finding of a trace means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meaning {
    /// Which finding.
    #[serde(skip_serializing)]
    pub id: Id,
    /// Who is to blame.
    pub blame: Blame,
    /// Why it harms, or why it does not.
    pub mechanism: String,
    /// The command that would settle it.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub experiment: Option<Experiment>,
    /// How to mend it.
    #[serde(default)]
    pub remedies: Vec<Remedy>,
    /// What that costs.
    #[serde(default)]
    pub cost: Option<String>,
    /// Where it is from.
    pub sources: Vec<String>,
}

static MEANINGS: LazyLock<Vec<Meaning>> = LazyLock::new(|| meanings().unwrap_or_default());

/// The meaning of a finding; `None` if it needs no words (`healthy`).
#[must_use]
pub fn meaning(id: Id) -> Option<&'static Meaning> {
    MEANINGS.iter().find(|meaning| meaning.id == id)
}

/// All meanings.
///
/// # Errors
/// Never in a released program: a test loads them.
pub fn meanings() -> Result<Vec<Meaning>, RulesError> {
    let mut all: Vec<Meaning> = parse(FILE, TEXT)?;
    for meaning in &mut all {
        meaning.mechanism = one_line(&meaning.mechanism);
    }
    Ok(all)
}
