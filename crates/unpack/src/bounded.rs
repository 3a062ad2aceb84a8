//! A whole file in memory, up to a length.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// All bytes of a reader; `None` if there are more than `most`. An endless reader, such as a
/// device, is read up to one byte beyond `most`.
///
/// # Errors
///
/// If reading fails.
pub fn bytes_within(most: u64, reader: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// A file's text. `kind` names the file in the error about one that is too long: "file of rules".
///
/// # Errors
///
/// If the file cannot be read, is longer than `most` bytes, or is not UTF-8.
pub fn text_within(most: u64, path: &Path, kind: &str) -> io::Result<String> {
    let too_long = || {
        let why = format!("it is longer than {most} bytes: that is no {kind}");
        io::Error::other(why)
    };
    let bytes = bytes_within(most, File::open(path)?)?.ok_or_else(too_long)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}
