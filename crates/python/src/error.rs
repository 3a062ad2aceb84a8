//! Errors, in the words of the command.

use coalescope_report::with_causes;
use pyo3::PyErr;
use pyo3::exceptions::PyException;

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
