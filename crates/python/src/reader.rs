//! Captures that Python reads: whatever has a `read`.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use coalescope_analysis::inputs::Input;
use coalescope_analysis::interrupt::Interrupt;
use coalescope_capture::file::Source;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Asked for at once: what an object store answers in one go.
const AT_ONCE: usize = 1 << 20;

/// A capture: a path, or an object with `read`, such as an open file of pyarrow.fs.
#[derive(FromPyObject)]
pub(crate) enum Capture {
    /// A path.
    Path(PathBuf),
    /// Anything else.
    Object(Py<PyAny>),
}

/// What Python raised while somebody read. A capture that breaks off is no error, but one whose reader fails has to be read
/// once more.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Raises it.
    pub(crate) fn check(&self) -> PyResult<()> {
        let raised = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), Err)
    }

    fn keep(&self, error: PyErr) -> io::Error {
        let said = io::Error::other(error.to_string());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        said
    }
}

/// A capture that is being read.
pub(crate) struct Begun {
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) raised: Raised,
}

impl Capture {
    /// Begins to read.
    pub(crate) fn begin(self, name: Option<String>) -> PyResult<Begun> {
        let raised = Raised::default();
        let (name, source) = match self {
            Self::Path(path) => {
                let input = Input::open(&path);
                let source = input.source(&Interrupt::default());
                (name.unwrap_or(input.name), source)
            }
            Self::Object(object) => {
                let name = name.unwrap_or_else(|| "a stream".to_owned());
                let reader = Box::new(PythonReader::new(object, raised.clone()));
                let source = Source::from_reader(&name, reader, None);
                (name, source.map_err(coalescope_analysis::Error::from))
            }
        };
        raised.check()?;
        Ok(Begun {
            name,
            source: source.map_err(crate::error::raised)?,
            raised,
        })
    }
}

/// Reads by Python, a megabyte at a time.
struct PythonReader {
    object: Py<PyAny>,
    raised: Raised,
    bytes: Vec<u8>,
    at: usize,
}

impl PythonReader {
    fn new(object: Py<PyAny>, raised: Raised) -> Self {
        Self {
            object,
            raised,
            bytes: Vec::new(),
            at: 0,
        }
    }

    fn fill(&mut self) -> PyResult<()> {
        Python::attach(|py| {
            let read = self.object.call_method1(py, "read", (AT_ONCE,))?;
            self.bytes.clear();
            self.bytes
                .extend_from_slice(read.cast_bound::<PyBytes>(py)?.as_bytes());
            self.at = 0;
            Ok(())
        })
    }
}

impl Read for PythonReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.bytes.len() {
            self.fill().map_err(|error| self.raised.keep(error))?;
        }
        let len = buffer.len().min(self.bytes.len() - self.at);
        buffer[..len].copy_from_slice(&self.bytes[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}
