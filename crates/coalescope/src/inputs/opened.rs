//! Captures: opened first, read later and perhaps twice, so that whoever reads may have given up the rights
//! to open.

use std::fmt;
use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, anyhow};
use coalescope_capture::PointInput;
use coalescope_capture::file::{OpenError, Source};
use coalescope_capture::provenance::describe;
use coalescope_report::Is;

use super::{Named, display, is_stdin};
use crate::interrupt::{Interrupt, Patient};

/// A point whose captures are open.
pub(crate) struct Point {
    /// The point's name.
    pub(crate) name: String,
    /// Its captures.
    pub(crate) inputs: Vec<Input>,
}

/// A capture that is open, or why it is not.
pub(crate) struct Input {
    /// What it is called.
    pub(crate) name: String,
    opened: Result<From, anyhow::Error>,
}

/// What is read from.
enum From {
    Stdin,
    /// Can keep us waiting for ever.
    Pipe(File),
    File(File, u64),
}

/// Opens all captures; what cannot be opened is told by [`sources`], together with what is no capture.
pub(crate) fn open(points: Vec<Named>) -> Vec<Point> {
    let point = |point: Named| Point {
        inputs: point.files.iter().map(|file| Input::open(file)).collect(),
        name: point.name,
    };
    points.into_iter().map(point).collect()
}

/// Sources that can be read from now on.
pub(crate) struct Opened {
    /// The points.
    pub(crate) points: Vec<PointInput>,
    /// Bytes of all files together, if every one's size is known.
    pub(crate) size_bytes: Option<u64>,
}

/// Begins to read all captures; if some are of no use, the error names every one of them.
pub(crate) fn sources(points: &[Point], interrupt: &Interrupt) -> anyhow::Result<Opened> {
    let mut refused = Vec::new();
    let mut inputs = Vec::new();
    for point in points {
        let mut sources = Vec::new();
        for input in &point.inputs {
            match input.source(interrupt) {
                Ok(source) => sources.push((input.name.clone(), source)),
                Err(error) => refused.push(error),
            }
        }
        let name = point.name.clone();
        inputs.push(PointInput { name, sources });
    }
    if !refused.is_empty() {
        return Err(self::refused(refused));
    }
    let sources = inputs.iter().flat_map(|input| &input.sources);
    let size_bytes = sources.map(|(_, source)| source.size_bytes()).sum();
    Ok(Opened {
        points: inputs,
        size_bytes,
    })
}

/// Everything that is wrong with the inputs, as one error.
pub(crate) fn refused(errors: Vec<anyhow::Error>) -> anyhow::Error {
    Refused(errors).into()
}

/// The first of a point's captures that cannot be read a second time.
pub(crate) fn read_once(point: &Point) -> Option<&str> {
    let is_file = |input: &&Input| matches!(input.opened, Ok(From::File(..)));
    let once = point.inputs.iter().find(|input| !is_file(input));
    once.map(|input| input.name.as_str())
}

impl Input {
    /// Opens a file; standard input is open already.
    pub(crate) fn open(file: &Path) -> Self {
        Self {
            name: display(file),
            opened: From::open(file),
        }
    }

    /// Whether it is open, and no file.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.opened, Ok(From::Stdin | From::Pipe(_)))
    }

    /// Begins to read it, from its first byte; fails as well if it could not be opened.
    pub(crate) fn source(&self, interrupt: &Interrupt) -> anyhow::Result<Source> {
        let (reader, size): (Box<dyn io::Read + Send>, _) = match &self.opened {
            Err(error) => return Err(anyhow!("{error:#}")),
            Ok(From::Stdin) => (Patient::stdin(interrupt)?, None),
            Ok(From::Pipe(file)) => (Patient::file(file.try_clone()?, interrupt), None),
            Ok(From::File(file, size)) => (Box::new(from_begin(file)?), Some(*size)),
        };
        Ok(Source::from_reader(&self.name, reader, size)?)
    }
}

impl Input {
    /// What it is, for whoever reads a page about it: read anew from its first byte.
    pub(crate) fn described(&self, stop: &AtomicBool) -> Is {
        let Ok(From::File(file, _)) = &self.opened else {
            return Is::Other("It can be read only once: not hashed.".to_owned());
        };
        let mut open = || Ok(Box::new(from_begin(file)?) as Box<dyn io::Read + Send>);
        Is::capture(describe(&self.name, &mut open, stop))
    }
}

fn from_begin(file: &File) -> io::Result<File> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    Ok(file)
}

impl From {
    fn open(path: &Path) -> anyhow::Result<Self> {
        if is_stdin(path) {
            return Ok(Self::Stdin);
        }
        let name = display(path);
        if path.is_dir() {
            return Err(anyhow!(
                "{name} is a directory: name the captures in it, such as {name}/*.pcap"
            ));
        }
        let file = File::open(path).map_err(|source| OpenError::Open { name, source })?;
        let metadata = file.metadata().with_context(|| display(path))?;
        Ok(match metadata.is_file() {
            true => Self::File(file, metadata.len()),
            false => Self::Pipe(file),
        })
    }
}

/// Everything that is wrong with the inputs, a line each.
#[derive(Debug)]
struct Refused(Vec<anyhow::Error>);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let prefix = if i == 0 { "" } else { "\nerror: " };
            write!(f, "{prefix}{error:#}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}
