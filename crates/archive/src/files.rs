//! The table of files: what is known of each file besides its rows.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, UInt16Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, SchemaRef};
use coalescope_capture::rows::FileEnd;

use crate::columns::{column, named, schema};
use crate::error::Error;
use crate::place::Place;

/// Name of the table in errors.
const TABLE: &str = "files";

/// A file of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointFile {
    /// Its place.
    pub place: Place,
    /// Its number among the files of its point as they were given, from 0.
    pub given: u32,
    /// The facts at its end: number of frames, warnings.
    pub end: FileEnd,
}

impl PointFile {
    /// The entry of an unreadable file: its place is kept, and every trace of the archive has a warning.
    #[must_use]
    pub fn unreadable(place: Place, name: String, why: String) -> Self {
        let end = FileEnd {
            file: place.file,
            warnings: vec![why],
            name,
            ..FileEnd::default()
        };
        let given = place.file;
        Self { place, given, end }
    }
}

/// The facts at the end of each file of a point, in order.
pub(crate) fn ends_of<'a>(files: impl IntoIterator<Item = &'a PointFile>) -> Vec<FileEnd> {
    files.into_iter().map(|file| file.end.clone()).collect()
}

/// The columns of the table of files.
#[must_use]
pub fn files_schema() -> SchemaRef {
    let list = |of| DataType::List(Arc::new(Field::new_list_field(of, false)));
    let fields = [
        ("point", DataType::UInt16),
        ("point_name", DataType::Utf8),
        ("points", DataType::UInt16),
        ("shards", DataType::UInt32),
        ("file", DataType::UInt32),
        ("given", DataType::UInt32),
        ("name", DataType::Utf8),
        ("frames", DataType::UInt64),
        ("last_number", DataType::UInt64),
        ("first_ns", DataType::Int64),
        ("last_ns", DataType::Int64),
        ("back_ns", DataType::Int64),
        ("links", list(DataType::UInt16)),
        ("unreadable_bytes", DataType::UInt64),
        ("warnings", list(DataType::Utf8)),
    ];
    let fields = fields.map(|(name, of)| Field::new(name, of, false));
    schema(fields.to_vec())
}

/// The table of some files.
///
/// # Errors
///
/// Those of Arrow.
pub fn file_ends_batch(files: &[PointFile]) -> Result<RecordBatch, Error> {
    let strings = |of: fn(&PointFile) -> &String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(files.iter().map(of)))
    };
    let shorts = |of: fn(&PointFile) -> u16| numbers::<UInt16Type>(files, of);
    let words = |of: fn(&PointFile) -> u32| numbers::<UInt32Type>(files, of);
    let counts = |of: fn(&PointFile) -> u64| numbers::<UInt64Type>(files, of);
    let times = |of: fn(&PointFile) -> i64| numbers::<Int64Type>(files, of);
    let columns: Vec<ArrayRef> = vec![
        shorts(|file| file.place.point),
        strings(|file| &file.place.point_name),
        shorts(|file| file.place.points),
        words(|file| file.place.shards),
        words(|file| file.place.file),
        words(|file| file.given),
        strings(|file| &file.end.name),
        counts(|file| file.end.frames),
        counts(|file| file.end.last_number),
        times(|file| file.end.first_ns),
        times(|file| file.end.last_ns),
        times(|file| file.end.back_ns),
        links(files),
        counts(|file| file.end.unreadable_bytes),
        warnings(files),
    ];
    Ok(RecordBatch::try_new(files_schema(), columns)?)
}

fn numbers<T: ArrowPrimitiveType>(
    files: &[PointFile],
    of: fn(&PointFile) -> T::Native,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(files.iter().map(of)))
}

fn links(files: &[PointFile]) -> ArrayRef {
    let field = Field::new_list_field(DataType::UInt16, false);
    let mut lists = ListBuilder::new(UInt16Builder::new()).with_field(field);
    for file in files {
        lists.values().append_slice(&file.end.links);
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn warnings(files: &[PointFile]) -> ArrayRef {
    let field = Field::new_list_field(DataType::Utf8, false);
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(field);
    for file in files {
        for warning in &file.end.warnings {
            lists.values().append_value(warning);
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}

/// The files of a table.
///
/// # Errors
///
/// If a column is missing, or is of another type.
pub fn file_ends(batch: &RecordBatch) -> Result<Vec<PointFile>, Error> {
    let shorts = |name| column::<UInt16Type>(TABLE, batch, name);
    let words = |name| column::<UInt32Type>(TABLE, batch, name);
    let (points, all_points) = (shorts("point")?, shorts("points")?);
    let (shards, files) = (words("shards")?, words("file")?);
    let given = words("given")?;
    let point_names = array(batch, "point_name")?.as_string::<i32>();
    let ends = ends(batch)?;
    let place = |at: usize| Place {
        point: points[at],
        point_name: point_names.value(at).to_owned(),
        file: files[at],
        points: all_points[at],
        shards: shards[at],
    };
    let mut all = Vec::new();
    for (at, end) in ends.into_iter().enumerate() {
        let place = place(at);
        let end = FileEnd {
            file: place.file,
            ..end
        };
        let given = given[at];
        all.push(PointFile { place, given, end });
    }
    Ok(all)
}

fn ends(batch: &RecordBatch) -> Result<Vec<FileEnd>, Error> {
    let names = array(batch, "name")?.as_string::<i32>();
    let counts = |name| column::<UInt64Type>(TABLE, batch, name);
    let times = |name| column::<Int64Type>(TABLE, batch, name);
    let (frames, last_number) = (counts("frames")?, counts("last_number")?);
    let unreadable = counts("unreadable_bytes")?;
    let (first, last, back) = (times("first_ns")?, times("last_ns")?, times("back_ns")?);
    let links = array(batch, "links")?.as_list::<i32>();
    let warnings = array(batch, "warnings")?.as_list::<i32>();
    let end = |at: usize| FileEnd {
        name: names.value(at).to_owned(),
        file: 0,
        frames: frames[at],
        last_number: last_number[at],
        first_ns: first[at],
        last_ns: last[at],
        back_ns: back[at],
        links: links
            .value(at)
            .as_primitive::<UInt16Type>()
            .values()
            .to_vec(),
        unreadable_bytes: unreadable[at],
        warnings: strings(&warnings.value(at)),
    };
    Ok((0..batch.num_rows()).map(end).collect())
}

fn strings(array: &ArrayRef) -> Vec<String> {
    let all = array.as_string::<i32>().iter();
    all.flatten().map(str::to_owned).collect()
}

/// A column with the type of the schema.
fn array<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, Error> {
    let schema = files_schema();
    named(
        TABLE,
        batch,
        name,
        schema.field_with_name(name)?.data_type(),
    )
}
