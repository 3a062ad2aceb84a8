//! Errors of a path: what happened, where, and what to do.

use crate::error::Unavailable;
use std::io;
use std::path::PathBuf;

/// Why a path could not be made, or stopped working.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A request to the kernel failed.
    #[error(transparent)]
    Lab(#[from] crate::error::Error),
    /// The machine lacks something; a reason to skip.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// A plan names a room that no wire and no veth makes.
    #[error("the path has no room {room}; its rooms are: {rooms}")]
    NoRoom {
        /// The name that was asked for.
        room: String,
        /// The names that there are.
        rooms: String,
    },
    /// An error in one of the rooms.
    #[error("in room {room}: {source}")]
    Room {
        /// The room's name.
        room: String,
        /// What went wrong there.
        source: crate::error::Error,
    },
    /// A TAP device failed.
    #[error("cannot {action} TAP device {name}: {source}")]
    Tap {
        /// What was tried.
        action: &'static str,
        /// The interface.
        name: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A file failed: a capture, or the list of names.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A bulk transfer failed.
    #[error("cannot {action}: {source}")]
    Transfer {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A value is out of its range.
    #[error("{element}: {what} is {value}; it has to be {range}")]
    Value {
        /// Where.
        element: String,
        /// Which value.
        what: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        range: &'static str,
    },
    /// A thread of the path ended by a panic: a defect of this program.
    #[error("the thread of {0} has panicked; please report it")]
    Panicked(String),
}

impl Error {
    /// Whether a file could not be opened for want of rights.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::File { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// For `map_err`: names the file.
    pub(super) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}

impl From<coalescope_netlink::Error> for Error {
    fn from(error: coalescope_netlink::Error) -> Self {
        Self::Lab(error.into())
    }
}
