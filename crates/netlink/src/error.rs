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

    /// Whether there is no route: none at all, one that refuses, or no such protocol in the namespace.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        let refused = matches!(self.errno(), Some(Errno::ENETUNREACH | Errno::EHOSTUNREACH));
        refused || self.is_unsupported()
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
            errno: errno_of(&error),
        }
    }
}

/// The error number, or the one that the kernel would give for what the standard library tells without.
fn errno_of(error: &std::io::Error) -> Errno {
    use std::io::ErrorKind;
    let of_kind = || match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Errno::ETIMEDOUT,
        ErrorKind::UnexpectedEof => Errno::ECONNRESET,
        _ => Errno::EIO,
    };
    error.raw_os_error().map_or_else(of_kind, Errno::from_raw)
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

#[cfg(test)]
mod tests {
    use std::io::{Error as IoError, ErrorKind};

    use super::*;

    /// The standard library ends a connect in time without an error number.
    #[test]
    fn what_the_standard_library_says_without_a_number_keeps_its_meaning() {
        let words = |error: IoError| Error::io("get it")(error).to_string();
        assert!(words(ErrorKind::TimedOut.into()).contains("timed out"));
        assert!(words(ErrorKind::UnexpectedEof.into()).contains("reset"));
        assert!(words(IoError::from_raw_os_error(nix::libc::ECONNREFUSED)).contains("refused"));
    }
}
