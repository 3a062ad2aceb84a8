//! Looks in a file, one a line, to be read again anywhere.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

use crate::facts::Watched;

/// Schema of a line.
pub const SCHEMA: &str = "coalescope/watch-record/1";
/// The longest line: one of 10,000 interfaces takes a tenth of this.
const LONGEST: u64 = 64 << 20;

/// A look with its schema.
#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    #[serde(flatten)]
    look: &'a Watched,
}

#[derive(Deserialize)]
struct ReadLine {
    schema: String,
    #[serde(flatten)]
    look: Watched,
}

/// Why the rest of a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read.
    #[error("line {line} cannot be read: {source}")]
    Read {
        /// Which.
        line: u64,
        /// Why.
        source: io::Error,
    },
    /// A line is not a look.
    #[error("line {line} is no look of `watch --record`: {source}")]
    Line {
        /// Which.
        line: u64,
        /// Why.
        source: serde_json::Error,
    },
    /// A line has another schema.
    #[error("line {line} is {schema:?}, not {SCHEMA:?}")]
    Schema {
        /// Which.
        line: u64,
        /// What it says that it is.
        schema: String,
    },
}

/// Writes a look.
///
/// # Errors
///
/// If it cannot be written.
pub fn write(look: &Watched, out: &mut dyn Write) -> io::Result<()> {
    let line = Line {
        schema: SCHEMA,
        look,
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Looks of a record, in their order; each counts from the same beginning.
#[derive(Debug)]
pub struct Looks<R> {
    source: R,
    line: u64,
}

impl<R: BufRead> Looks<R> {
    /// Begins to read.
    pub fn new(source: R) -> Self {
        Self { source, line: 0 }
    }

    fn next_line(&mut self) -> Option<Result<Watched, RecordError>> {
        self.line += 1;
        let line = self.line;
        let mut bytes = Vec::new();
        let read = self
            .source
            .by_ref()
            .take(LONGEST)
            .read_until(b'\n', &mut bytes);
        match read {
            Ok(0) => None,
            Ok(_) => Some(parse(line, &bytes)),
            Err(source) => Some(Err(RecordError::Read { line, source })),
        }
    }
}

fn parse(line: u64, bytes: &[u8]) -> Result<Watched, RecordError> {
    let read: ReadLine =
        serde_json::from_slice(bytes).map_err(|source| RecordError::Line { line, source })?;
    match read.schema == SCHEMA {
        true => Ok(read.look),
        false => Err(RecordError::Schema {
            line,
            schema: read.schema,
        }),
    }
}

impl<R: BufRead> Iterator for Looks<R> {
    type Item = Result<Watched, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_line()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Interface, Level};
    use proptest::prelude::*;

    fn look(frames: u64) -> Watched {
        Watched {
            took_s: 1.5,
            level: Level::Bpf,
            interfaces: vec![Interface {
                name: "eth0".to_owned(),
                frames: Some(crate::facts::Frames {
                    received: crate::facts::Received {
                        frames,
                        ..Default::default()
                    },
                    ..Default::default()
                }),
                ..Interface::default()
            }],
            ..Watched::default()
        }
    }

    fn read(bytes: &[u8]) -> Vec<Result<Watched, RecordError>> {
        Looks::new(bytes).collect()
    }

    #[test]
    fn looks_are_read_as_they_were_written() {
        let mut file = Vec::new();
        for frames in [1, u64::MAX] {
            write(&look(frames), &mut file).unwrap();
        }
        let looks: Vec<_> = read(&file).into_iter().map(Result::unwrap).collect();
        assert_eq!(looks, [look(1), look(u64::MAX)]);
        let cut = read(&file[..file.len() - 9]);
        assert_eq!(cut.len(), 2, "what is before the damage is read");
        assert!(matches!(&cut[0], Ok(first) if *first == look(1)));
        assert!(matches!(cut[1], Err(RecordError::Line { line: 2, .. })));
    }

    #[test]
    fn another_form_is_named() {
        let mut file = Vec::new();
        write(&look(1), &mut file).unwrap();
        let other = String::from_utf8(file)
            .unwrap()
            .replace("record/1", "record/2");
        let looks = read(other.as_bytes());
        let error = looks[0].as_ref().unwrap_err();
        let expected = "line 1 is \"coalescope/watch-record/2\", not \"coalescope/watch-record/1\"";
        assert_eq!(error.to_string(), expected);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
