//! Errors, in the words of the command.

use coalescope_report::with_causes;
use pyo3::exceptions::PyException;
use pyo3::{PyErr, PyResult};

pyo3::create_exception!(
    coalescope,
    Error,
    PyException,
    "What could not be done, where, and what to do about it: in the words of the command."
);

pyo3::create_exception!(
    coalescope,
    Together,
    Error,
    "Shards that have to be followed together."
);

pyo3::create_exception!(
    coalescope,
    Unwritten,
    Error,
    "An archive that cannot be written: a capture is not to blame, and may be tried again."
);

/// An error of writing an archive, for Python.
pub(crate) fn unwritten(error: coalescope_archive::Error) -> PyErr {
    use coalescope_archive::Error as Failed;
    match error {
        Failed::Io { .. } | Failed::Parquet { .. } | Failed::Arrow(_) => {
            Unwritten::new_err(with_causes(&error))
        }
        other => raised(other),
    }
}

/// Refuses a number that the command refuses.
pub(crate) fn check_range(name: &str, number: u64, most: u64) -> PyResult<()> {
    match (1..=most).contains(&number) {
        true => Ok(()),
        false => Err(Error::new_err(format!(
            "{name}: {number} is not in 1..={most}"
        ))),
    }
}

/// An error of any room, for Python.
pub(crate) fn raised(error: impl Into<coalescope_analysis::Error>) -> PyErr {
    let error = error.into();
    let words = with_causes(&error);
    match error {
        coalescope_analysis::Error::Archive(coalescope_archive::Error::Together) => {
            Together::new_err(words)
        }
        _ => Error::new_err(words),
    }
}
