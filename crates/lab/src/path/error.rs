//! What can go wrong with a path: what, where, and what to do.

use crate::error::Unavailable;
use std::io;
use std::path::PathBuf;

/// Why a path was not made, or does not work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something that was asked of the kernel.
    #[error(transparent)]
    Lab(#[from] crate::error::Error),
    /// Something that the machine does not have; a reason to skip.
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
    /// Something in one of the rooms.
    #[error("in room {room}: {source}")]
    Room {
        /// The room's name.
        room: String,
        /// What went wrong there.
        source: crate::error::Error,
    },
    /// A TAP device.
    #[error("cannot {action} TAP device {name}: {source}")]
    Tap {
        /// What was tried.
        action: &'static str,
        /// The interface.
        name: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A file: a capture, or the list of what a lab made.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A bulk transfer.
    #[error("cannot {action}: {source}")]
    Transfer {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A value out of its range.
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
