//! A switch of an interface, and other settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An offload or other switch of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Feature {
    /// Whether it is on.
    pub active: bool,
    /// Whether it was asked for; another feature or the driver may refuse (`[requested on]`).
    /// `None` where the platform does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<bool>,
    /// Whether nobody can change it (`[fixed]`). `None` where the platform does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<bool>,
}

/// A value of whatever kind it has: on or off, a number, or text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Setting {
    /// On or off, true or false.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// Anything else, as it was printed.
    Text(String),
}
