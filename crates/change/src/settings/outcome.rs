//! What came of a change.

use super::{Item, Setting};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// One thing that came of a change. What is asked for has exactly one of the first five; the others
/// are what went with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It was changed, and is as asked for.
    Changed {
        /// What.
        item: Item,
        /// As it was.
        from: String,
        /// As it is.
        to: String,
    },
    /// It was so already.
    Already {
        /// What.
        item: Item,
        /// As it is.
        is: String,
    },
    /// Nobody can change it: the driver does not have it, or does not let go of it.
    Fixed {
        /// What.
        item: Item,
        /// As it stays.
        stays: String,
    },
    /// The kernel or the driver said no.
    Refused {
        /// What.
        item: Item,
        /// As it is.
        stays: String,
        /// The kernel's words.
        words: String,
    },
    /// It was accepted, and is not active, or not with that value.
    Ignored {
        /// What.
        item: Item,
        /// As it is.
        is: String,
        /// As was asked for.
        asked: String,
    },
    /// Not asked for, and changed with it.
    Cascaded {
        /// The interface: the one that was changed, or one above or beneath it. `None` for a sysctl.
        interface: Option<String>,
        /// What.
        item: Item,
        /// As it was.
        from: String,
        /// As it is.
        to: String,
    },
    /// The link went down with the change.
    LinkWentDown {
        /// The interface.
        interface: String,
        /// It had its carrier again right after.
        is_back: bool,
    },
}

/// A change and all that came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What was asked for.
    pub setting: Setting,
    /// What came of it.
    pub outcomes: Vec<Outcome>,
}

impl Change {
    /// Whether everything that was asked for is as it was asked for.
    #[must_use]
    pub fn took_effect(&self) -> bool {
        let fails = |outcome: &Outcome| {
            matches!(
                outcome,
                Outcome::Fixed { .. } | Outcome::Refused { .. } | Outcome::Ignored { .. }
            )
        };
        !self.outcomes.iter().any(fails)
    }
}

impl Display for Change {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.setting)?;
        for outcome in &self.outcomes {
            write!(to, "\n  {outcome}")?;
        }
        Ok(())
    }
}

impl Display for Outcome {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { item, from, to: is } => write!(to, "{item}: {from} -> {is}"),
            Self::Already { item, is } => write!(to, "{item}: {is} already"),
            Self::Fixed { item, stays } => {
                write!(to, "{item}: stays {stays}, cannot be changed here")
            }
            Self::Refused { item, stays, words } => write!(to, "{item}: stays {stays}: {words}"),
            Self::Ignored { item, is, asked } => {
                write!(to, "{item}: {asked} was accepted, but it is {is}")
            }
            Self::Cascaded {
                interface,
                item,
                from,
                to: is,
            } => {
                let at = interface.as_deref().map(|name| format!("{name} "));
                write!(
                    to,
                    "{}{item}: {from} -> {is} with it",
                    at.unwrap_or_default()
                )
            }
            Self::LinkWentDown { interface, is_back } => {
                let now = if *is_back {
                    "came back"
                } else {
                    "is still down"
                };
                write!(to, "{interface}: the link went down and {now}")
            }
        }
    }
}
