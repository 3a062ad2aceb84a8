//! Outcomes of a change.

use super::{Item, Setting};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// One outcome of a change. An item that was asked for has exactly one of the first five; the
/// others are side effects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Set as asked for.
    Changed {
        /// Which item.
        item: Item,
        /// The value before.
        from: String,
        /// The value afterwards.
        to: String,
    },
    /// The item had this value already.
    Already {
        /// Which item.
        item: Item,
        /// The present value.
        is: String,
    },
    /// Nobody can change the item: the driver does not have it, or keeps it fixed.
    Fixed {
        /// Which item.
        item: Item,
        /// The present value.
        stays: String,
    },
    /// The kernel or the driver refused the change.
    Refused {
        /// Which item.
        item: Item,
        /// The present value.
        stays: String,
        /// The kernel's words.
        words: String,
    },
    /// Accepted by the kernel, but not active, or not with that value.
    Ignored {
        /// Which item.
        item: Item,
        /// The present value.
        is: String,
        /// The value asked for.
        asked: String,
    },
    /// Not asked for, and changed along.
    Cascaded {
        /// The interface: the one that was changed, or one above or beneath it. `None` for a sysctl.
        interface: Option<String>,
        /// Which item.
        item: Item,
        /// The value before.
        from: String,
        /// The value afterwards.
        to: String,
    },
    /// The link went down with the change.
    LinkWentDown {
        /// The interface.
        interface: String,
        /// Whether the carrier was back right after.
        is_back: bool,
    },
}

/// A change and all its outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The setting that was asked for.
    pub setting: Setting,
    /// Its outcomes.
    pub outcomes: Vec<Outcome>,
}

impl Change {
    /// Whether all items have the value that was asked for.
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
