//! Factors and their levels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A factor: a setting, or the place from which the command is run, with its levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Factor {
    /// Its name, as in `gro` or `eth0:mtu`; of no other factor of the design.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub kind: FactorKind,
    /// At least two different levels. The first is the reference (what is now): each other one is
    /// compared with it, and not with the others.
    pub levels: Vec<String>,
}

/// What a factor is; it decides the words ("with gro=off", "from ns/vm").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactorKind {
    /// A setting that is changed.
    #[default]
    Setting,
    /// Where the command is run (`--from`); nothing is changed.
    Vantage,
}

impl Factor {
    /// A setting with its levels, the reference first.
    #[must_use]
    pub fn setting(name: &str, levels: &[&str]) -> Self {
        Self::new(name, FactorKind::Setting, levels)
    }

    /// A choice of vantages, the reference first.
    #[must_use]
    pub fn vantage(name: &str, levels: &[&str]) -> Self {
        Self::new(name, FactorKind::Vantage, levels)
    }

    fn new(name: &str, kind: FactorKind, levels: &[&str]) -> Self {
        let levels = levels.iter().map(ToString::to_string).collect();
        Self {
            name: name.to_owned(),
            kind,
            levels,
        }
    }
}
