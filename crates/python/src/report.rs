//! Reports: what the command prints, in the forms in which it prints it.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use coalescope_report::{
    CheckReport, Document, Is, Made, Report as TraceReport, Source, TextOptions,
};
use pyo3::prelude::*;

use crate::error::Error;

/// Columns of text, unless told otherwise.
const WIDTH: usize = 100;

/// What `coalescope trace` says of captures.
#[pyclass(module = "coalescope", frozen)]
pub(crate) struct Report(pub(crate) TraceReport);

/// What `coalescope check` says of hosts.
#[pyclass(module = "coalescope", frozen)]
pub(crate) struct Check(pub(crate) CheckReport);

/// Methods of a class: what every report has, and its own. A class has one block of them.
macro_rules! methods {
    ($class:ident { $($own:tt)* }) => {
        #[pymethods]
        impl $class {
            $($own)*

            /// What was left out or looked odd.
            #[getter]
            fn warnings(&self) -> Vec<String> {
                self.0.warnings()
            }

            /// The document that `--format json` prints.
            fn json(&self) -> PyResult<String> {
                json(&self.0)
            }

            /// The same as a dict.
            fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                to_dict(py, &self.0)
            }

            /// The text for people.
            #[pyo3(signature = (width = WIDTH))]
            fn text(&self, width: usize) -> PyResult<String> {
                text(&self.0, width)
            }

            /// The page that `--report` writes, without pictures of single connections.
            #[pyo3(signature = (made_by, sources = Vec::new()))]
            fn html(&self, made_by: String, sources: Vec<(String, String)>) -> PyResult<String> {
                html(&self.0, made_by, sources)
            }

            fn __str__(&self) -> PyResult<String> {
                text(&self.0, WIDTH)
            }
        }
    };
}

methods! {
    Report {
        /// The verdict, in one to three sentences.
        #[getter]
        fn verdict(&self) -> &str {
            &self.0.diagnosis().verdict.text
        }

        /// Whether anything was found that network or host does wrong.
        #[getter]
        fn has_findings(&self) -> bool {
            self.0.has_findings()
        }

        /// The rows that `--format csv` prints.
        fn csv(&self) -> PyResult<String> {
            written(|out| self.0.write_csv(out))
        }
    }
}

methods! {
    Check {
        /// Whether anything was found.
        #[getter]
        fn has_findings(&self) -> bool {
            self.0.blames().next().is_some()
        }
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> PyResult<String> {
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    String::from_utf8(bytes).map_err(|error| Error::new_err(error.to_string()))
}

fn json(report: &dyn Document) -> PyResult<String> {
    written(|out| report.write_compact_json(out))
}

fn to_dict<'py>(py: Python<'py>, report: &dyn Document) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json(report)?,))
}

fn text(report: &dyn Document, width: usize) -> PyResult<String> {
    let options = TextOptions {
        connections: None,
        colour: false,
        width,
        brief: false,
    };
    written(|out| report.write_text(out, &options))
}

fn html(
    report: &dyn Document,
    command: String,
    sources: Vec<(String, String)>,
) -> PyResult<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let source = |(name, why)| Source {
        about: None,
        name,
        is: Is::Other(why),
    };
    let made = Made {
        command,
        at_unix_s: now.map_or(0, |since| since.as_secs()),
        sources: sources.into_iter().map(source).collect(),
    };
    written(|out| report.write_html(&made, out))
}
