//! Tables from and to pyarrow, without a copy.

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::ffi_stream::RecordBatchStreamReader;
use arrow::pyarrow::{FromPyArrow, IntoPyArrow, Table};
use coalescope_archive::{PointFile, file_ends};
use pyo3::prelude::*;

use crate::error::raised;

/// The batches of whatever can be read as a stream of Arrow: a table, a reader, a data frame.
pub(crate) fn batches(table: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    let reader = RecordBatchStreamReader::from_pyarrow_bound(table)?;
    let batches: Result<Vec<RecordBatch>, _> = reader.collect();
    batches.map_err(|error| raised(coalescope_archive::Error::from(error)))
}

/// Files of a table of files, or of several.
pub(crate) fn files(table: &Bound<'_, PyAny>) -> PyResult<Vec<PointFile>> {
    let mut files = Vec::new();
    for batch in batches(table)? {
        files.extend(file_ends(&batch).map_err(raised)?);
    }
    files.sort_by_key(|file: &PointFile| (file.place.point, file.place.file));
    Ok(files)
}

/// A table for pyarrow, with such columns where there are no batches. Whoever kept tables in between may call what is in a list
/// otherwise (Parquet does), and they go back as they came.
pub(crate) fn table<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyAny>> {
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    let table = Table::try_new(batches, schema);
    let table = table.map_err(|error| raised(coalescope_archive::Error::from(error)))?;
    table.into_pyarrow(py)
}

/// A reader for pyarrow, whose batches come when they are asked for.
pub(crate) fn reader<'py>(
    py: Python<'py>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    let batches: Box<dyn RecordBatchReader + Send> = Box::new(batches);
    batches.into_pyarrow(py)
}
