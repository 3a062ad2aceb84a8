//! Errors: what was tried, on which object, and what to do.

use nix::errno::Errno;

/// A request to the kernel that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("cannot {action}: {}{}", errno.desc(), advice(*errno))]
    System {
        /// What was tried, and on what.
        action: String,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The kernel refused a netlink request.
    #[error("cannot {action}: {}{}{}", errno.desc(), kernel_words(message), advice(*errno))]
    Refused {
        /// What was tried, and on what.
        action: String,
        /// The kernel's answer.
        errno: Errno,
        /// The kernel's own words (its extended acknowledgement), often empty.
        message: String,
    },
    /// The kernel's answer lacks an attribute.
    #[error(
        "cannot {action}: the kernel's answer lacks {lacks}; it may be older than this feature"
    )]
    Answer {
        /// What was tried, and on what.
        action: String,
        /// What should have been in the answer.
        lacks: &'static str,
    },
    /// The kernel has no such family of generic netlink.
    #[error("this kernel has no netlink family {family} (or its module is not loaded)")]
    NoFamily {
        /// The family's name.
        family: &'static str,
    },
}

impl Error {
    /// The kernel's error number, if it gave one.
    #[must_use]
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::System { errno, .. } | Self::Refused { errno, .. } => Some(*errno),
            Self::Answer { .. } | Self::NoFamily { .. } => None,
        }
    }

    /// Whether the kernel or the driver lacks the feature.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::NoFamily { .. })
            || matches!(
                self.errno(),
                Some(
                    Errno::EOPNOTSUPP
                        | Errno::EPROTONOSUPPORT
                        | Errno::EAFNOSUPPORT
                        | Errno::ENOSYS
                )
            )
    }

    /// Whether the interface does not exist, or no longer exists.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.errno(), Some(Errno::ENODEV | Errno::ENXIO))
    }

    /// Whether rights are missing.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.errno(), Some(Errno::EPERM | Errno::EACCES))
    }

    /// For `map_err`: names what was tried when a system call fails.
    pub fn system(action: impl Into<String>) -> impl FnOnce(Errno) -> Self {
        let action = action.into();
        move |errno| Self::System { action, errno }
    }

    /// For `map_err`: names what was tried when the standard library's call fails.
    pub fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let action = action.into();
        move |error| Self::System {
            action,
            errno: Errno::from_raw(error.raw_os_error().unwrap_or(nix::libc::EIO)),
        }
    }
}

fn kernel_words(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(" ({message})")
    }
}

/// Advice for an error number of a network operation: empty, or `; ` and a sentence.
fn advice(errno: Errno) -> &'static str {
    match errno {
        Errno::EPERM | Errno::EACCES => "; run as root",
        Errno::ENODEV => "; no such interface in this namespace",
        Errno::ENETDOWN => "; the interface is down",
        Errno::EMSGSIZE => "; the frame is longer than the interface's MTU",
        Errno::EEXIST => "; the name is in use in this namespace",
        Errno::EOPNOTSUPP => "; this kernel or driver does not have it",
        Errno::ENOSPC | Errno::EUSERS => "; see /proc/sys/user for the limits on namespaces",
        _ => "",
    }
}
