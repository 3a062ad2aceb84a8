//! Rows to facts, facts to a verdict.

use std::path::PathBuf;

use coalescope_analysis::interrupt::Interrupt;
use coalescope_analysis::task;
use coalescope_archive::{self as archive, Folder, PointFile};
use coalescope_capture::Options;
use coalescope_report::Report as TraceReport;
use pyo3::prelude::*;

use crate::attended::attended;
use crate::error::raised;
use crate::report::Report;
use crate::tables::{self, batches};

/// Facts of one shard, or of several: tables of pyarrow.
#[pyclass(module = "coalescope", frozen)]
pub(crate) struct Facts(archive::Facts);

#[pymethods]
impl Facts {
    /// Facts from tables that were kept.
    #[new]
    fn new(
        points: &Bound<'_, PyAny>,
        connections: &Bound<'_, PyAny>,
        hops: &Bound<'_, PyAny>,
        datagram_hops: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        Ok(Self(archive::Facts {
            points: batches(points)?,
            connections: batches(connections)?,
            hops: batches(hops)?,
            datagram_hops: batches(datagram_hops)?,
        }))
    }

    /// A row for each point, or for each shard that was followed by itself.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        tables::table(py, archive::Facts::points_schema(), self.0.points.clone())
    }

    /// A row for each connection at a point.
    #[getter]
    fn connections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let schema = archive::Facts::connections_schema();
        tables::table(py, schema, self.0.connections.clone())
    }

    /// A row for each hop and direction.
    #[getter]
    fn hops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        tables::table(py, archive::Facts::hops_schema(), self.0.hops.clone())
    }

    /// The same of UDP datagrams.
    #[getter]
    fn datagram_hops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let schema = archive::Facts::datagram_hops_schema();
        tables::table(py, schema, self.0.datagram_hops.clone())
    }

    /// Tables can be sent to another process.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Tables<'py>)> {
        let (py, facts) = (slf.py(), slf.get());
        // pickle takes a tuple; an array would become a list.
        let tables = (
            facts.points(py)?,
            facts.connections(py)?,
            facts.hops(py)?,
            facts.datagram_hops(py)?,
        );
        Ok((slf.get_type().into_any(), tables))
    }
}

/// The tables of facts, as `Facts` takes them.
type Tables<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
);

/// An archive by its folder, or its table of files.
#[derive(FromPyObject)]
pub(crate) enum Files<'py> {
    Folder(PathBuf),
    Table(Bound<'py, PyAny>),
}

impl Files<'_> {
    fn files(&self) -> PyResult<Vec<PointFile>> {
        match self {
            Self::Folder(path) => Ok(Folder::open(path).map_err(raised)?.files().to_vec()),
            Self::Table(table) => tables::files(table),
        }
    }
}

/// Rows: a folder with an archive, or what can be read as a stream of Arrow.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    Folder(PathBuf),
    Table(Bound<'py, PyAny>),
}

/// What has to be followed together: each shard of an archive by itself, or `None`, all of them.
#[pyfunction]
pub(crate) fn parts(archive: PathBuf) -> PyResult<Vec<Option<u32>>> {
    Ok(archive::parts(&Folder::open(&archive).map_err(raised)?))
}

/// The facts of a shard; without one, those of all shards followed together.
#[pyfunction]
#[pyo3(signature = (rows, files = None, *, shard = None))]
pub(crate) fn facts(
    py: Python<'_>,
    rows: Rows<'_>,
    files: Option<Files<'_>>,
    shard: Option<u32>,
) -> PyResult<Facts> {
    let interrupt = Interrupt::default();
    // One shard takes one thread. Of all, rows of each point are read by one, while another follows connections: no other
    // shard is to be followed then.
    let options = Options {
        threads: task::threads(None),
        stop: interrupt.flag(),
        ..Options::default()
    };
    let followed = match rows {
        Rows::Folder(path) => attended(py, &interrupt, || {
            archive::facts(&Folder::open(&path)?, shard, &options)
        }),
        Rows::Table(table) => {
            let rows = batches(&table)?;
            let files = files.as_ref().map(Files::files).transpose()?;
            let files = files.unwrap_or_default();
            attended(py, &interrupt, || {
                archive::facts_of(&rows, &files, shard, &options)
            })
        }
    };
    followed?.map(Facts).map_err(raised)
}

/// Judges the facts of all shards, once.
#[pyfunction]
pub(crate) fn judge(
    py: Python<'_>,
    facts: Vec<PyRef<'_, Facts>>,
    files: Files<'_>,
) -> PyResult<Report> {
    let mut all = archive::Facts::default();
    for some in facts {
        all.add(some.0.clone());
    }
    let files = files.files()?;
    let judged = attended(py, &Interrupt::default(), || archive::judge(&all, &files))?;
    let judged = judged.map_err(raised)?;
    Ok(Report(TraceReport::new(judged.trace, judged.diagnosis)))
}
