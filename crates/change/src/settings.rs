//! Settings: how they are written, their present values, and the outcome of changes.
//!
//! No change is taken for granted: [`Change`] has the outcome, from reading everything before and after.

mod apply;
mod difference;
mod error;
mod holds;
mod lengths;
mod link;
mod moves;
mod names;
mod outcome;
mod parse;
mod related;
mod space;
mod state;
mod sysctl;

pub use difference::{Difference, Item};
pub use error::Error;
pub use link::{Carrier, wait_for_carrier};
pub use names::shared;
pub use outcome::{Change, Outcome};
pub use parse::dotted;
pub use related::related;
pub use space::{NamespaceId, Space};
pub use state::{InterfaceState, read_named};

pub(crate) use apply::{Prepared, PreparedSysctl, check};
pub(crate) use difference::differences;
pub(crate) use holds::lost;
pub(crate) use lengths::{set_ipv6_mtu, set_size_back};
pub(crate) use moves::{Move, is_adaptive};
pub(crate) use names::members;
pub(crate) use state::{as_coalescing, by_index, queues_are_alike, read_at, write_napi};
pub(crate) use sysctl::{
    is_same, owner as sysctl_owner, read as read_sysctl, write as write_sysctl,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A setting of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Knob {
    /// An offload, by any name: ethtool's (`gro`, `generic-receive-offload`) or the kernel's
    /// (`rx-gro`).
    Feature(String),
    /// The MTU.
    Mtu,
    /// An interrupt coalescing setting, as `ethtool -c` names it (`rx-usecs`).
    Coalescing(String),
    /// `gro_flush_timeout`, nanoseconds.
    GroFlushTimeout,
    /// `napi_defer_hard_irqs`, polls.
    NapiDeferHardIrqs,
    /// `gso_max_size`, bytes: longer frames are segmented before the interface sends them.
    GsoMaxSize,
    /// `gro_max_size`, bytes: GRO on the interface merges up to this length.
    GroMaxSize,
}

/// What a setting belongs to: an interface, or a sysctl.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// A setting of an interface.
    Interface {
        /// The interface's name.
        name: String,
        /// Which setting of the interface.
        knob: Knob,
    },
    /// A sysctl, as its path under /proc/sys (`net/ipv4/tcp_reordering`).
    Sysctl(String),
}

/// A setting and its place, without a value: `ns/blue/eth0:gro`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject {
    /// The network namespace's name in /run/netns; `None` for the namespace of this process.
    pub namespace: Option<String>,
    /// The setting.
    pub what: What,
}

/// A value that a setting can have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// On or off.
    Switch(bool),
    /// A number, in the unit of the setting.
    Number(u32),
    /// A sysctl's text.
    Text(String),
}

/// One setting with its value: `eth0:gro=off`. In JSON it is that text.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Setting {
    /// What is set.
    pub subject: Subject,
    /// To what.
    pub value: Value,
}

impl Setting {
    /// This setting with ethtool's short name of a feature, which rules use.
    #[must_use]
    pub fn shortened(&self) -> Self {
        let mut setting = self.clone();
        if let What::Interface {
            knob: Knob::Feature(name),
            ..
        } = &mut setting.subject.what
        {
            *name = names::short(name).to_owned();
        }
        setting
    }
}

impl Setting {
    /// For a feature: the interface, ethtool's long name of the feature, and whether it is on.
    #[must_use]
    pub fn feature(&self) -> Option<(&str, &str, bool)> {
        match (&self.subject.what, &self.value) {
            (
                What::Interface {
                    name,
                    knob: Knob::Feature(feature),
                },
                Value::Switch(on),
            ) => Some((name, names::long(feature), *on)),
            _ => None,
        }
    }
}

/// A setting with the values that an experiment compares: `eth0:gro=on,off`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// The setting.
    pub subject: Subject,
    /// The values, in the order written.
    pub levels: Vec<Value>,
}

impl Factor {
    /// One setting for each level.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        self.levels.iter().map(|level| Setting {
            subject: self.subject.clone(),
            value: level.clone(),
        })
    }
}

/// The present value of a setting, in the words of `ethtool`, `ip` or `sysctl`. A name for several
/// features is on if one of them is.
pub fn read(subject: &Subject) -> Result<Value, Error> {
    let space = Space::open(subject.namespace.as_deref())?;
    match &subject.what {
        What::Sysctl(key) => Ok(Value::Text(read_sysctl(&space, key)?)),
        What::Interface { name, knob } => {
            let state = read_named(&space, name)?;
            state.value(knob)
        }
    }
}
