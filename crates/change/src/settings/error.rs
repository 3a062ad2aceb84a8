//! Errors: what was tried, on which setting or file, and what to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::path::Path;

/// Why a setting was not read, changed or restored. It crosses the pipe between a guardian and the
/// program that it guards, so it keeps words rather than other errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Error {
    /// A text is not a setting.
    #[error("{text}: {problem}; write it as {example}")]
    Syntax {
        /// What was written.
        text: String,
        /// What is wrong with it.
        problem: String,
        /// One that is right.
        example: String,
    },
    /// The interface has no feature or setting of that name.
    #[error(
        "{interface} has no feature {name}{}; see `ethtool -k {}`",
        similar(near),
        coalescope_host::safe::sh(interface)
    )]
    UnknownFeature {
        /// The interface.
        interface: String,
        /// What was asked for.
        name: String,
        /// Names that look alike.
        near: Vec<String>,
    },
    /// There is no such sysctl.
    #[error("there is no sysctl {key}{}; see `sysctl -a`", within(namespace))]
    UnknownSysctl {
        /// Its name.
        key: String,
        /// The namespace, if not this one.
        namespace: Option<String>,
    },
    /// Changing it changes more than could be taken back.
    #[error("{what} is not changed: {why}; change it by hand if you mean it")]
    NotReversible {
        /// The setting.
        what: String,
        /// What would be lost.
        why: String,
    },
    /// There is no such interface, perhaps not any more.
    #[error("there is no interface {interface}{}: {detail}", within(namespace))]
    Gone {
        /// Its name.
        interface: String,
        /// The namespace, if not this one.
        namespace: Option<String>,
        /// What is there instead.
        detail: String,
    },
    /// There is no such namespace, perhaps not any more.
    #[error("there is no network namespace {namespace}: {detail}")]
    NamespaceGone {
        /// Its name.
        namespace: String,
        /// What is there instead.
        detail: String,
    },
    /// Rights are missing.
    #[error("no rights: {message}")]
    NoRights {
        /// What was tried, and what the kernel said.
        message: String,
    },
    /// The kernel said no to something that is not a setting.
    #[error("{message}")]
    Kernel {
        /// What was tried, and what the kernel said.
        message: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action}: {problem}; nothing was changed after it")]
    File {
        /// What was tried, and on which file.
        action: String,
        /// Why not.
        problem: String,
    },
    /// Not all files could be written, nor could all of them be put back.
    #[error(
        "{problem}; NOT restored: {}; `coalescope undo {journal}` tries again",
        left.join("; ")
    )]
    NotTakenBack {
        /// Why not all could be written.
        problem: String,
        /// What is not as it was, each with what to do.
        left: Vec<String>,
        /// Name of the journal.
        journal: String,
    },
    /// Where journals are kept is not safe to use, or cannot be made.
    #[error(
        "what is changed is written down first, and {path} cannot hold that: {problem}; run it as \
         root, or set COALESCOPE_STATE to a folder of your own"
    )]
    Store {
        /// The folder.
        path: String,
        /// Why not.
        problem: String,
    },
    /// A folder that may hold journals cannot be looked at.
    #[error("{path} may hold journals, and is not looked at: {problem}")]
    StoreUnread {
        /// The folder.
        path: String,
        /// Why not.
        problem: String,
    },
    /// A journal that is damaged, or none of ours. Nothing is guessed from it.
    #[error(
        "{path} is not a journal that can be relied on: {problem}; nothing was restored from it: \
         compare the settings by hand, then remove it"
    )]
    Journal {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A journal of another version of coalescope.
    #[error(
        "{path} has the schema {found}, this version knows {known}: undo it with the version that wrote it"
    )]
    JournalVersion {
        /// The file.
        path: String,
        /// Its schema.
        found: String,
        /// The schema that is understood.
        known: String,
    },
    /// Another experiment has it.
    #[error("{what} is in use by another experiment: {holder}; wait for it or end it")]
    Busy {
        /// The interface or sysctl.
        what: String,
        /// Who has it.
        holder: String,
    },
    /// An earlier experiment has changed it and not taken that back.
    #[error(
        "{what} is still as an earlier experiment left it ({journal}, by `{command}`): run `coalescope undo` first"
    )]
    Unfinished {
        /// The interface or sysctl.
        what: String,
        /// Name of the journal.
        journal: String,
        /// The command that it is of.
        command: String,
    },
    /// Somebody else changes what an experiment changes.
    #[error(
        "somebody else has changed {what} meanwhile: it was set to {set}, and is {is}; that is left as it is"
    )]
    Meddled {
        /// The key.
        what: String,
        /// What it was set to.
        set: String,
        /// As it is.
        is: String,
    },
    /// The guardian could not be started, or has ended, or says nothing.
    #[error("the guardian process {problem}; nothing is changed without one")]
    Guardian {
        /// What is wrong with it.
        problem: String,
    },
    /// The deadline is over and everything was restored.
    #[error("the deadline is over: the settings were restored, and nothing is changed any more")]
    Expired,
}

impl Error {
    /// For `map_err` with file errors; `action` is what was tried.
    pub(crate) fn file(action: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let action = format!("{action} {}", path.display());
        move |error| Self::File {
            action,
            problem: error.to_string(),
        }
    }

    /// For `map_err` with any error that can be displayed.
    pub(crate) fn guardian<T: Display>(what: &str) -> impl FnOnce(T) -> Self {
        move |error| Self::Guardian {
            problem: format!("{what}: {error}"),
        }
    }
}

impl From<coalescope_netlink::Error> for Error {
    fn from(error: coalescope_netlink::Error) -> Self {
        let message = error.to_string();
        if error.is_denied() {
            Self::NoRights { message }
        } else {
            Self::Kernel { message }
        }
    }
}

fn within(namespace: &Option<String>) -> String {
    let inside = namespace.as_ref();
    inside
        .map(|name| format!(" in the namespace {name}"))
        .unwrap_or_default()
}

fn similar(near: &[String]) -> String {
    if near.is_empty() {
        String::new()
    } else {
        format!(" (did you mean {}?)", near.join(", "))
    }
}
