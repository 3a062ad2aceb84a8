//! Captures to rows.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use coalescope_analysis::interrupt::Interrupt;
use coalescope_archive::{
    self as archive, Begin, MOST_SHARDS, Place, PointFile, Write, file_ends_batch, files_schema,
    rows_schema,
};
use pyo3::prelude::*;

use crate::attended::attended;
use crate::error::{Error, check_range, raised, unwritten};
use crate::reader::{Begun, Capture, Raised};
use crate::tables;

/// A capture that is being turned into rows: batches of one shard each, as pyarrow's.
#[pyclass(module = "coalescope")]
pub(crate) struct Digest {
    // Python may ask from any thread; one at a time reads.
    digest: Mutex<Option<archive::Digest>>,
    raised: Raised,
    file: Option<PointFile>,
}

#[pymethods]
impl Digest {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let digest = self.digest();
        let next = py.detach(|| digest.as_mut().and_then(Iterator::next));
        match next.transpose().map_err(raised)? {
            Some(batch) => Ok(Some(one(py, batch.rows)?)),
            None => {
                self.raised.check()?;
                self.finish();
                Ok(None)
            }
        }
    }

    /// All rows as a reader of pyarrow; the column `shard` tells them apart.
    fn reader<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        tables::reader(py, Stream(slf.unbind()))
    }

    /// What is left to say of the file: a table of files with one row, once all rows are read.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let file = self.file.as_ref().ok_or_else(|| {
            Error::new_err("what is left to say of a file is known once all of its rows are read")
        })?;
        of_file(py, file)
    }
}

impl Digest {
    fn digest(&mut self) -> &mut Option<archive::Digest> {
        self.digest
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&mut self) {
        if let Some(digest) = self.digest().take() {
            self.file = Some(digest.finish());
        }
    }
}

/// Rows for pyarrow's reader.
struct Stream(Py<Digest>);

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Python::attach(|py| {
            let mut digest = self.0.borrow_mut(py);
            let next = digest.digest().as_mut().and_then(Iterator::next);
            if next.is_none() {
                if let Err(error) = digest.raised.check() {
                    return Some(Err(ArrowError::ExternalError(Box::new(error))));
                }
                digest.finish();
            }
            let external = |error: archive::Error| ArrowError::ExternalError(Box::new(error));
            next.map(|batch| batch.map(|batch| batch.rows).map_err(external))
        })
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        rows_schema()
    }
}

fn one<'py>(py: Python<'py>, batch: RecordBatch) -> PyResult<Bound<'py, PyAny>> {
    use arrow::pyarrow::ToPyArrow;
    batch.to_pyarrow(py)
}

fn of_file<'py>(py: Python<'py>, file: &PointFile) -> PyResult<Bound<'py, PyAny>> {
    let batch = file_ends_batch(std::slice::from_ref(file)).map_err(raised)?;
    tables::table(py, files_schema(), vec![batch])
}

/// Turns a capture into rows. Nothing of other files is asked for: each may be digested anywhere.
#[pyfunction]
#[pyo3(signature = (capture, *, point_name, name = None, point = 0, file = 0, points = 1, shards = 16))]
pub(crate) fn digest(
    capture: Capture,
    point_name: String,
    name: Option<String>,
    point: u16,
    file: u32,
    points: u16,
    shards: u32,
) -> PyResult<Digest> {
    let place = place(point_name, (point, points), file, shards)?;
    let Begun {
        name,
        source,
        raised,
    } = capture.begin(name)?;
    Ok(Digest {
        digest: Mutex::new(Some(archive::digest(name, source, place))),
        raised,
        file: None,
    })
}

/// An archive that is being written to a folder of this machine.
#[pyclass(module = "coalescope")]
pub(crate) struct Archive {
    write: Option<Write>,
    shards: u32,
}

#[pymethods]
impl Archive {
    /// Begins one in a folder that is not there yet or empty; or goes on with one that was begun.
    #[new]
    #[pyo3(signature = (path, *, shards = 16, go_on = false))]
    fn new(path: PathBuf, shards: u32, go_on: bool) -> PyResult<Self> {
        check_shards(shards)?;
        let write = match go_on {
            true => Write::go_on(&path, shards),
            false => Write::begin(&path, shards),
        };
        Ok(Self {
            write: Some(write.map_err(unwritten)?),
            shards,
        })
    }

    /// Writes the rows of a capture; gives what is left to say of it, as a table of files with one row.
    #[pyo3(signature = (capture, *, point_name, name = None, point = 0, file = 0, points = 1))]
    #[expect(clippy::too_many_arguments, reason = "by keyword")]
    fn add<'py>(
        &self,
        py: Python<'py>,
        capture: Capture,
        point_name: String,
        name: Option<String>,
        point: u16,
        file: u32,
        points: u16,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut digest = digest(capture, point_name, name, point, file, points, self.shards)?;
        let (write, interrupt) = (self.open()?, Interrupt::default());
        let rows = digest.digest().take();
        let work = || Some(write.add(rows?, |_| !interrupt.is_set()));
        let done = attended(py, &interrupt, work)?;
        digest.raised.check()?;
        let file = done.ok_or_else(finished)?.map_err(unwritten)?;
        of_file(py, &file)
    }

    /// Writes the table of files, after which the archive is whole.
    fn finish(&mut self, files: &Bound<'_, PyAny>) -> PyResult<()> {
        let files = tables::files(files)?;
        let write = self.write.take().ok_or_else(finished)?;
        write.finish(&files).map_err(unwritten)
    }
}

impl Archive {
    fn open(&self) -> PyResult<&Write> {
        self.write.as_ref().ok_or_else(finished)
    }
}

/// What is said of a capture that could not be read at all.
#[pyfunction]
#[pyo3(signature = (why, *, point_name, name, point = 0, file = 0, points = 1, shards = 16))]
#[expect(clippy::too_many_arguments, reason = "by keyword")]
pub(crate) fn unreadable<'py>(
    py: Python<'py>,
    why: String,
    point_name: String,
    name: String,
    point: u16,
    file: u32,
    points: u16,
    shards: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let place = place(point_name, (point, points), file, shards)?;
    of_file(py, &PointFile::unreadable(place, name, why))
}

/// Where a file stands: at a point of so many.
fn place(
    point_name: String,
    (point, points): (u16, u16),
    file: u32,
    shards: u32,
) -> PyResult<Place> {
    check_shards(shards)?;
    check_range("points", points.into(), u16::MAX.into())?;
    check_range("point + 1", u64::from(point) + 1, points.into())?;
    Ok(Place {
        point,
        point_name,
        file,
        points,
        shards,
    })
}

fn check_shards(shards: u32) -> PyResult<()> {
    check_range("shards", shards.into(), MOST_SHARDS.into())
}

fn finished() -> PyErr {
    Error::new_err("this archive is finished: begin another one")
}

/// How a capture begins: time of its first frame in nanoseconds since 1970, number of the link type, and a number by which
/// copies are known; `None` without frames.
#[pyfunction]
#[pyo3(signature = (capture, name = None))]
pub(crate) fn how_it_begins(capture: Capture, name: Option<String>) -> PyResult<Began> {
    let begun = capture.begin(name)?;
    let Begin { name, first, mark } = Begin::of(begun.name, begun.source);
    begun.raised.check()?;
    Ok((name, first.map(|(time_ns, link)| (time_ns, link, mark))))
}

/// What Python says of how a capture begins.
type Began = (String, Option<(i64, u16, Option<u64>)>);

/// Raises all that cannot be right in how the captures of points begin, a line each.
#[pyfunction]
pub(crate) fn check_begins(points: Vec<(String, Vec<Began>)>) -> PyResult<()> {
    let begin = |(name, first): Began| Begin {
        name,
        first: first.map(|(time_ns, link, _)| (time_ns, link)),
        mark: first.and_then(|(.., mark)| mark),
    };
    let points = points.into_iter();
    let points: Vec<_> = points
        .map(|(name, files)| (name, files.into_iter().map(begin).collect()))
        .collect();
    archive::check(&points).map_err(raised)
}
