//! How a page was made, and of what: whoever doubts it can look at the same files.

use std::error::Error;

use coalescope_capture::provenance::FileFacts;

use crate::causes::with_causes;

/// How a page was made. Nothing is said of what is empty.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The command, as one would type it.
    pub command: String,
    /// When, in seconds since 1970.
    pub at_unix_s: u64,
    /// Of what.
    pub sources: Vec<Source>,
}

/// Something that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The capture point or the host that it is about, if that has a name.
    pub about: Option<String>,
    /// What it is called.
    pub name: String,
    /// What it is.
    pub is: Is,
}

/// What was read.
#[derive(Clone, Debug)]
pub enum Is {
    /// A file of packets.
    Capture(FileFacts),
    /// Another file.
    File {
        /// Its bytes.
        size_bytes: u64,
        /// SHA-256 of these, in hexadecimal digits.
        sha256: String,
    },
    /// No file, or one of which no more is known: why, in words.
    Other(String),
}

impl Is {
    /// Another file, of which size and hash were taken; nothing is known of them where that was interrupted.
    #[must_use]
    pub fn file<E: Error>(digested: Result<Option<(u64, String)>, E>) -> Self {
        match digested {
            Ok(Some((size_bytes, sha256))) => Self::File { size_bytes, sha256 },
            Ok(None) => Self::Other("Not hashed.".to_owned()),
            Err(error) => Self::Other(format!("Could not be read again: {}.", with_causes(&error))),
        }
    }

    /// A capture that was read again to be described; nothing is known of it where that was interrupted.
    #[must_use]
    pub fn capture<E: Error>(described: Result<Option<FileFacts>, E>) -> Self {
        match described {
            Ok(Some(facts)) => Self::Capture(facts),
            Ok(None) => Self::Other("Interrupted: not hashed.".to_owned()),
            Err(error) => Self::Other(format!(
                "It could not be read again: {}.",
                with_causes(&error)
            )),
        }
    }
}
