//! The table of files: what is left to say of each when its rows are there.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListBuilder, PrimitiveArray, RecordBatch, StringArray, StringBuilder,
    UInt16Builder,
};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Field, Int64Type, Schema, SchemaRef, UInt16Type, UInt32Type,
    UInt64Type,
};
use coalescope_capture::rows::FileEnd;

use crate::columns::SCHEMA;

use crate::error::Error;
use crate::place::Place;

/// A file of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointFile {
    /// Where it stands.
    pub place: Place,
    /// What is left to say of it.
    pub end: FileEnd,
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
    let (key, value) = SCHEMA;
    let said = HashMap::from([(key.to_owned(), value.to_owned())]);
    Arc::new(Schema::new_with_metadata(fields.to_vec(), said))
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
    let points = column::<UInt16Type>(batch, "point")?;
    let point_names = array(batch, "point_name")?.as_string::<i32>();
    let all_points = column::<UInt16Type>(batch, "points")?;
    let shards = column::<UInt32Type>(batch, "shards")?;
    let files = column::<UInt32Type>(batch, "file")?;
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
        all.push(PointFile { place, end });
    }
    Ok(all)
}

fn ends(batch: &RecordBatch) -> Result<Vec<FileEnd>, Error> {
    let names = array(batch, "name")?.as_string::<i32>();
    let [frames, unreadable] = ["frames", "unreadable_bytes"];
    let frames = column::<UInt64Type>(batch, frames)?;
    let last_number = column::<UInt64Type>(batch, "last_number")?;
    let unreadable = column::<UInt64Type>(batch, unreadable)?;
    let [first, last, back] = ["first_ns", "last_ns", "back_ns"];
    let first = column::<Int64Type>(batch, first)?;
    let last = column::<Int64Type>(batch, last)?;
    let back = column::<Int64Type>(batch, back)?;
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

/// A column without gaps, of the type that the schema says.
fn array<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, Error> {
    let schema = files_schema();
    let wanted = schema.field_with_name(name)?.data_type();
    let found = batch.column_by_name(name);
    let right =
        found.filter(|array| array.null_count() == 0 && array.data_type().equals_datatype(wanted));
    right.ok_or_else(|| Error::Column {
        table: "files",
        column: name.to_owned(),
        wanted: wanted.to_string(),
    })
}

fn column<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
) -> Result<ScalarBuffer<T::Native>, Error> {
    Ok(array(batch, name)?.as_primitive::<T>().values().clone())
}
