//! How a page was made, and from what: readers who doubt it can look at the same files.

use std::error::Error;

use coalescope_capture::provenance::FileFacts;

use crate::causes::with_causes;

/// How a page was made. Empty fields are left out of the page.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The command, as one would type it.
    pub command: String,
    /// The time, in seconds since 1970.
    pub at_unix_s: u64,
    /// The inputs.
    pub sources: Vec<Source>,
}

/// An input.
#[derive(Clone, Debug)]
pub struct Source {
    /// The capture point or the host that it is about, if that has a name.
    pub about: Option<String>,
    /// Name of the input.
    pub name: String,
    /// Kind of the input.
    pub is: Is,
}

/// Kinds of inputs.
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
    /// No file, or one that is not described further: why, in words.
    Other(String),
}

impl Is {
    /// A file with its size and hash; without them if hashing was interrupted.
    #[must_use]
    pub fn file<E: Error>(digested: Result<Option<(u64, String)>, E>) -> Self {
        match digested {
            Ok(Some((size_bytes, sha256))) => Self::File { size_bytes, sha256 },
            Ok(None) => Self::Other("Not hashed.".to_owned()),
            Err(error) => Self::Other(format!("Could not be read again: {}.", with_causes(&error))),
        }
    }

    /// A capture that was read again to be described; without a description if reading was interrupted.
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
