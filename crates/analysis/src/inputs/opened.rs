//! Captures are opened first and read later, perhaps twice: the process may give up the right to
//! open files in between.

use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use coalescope_archive::{Begin, Folder, check_copies};
use coalescope_capture::PointInput;
use coalescope_capture::file::{Again, OpenError, Source, file_again};
use coalescope_capture::provenance::describe;
use coalescope_report::Is;

use super::order::{begins, order_of_time, words_of_order};
use super::{Named, display, is_stdin};
use crate::error::Error;
use crate::interrupt::{Interrupt, patient, patient_stdin};

/// A point whose captures are open.
pub struct Point {
    /// The point's name.
    pub name: String,
    /// Its captures.
    pub inputs: Vec<Input>,
}

/// A capture, opened, or the error.
pub struct Input {
    /// Name in messages and reports.
    pub name: String,
    /// Its number among those of its point as they were given, from 0.
    pub given: u32,
    opened: Result<Kind, Arc<Error>>,
}

/// The kind of an open input.
enum Kind {
    Stdin,
    /// A pipe, whose writer may be silent for ever.
    Pipe(File),
    File(File, u64),
}

/// Opens all captures. Errors are reported by [`sources`], together with files that are no captures.
#[must_use]
pub fn open(points: Vec<Named>) -> Vec<Point> {
    let point = |point: Named| Point {
        inputs: (0..)
            .zip(&point.files)
            .map(|(given, file)| Input {
                given,
                ..Input::open(file)
            })
            .collect(),
        name: point.name,
    };
    points.into_iter().map(point).collect()
}

/// Sources that are ready to be read.
pub struct Opened {
    /// The points.
    pub points: Vec<PointInput>,
    /// Size of all files together, if the size of each is known.
    pub size_bytes: Option<u64>,
    /// Points whose files are read in another order than the given one, each with a warning about that.
    pub reordered: Vec<(String, String)>,
}

/// Begins to read all captures.
///
/// # Errors
///
/// All captures that cannot be used.
pub fn sources(points: &[Point], interrupt: &Interrupt) -> Result<Opened, Error> {
    let mut refused = Vec::new();
    let mut inputs = Vec::new();
    let mut reordered = Vec::new();
    for point in points {
        let mut sources = Vec::new();
        let begins = begins(point, interrupt).unwrap_or_default();
        refused.extend(check_copies(&point.name, &begins).err().map(Error::from));
        let order = order_of_time(point, &begins, interrupt);
        reordered.extend(
            order
                .as_ref()
                .map(|_| (point.name.clone(), words_of_order(point.inputs.len()))),
        );
        let order = order.unwrap_or_else(|| (0..point.inputs.len()).collect());
        for input in order.iter().map(|at| &point.inputs[*at]) {
            match input.source(interrupt) {
                Ok(source) => sources.push((input.name.clone(), source)),
                Err(error) => refused.push(error),
            }
        }
        let name = point.name.clone();
        inputs.push(PointInput { name, sources });
    }
    refuse(refused)?;
    let sources = inputs.iter().flat_map(|input| &input.sources);
    let size_bytes = sources.map(|(_, source)| source.size_bytes()).sum();
    Ok(Opened {
        points: inputs,
        size_bytes,
        reordered,
    })
}

/// All errors of the inputs as one.
pub(crate) fn refuse(errors: Vec<Error>) -> Result<(), Error> {
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Error::Refused(errors)),
    }
}

/// The first of a point's captures that cannot be read a second time.
#[must_use]
pub fn read_once(point: &Point) -> Option<&str> {
    let is_file = |input: &&Input| matches!(input.opened, Ok(Kind::File(..)));
    let once = point.inputs.iter().find(|input| !is_file(input));
    once.map(|input| input.name.as_str())
}

impl Input {
    /// Opens a file; standard input is open already.
    #[must_use]
    pub fn open(file: &Path) -> Self {
        Self {
            name: display(file),
            given: 0,
            opened: Kind::open(file).map_err(Arc::new),
        }
    }

    /// Whether the input is open, and is a pipe or standard input.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.opened, Ok(Kind::Stdin | Kind::Pipe(_)))
    }

    /// How the capture begins; of a stream, which can be read only once, its name alone.
    pub(crate) fn begin(&self, interrupt: &Interrupt) -> Result<Begin, Error> {
        let name = self.name.clone();
        if self.is_stream() {
            return Ok(Begin {
                name,
                ..Begin::default()
            });
        }
        Ok(Begin::of(name, self.source(interrupt)?))
    }

    /// Begins to read the capture from its first byte.
    ///
    /// # Errors
    ///
    /// If the capture could not be opened, or is no capture.
    pub fn source(&self, interrupt: &Interrupt) -> Result<Source, Error> {
        let mut again: Option<Again> = None;
        let (reader, size): (Box<dyn io::Read + Send>, _) = match &self.opened {
            Err(error) => return Err(Error::NotOpened(Arc::clone(error))),
            Ok(Kind::Stdin) => (patient_stdin(interrupt).map_err(self.io())?, None),
            Ok(Kind::Pipe(file)) => {
                let file = file.try_clone().map_err(self.io())?;
                (patient(file, interrupt), None)
            }
            Ok(Kind::File(file, size)) => {
                let file = Arc::new(from_begin(file).map_err(self.io())?);
                again = file_again(&file);
                (Box::new(file), Some(*size))
            }
        };
        Ok(Source::from_reader(&self.name, reader, size)?.with_again(again))
    }
}

impl Input {
    fn io(&self) -> impl FnOnce(io::Error) -> Error {
        let name = self.name.clone();
        move |source| Error::Io { name, source }
    }

    /// Describes the file for a page's readers; reads it again from its first byte.
    #[must_use]
    pub fn described(&self, stop: &AtomicBool) -> Is {
        let Ok(Kind::File(file, _)) = &self.opened else {
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

impl Kind {
    fn open(path: &Path) -> Result<Self, Error> {
        if is_stdin(path) {
            return Ok(Self::Stdin);
        }
        let name = display(path);
        if path.is_dir() {
            return Err(match Folder::is_one(path) {
                true => Error::Beside(name),
                false => Error::Directory(name),
            });
        }
        let file = File::open(path).map_err(|source| {
            let name = name.clone();
            OpenError::Open { name, source }
        })?;
        let metadata = file.metadata();
        let metadata = metadata.map_err(|source| Error::Io { name, source })?;
        Ok(match metadata.is_file() {
            true => Self::File(file, metadata.len()),
            false => Self::Pipe(file),
        })
    }
}
