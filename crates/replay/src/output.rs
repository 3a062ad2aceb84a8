//! Writes the frames that come out.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use coalescope_capture::file::{Direction, Interface};
use coalescope_pcapng::{Interface as Described, Record, Writer};
use gro::{About, Part};

use crate::token::Token;

/// Why the output could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The output is the file that is read.
    #[error("{name} is the capture that is read: name another file to write to")]
    Input {
        /// The path as given.
        name: String,
    },
    /// `-` is not accepted.
    #[error("standard output has the report: name a file to write to, or a named pipe")]
    StandardOutput,
    /// The file could not be created.
    #[error("cannot create {name}: check the directory and that you may write there")]
    Create {
        /// The path as given.
        name: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file could not be written to.
    #[error(
        "cannot write to {name}: free some space or name another place; what is in it is not complete"
    )]
    Write {
        /// The path as given.
        name: String,
        /// The operating system's error.
        source: io::Error,
    },
}

/// A file for the frames that come out, as pcapng. Its previous content is lost.
#[derive(Debug)]
pub struct Output {
    file: File,
    name: String,
}

impl Output {
    /// Creates the file. `input` is the capture that is going to be read; `-` is standard input.
    ///
    /// # Errors
    ///
    /// If both are one file, by whatever names, or the output cannot be created.
    pub fn create(path: &Path, input: &Path) -> Result<Self, OutputError> {
        if path.as_os_str() == "-" {
            return Err(OutputError::StandardOutput);
        }
        let name = path.display().to_string();
        if is_same(path, input) {
            return Err(OutputError::Input { name });
        }
        match File::create(path) {
            Ok(file) => Ok(Self { file, name }),
            Err(source) => Err(OutputError::Create { name, source }),
        }
    }
}

/// Whether two paths lead to one file.
fn is_same(output: &Path, input: &Path) -> bool {
    let input = match input.as_os_str() == "-" {
        true => PathBuf::from("/dev/stdin"),
        false => input.to_owned(),
    };
    match (output.metadata(), input.metadata()) {
        (Ok(a), Ok(b)) => is_same_file(&a, &b) || canonical(output) == canonical(&input),
        _ => false,
    }
}

/// The canonical path; an unresolvable path stands for itself.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Hard links to one file have different paths.
#[cfg(unix)]
fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// Times before 1970 cannot be written, and become 1970.
fn since_1970(time_ns: i64) -> u64 {
    u64::try_from(time_ns).unwrap_or(0)
}

fn inbound(direction: Direction) -> Option<bool> {
    match direction {
        Direction::Unknown => None,
        Direction::Inbound => Some(true),
        Direction::Outbound => Some(false),
    }
}

/// An output in use. The first failure is kept, and ends writing.
pub(crate) struct Recorder {
    name: String,
    writer: Option<Writer<BufWriter<File>>>,
    failed: Option<io::Error>,
    /// Numbers in the file of the capture's interfaces.
    interfaces: HashMap<u32, u32>,
    frame: Vec<u8>,
}

impl Recorder {
    /// Begins the file; the comment describes its content.
    pub(crate) fn new(output: Output, comment: &str) -> Self {
        let mut recorder = Self {
            name: output.name,
            writer: None,
            failed: None,
            interfaces: HashMap::new(),
            frame: Vec::new(),
        };
        match Writer::new(BufWriter::new(output.file), Some(comment)) {
            Ok(writer) => recorder.writer = Some(writer),
            Err(error) => recorder.failed = Some(error),
        }
        recorder
    }

    /// Whether writing goes on.
    pub(crate) fn is_sound(&self) -> bool {
        self.failed.is_none()
    }

    /// Whether an interface of the capture is known.
    pub(crate) fn knows(&self, number: u32) -> bool {
        self.interfaces.contains_key(&number)
    }

    /// Writes the description of an interface of the capture.
    pub(crate) fn interface(&mut self, number: u32, interface: &Interface) {
        let described = Described {
            link_number: interface.link.dlt(),
            name: interface.name.as_deref(),
            snap_len: 0,
        };
        if let Some(own) = self.attempt(|writer| writer.interface(&described)) {
            self.interfaces.insert(number, own);
        }
    }

    /// Writes a frame as it was captured.
    pub(crate) fn unchanged(&mut self, token: &Token, time_ns: i64) {
        let record = Record {
            interface: self.own(token.interface),
            time_ns: since_1970(time_ns),
            original_len: token.wire_len,
            data: &token.bytes,
            inbound: inbound(token.direction),
            comment: None,
        };
        self.attempt(|writer| writer.packet(&record));
    }

    /// Writes a merged frame, as far as its bytes were captured without a gap.
    pub(crate) fn merged(
        &mut self,
        header: &[u8],
        parts: &[Part<Token>],
        about: &About,
        time_ns: i64,
    ) {
        let Some(first) = parts.first().map(|part| &part.token) else {
            return;
        };
        let mut frame = std::mem::take(&mut self.frame);
        let original_len = assemble(&mut frame, header, parts);
        let record = Record {
            interface: self.own(first.interface),
            time_ns: since_1970(time_ns),
            original_len,
            data: &frame,
            inbound: inbound(first.direction),
            comment: Some(&comment(parts, about)),
        };
        self.attempt(|writer| writer.packet(&record));
        self.frame = frame;
    }

    /// Flushes the file; returns the first error, if there was one.
    pub(crate) fn finish(mut self) -> Result<(), OutputError> {
        self.attempt(Writer::flush);
        match self.failed {
            None => Ok(()),
            Some(source) => Err(OutputError::Write {
                name: self.name,
                source,
            }),
        }
    }

    fn own(&self, interface: u32) -> u32 {
        self.interfaces.get(&interface).copied().unwrap_or(0)
    }

    fn attempt<T>(
        &mut self,
        write: impl FnOnce(&mut Writer<BufWriter<File>>) -> io::Result<T>,
    ) -> Option<T> {
        match write(self.writer.as_mut()?) {
            Ok(done) => Some(done),
            Err(error) => {
                self.failed = Some(error);
                self.writer = None;
                None
            }
        }
    }
}

/// Puts a merged frame together up to the first byte that was not captured; returns its length on the wire.
fn assemble(frame: &mut Vec<u8>, header: &[u8], parts: &[Part<Token>]) -> u32 {
    frame.clear();
    frame.extend_from_slice(header);
    let mut len = header.len() as u32;
    for part in parts {
        let is_whole = frame.len() == len as usize;
        let (start, end) = (part.payload.start as usize, part.payload.end as usize);
        let captured = part.token.bytes.len();
        let bytes = part.token.bytes.get(start..end.min(captured));
        frame.extend_from_slice(bytes.filter(|_| is_whole).unwrap_or_default());
        len += part.payload.len() as u32;
    }
    len
}

fn comment(parts: &[Part<Token>], about: &About) -> String {
    let numbers = || parts.iter().map(|part| part.token.number);
    let (first, last) = (numbers().min(), numbers().max());
    let size = about.gso.map_or(0, |gso| gso.segment_size);
    format!(
        "merged of {} frames, {} to {}; segments of {size} bytes; went up: {}",
        parts.len(),
        first.unwrap_or(0),
        last.unwrap_or(0),
        about.reason
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("in.pcap"), b"x").unwrap();
        let same = |name: &str| Output::create(&path(name), &path("in.pcap"));
        assert!(matches!(same("in.pcap"), Err(OutputError::Input { .. })));
        #[cfg(unix)]
        {
            std::fs::hard_link(path("in.pcap"), path("hard")).unwrap();
            std::os::unix::fs::symlink(path("in.pcap"), path("soft")).unwrap();
            assert!(matches!(same("hard"), Err(OutputError::Input { .. })));
            assert!(matches!(same("soft"), Err(OutputError::Input { .. })));
        }
        assert_eq!(std::fs::read(path("in.pcap")).unwrap(), b"x");
        assert!(same("out.pcapng").is_ok());
    }

    #[test]
    fn places_where_nothing_can_be_written() {
        let input = Path::new("in.pcap");
        assert!(matches!(
            Output::create(Path::new("-"), input),
            Err(OutputError::StandardOutput)
        ));
        assert!(matches!(
            Output::create(Path::new("/nowhere/at/all"), input),
            Err(OutputError::Create { .. })
        ));
    }
}
