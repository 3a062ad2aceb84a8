//! Entries of files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file as it was, and what was written instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// The file itself, never a link to it. Absolute.
    pub path: PathBuf,
    /// As it was; `None` if there was none.
    pub was: Option<FileState>,
    /// [`Digest`] of what was written: whatever else is found there later is somebody else's.
    pub wrote: Digest,
    /// Folders that had to be made for it, the outermost first.
    pub folders: Vec<PathBuf>,
}

/// Contents and rights of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileState {
    /// What is in it; Base64 in JSON.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    #[schemars(with = "String")]
    pub bytes: Vec<u8>,
    /// Permissions: the lower 12 bits of `st_mode`.
    pub mode: u32,
    /// Number of the user whose it is.
    pub uid: u32,
    /// Number of the group whose it is.
    pub gid: u32,
}

/// Length and FNV-1a of contents. It tells an edit from our own text; it is no protection against
/// somebody who looks for a collision and who could write the file anyway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Digest(String);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(format!("{}-{}", bytes.len(), fnv(bytes)))
    }
}

/// FNV-1a, 64 bits, as hexadecimal digits.
pub(super) fn fnv(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// A path as a short name: file names may be too long as part of another.
pub(crate) fn path_digest(path: &Path) -> String {
    fnv(path.as_os_str().as_bytes())
}

fn to_base64<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    STANDARD.decode(text).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_json() {
        let state = FileState {
            bytes: (0..=255).collect(),
            mode: 0o640,
            uid: 0,
            gid: 7,
        };
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<FileState>(&text).unwrap(), state);
        let damaged = text.replace("AAEC", "AA*C");
        assert!(serde_json::from_str::<FileState>(&damaged).is_err());
    }

    #[test]
    fn digests_tell_contents_apart() {
        assert_eq!(Digest::of(b"a"), Digest::of(b"a"));
        for other in [&b""[..], b"b", b"aa", b"a\n"] {
            assert_ne!(Digest::of(b"a"), Digest::of(other));
        }
    }
}
