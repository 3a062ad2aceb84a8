//! Settings: how they are written, what they are now, and what comes of changing them.
//!
//! A change is never taken for granted: [`Change`] says what the kernel made of it, by reading
//! everything before and after.

mod apply;
mod difference;
mod error;
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
pub use outcome::{Change, Outcome};
pub use parse::dotted;
pub use related::related;
pub use space::{NamespaceId, Space};
pub use state::{InterfaceState, read_named};

pub(crate) use apply::{Prepared, PreparedSysctl, check};
pub(crate) use difference::differences;
pub(crate) use lengths::{set_ipv6_mtu, set_size_back};
pub(crate) use moves::{Move, is_adaptive};
pub(crate) use names::members;
pub(crate) use state::{as_coalescing, by_index, queues_are_alike, read_at, write_napi};
pub(crate) use sysctl::{
    is_same, owner as sysctl_owner, read as read_sysctl, write as write_sysctl,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A switch of an interface.
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
    /// `gso_max_size`, bytes: what is longer is cut before it is sent there.
    GsoMaxSize,
    /// `gro_max_size`, bytes: what is received there is merged to no more.
    GroMaxSize,
}

/// What a setting belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// A switch of an interface.
    Interface {
        /// The interface's name.
        name: String,
        /// Which of its switches.
        knob: Knob,
    },
    /// A sysctl, as its path under /proc/sys (`net/ipv4/tcp_reordering`).
    Sysctl(String),
}

/// What can be set, and where: `ns/blue/eth0:gro`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject {
    /// The network namespace's name in /run/netns; `None` is the one that we are in.
    pub namespace: Option<String>,
    /// The switch.
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
    /// The same with ethtool's short name of a feature, by which rules know it.
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
    /// The interface, the feature by ethtool's long name and whether it is on, if it is a feature.
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
    /// What is set.
    pub subject: Subject,
    /// To what, in the order written.
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

/// Reads what a subject is set to now, as `ethtool`, `ip` or `sysctl` would print it. A name for
/// several features is on if one of them is.
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
