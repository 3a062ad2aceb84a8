//! Words that all managers share: who owns an interface, what files say, what makes them be read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use std::path::PathBuf;

/// What sets up interfaces, by the names of rules/recipes.yaml.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Manager {
    /// NetworkManager, with keyfiles or RHEL's ifcfg files.
    NetworkManager,
    /// netplan, which writes for systemd-networkd or NetworkManager.
    #[serde(rename = "netplan")]
    Netplan,
    /// systemd-networkd; offloads are in the .link files of udev.
    #[serde(rename = "systemd-networkd")]
    SystemdNetworkd,
    /// Debian's /etc/network/interfaces, with ifupdown or ifupdown2.
    #[serde(rename = "ifupdown")]
    Ifupdown,
    /// RHEL's network scripts, without NetworkManager.
    #[serde(rename = "rhel-ifcfg")]
    RhelIfcfg,
}

impl Display for Manager {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::NetworkManager => "NetworkManager",
            Self::Netplan => "netplan",
            Self::SystemdNetworkd => "systemd-networkd",
            Self::Ifupdown => "ifupdown",
            Self::RhelIfcfg => "rhel-ifcfg",
        })
    }
}

/// Who owns an interface, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ownership {
    /// The manager; `None` if none is found.
    pub manager: Option<Manager>,
    /// The file that shows it; `None` without a manager.
    pub file: Option<PathBuf>,
    /// In words.
    pub reason: String,
}

/// Whose word it is, with what is needed to write there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A keyfile of NetworkManager.
    Keyfile { path: PathBuf },
    /// An ifcfg file, read by NetworkManager or by network scripts.
    Ifcfg { path: PathBuf, by: Manager },
    /// A device of netplan.
    Netplan { id: String, renderer: Manager },
    /// udev's .link files.
    Link,
    /// Stanzas of /etc/network/interfaces.
    Ifupdown,
}

impl Owner {
    pub(crate) fn manager(&self) -> Manager {
        match self {
            Self::Keyfile { .. } => Manager::NetworkManager,
            Self::Ifcfg { by, .. } => *by,
            Self::Netplan { .. } => Manager::Netplan,
            Self::Link => Manager::SystemdNetworkd,
            Self::Ifupdown => Manager::Ifupdown,
        }
    }
}

/// An owner and what shows it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) owner: Owner,
    pub(crate) file: PathBuf,
    pub(crate) reason: String,
}

impl Found {
    pub(crate) fn new(owner: Owner, file: impl Into<PathBuf>, reason: String) -> Self {
        Self {
            owner,
            file: file.into(),
            reason,
        }
    }
}

/// What a manager's files say of a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Configured {
    /// On or off; `None` if nothing, or not the same everywhere.
    pub(crate) on: Option<bool>,
    /// The file that has the last word, or would have.
    pub(crate) at: Option<PathBuf>,
}

/// A command that makes a manager look at its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reload {
    /// The command.
    pub command: String,
    /// It may take the interface down for a moment.
    pub disturbs_traffic: bool,
    /// What it does.
    pub why: String,
}

/// A switch of an interface that is to be so after every start of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wish {
    /// The interface.
    pub interface: String,
    /// The network namespace that it is in; `None` is the one that we are in.
    pub namespace: Option<String>,
    /// The feature, by ethtool's long name (`generic-receive-offload`).
    pub feature: String,
    /// On or off.
    pub on: bool,
}
