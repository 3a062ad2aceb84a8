//! Why something cannot be made to last, and what to do instead.

use coalescope_host::safe;

use crate::model::Manager;
use std::path::PathBuf;

/// Why a setting cannot be made persistent here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such interface.
    #[error("there is no interface {0}")]
    NoInterface(String),
    /// Its name would be more than a name in a file or a command.
    #[error("the name {0} has characters that a file or a shell would take for more than a name")]
    OddName(String),
    /// Its namespace is made by a program, with all that is in it.
    #[error("{interface} is in the network namespace {namespace}: what made that makes it anew")]
    InNamespace {
        /// The interface.
        interface: String,
        /// Its namespace.
        namespace: String,
    },
    /// A program makes it, and no manager's file is about it.
    #[error("{interface} is made by a program ({what}): no manager's file is about it")]
    MadeByProgram {
        /// The interface.
        interface: String,
        /// What it is.
        what: String,
    },
    /// No manager that is known here has it.
    #[error("none of NetworkManager, netplan, systemd-networkd, ifupdown and ifcfg files has {0}")]
    Unowned(String),
    /// The manager has no word for the feature.
    #[error("{manager} has no name for {feature}")]
    NoName {
        /// Who owns the interface.
        manager: Manager,
        /// The feature.
        feature: String,
    },
    /// The manager's file cannot be changed so that it would be sure to have the effect.
    #[error("{why}")]
    Unsuitable {
        /// What is in the way.
        why: String,
        /// What to do.
        what_to_do: String,
    },
    /// Another file would stand instead of what is written.
    #[error("{path} says something else of {feature}, and has the last word")]
    Overridden {
        /// The file.
        path: PathBuf,
        /// The feature.
        feature: String,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {problem}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// A file is not what its place says.
    #[error("{path} is not understood: {problem}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    /// What to do instead, as a sentence without its capital and full stop.
    #[must_use]
    pub fn what_to_do(&self) -> String {
        match self {
            Self::NoInterface(_) => "look at `ip link` for its name now".to_owned(),
            Self::OddName(_) => {
                "give it a name of letters, digits, `.`, `_` and `-`, or set it in a script of your own"
                    .to_owned()
            }
            Self::InNamespace { namespace, .. } => format!(
                "set it where {namespace} is made: in the container's network set-up, or after \
                 `ip netns add`"
            ),
            Self::MadeByProgram { .. } => "set it in that program (libvirt: `<host gro='off'/>` \
                within the interface's `<driver>`), or by a udev rule on its name if that stays the same"
                .to_owned(),
            Self::Unowned(interface) => format!(
                "run `ethtool -K {} ...` wherever it is set up at each start, or from a \
                 systemd unit that is ordered after it",
                safe::sh(interface)
            ),
            Self::NoName { feature, .. } => format!(
                "run `ethtool -K ... {feature} ...` from a udev rule or a systemd unit at each start"
            ),
            Self::Unsuitable { what_to_do, .. } => what_to_do.clone(),
            Self::Overridden { path, .. } => format!("change it in {}", path.display()),
            Self::Unreadable { .. } => "run it as root".to_owned(),
            Self::Damaged { path, .. } => format!("mend {} by hand first", path.display()),
        }
    }

    /// In the way, and what to do about that.
    pub(crate) fn unsuitable(why: impl Into<String>, what_to_do: impl Into<String>) -> Self {
        Self::Unsuitable {
            why: why.into(),
            what_to_do: what_to_do.into(),
        }
    }
}
