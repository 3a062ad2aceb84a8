//! Rows as columns, and back.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, PrimitiveArray, RecordBatch,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use coalescope_capture::rows::{Checksum, Ends, Kind, Row};

use crate::error::Error;
use crate::place::Place;

/// Name of the table in errors.
const TABLE: &str = "rows";
/// Key and value of the schema's metadata.
pub(crate) const SCHEMA: (&str, &str) = ("coalescope", "coalescope/digest/1");
/// The column of both ends, and its bytes.
pub(crate) const ENDS: (&str, i32) = ("ends", 40);
/// Rows that may be added before the caller sees that a batch is full.
const SPARE: usize = 128;
/// Bytes of a payload's beginning.
const HEAD: usize = 16;

/// Numeric columns: name, Arrow type, native type, how to read the value from a row, and how to write it into one.
macro_rules! numbers {
    ($($name:ident: $type:ty, $native:ty, $from:expr, $to:expr;)*) => {
        /// Numeric columns that are being filled.
        #[derive(Default)]
        struct Numbers { $($name: Vec<$native>,)* }

        impl Numbers {
            fn with_room(rows: usize) -> Self {
                Self { $($name: Vec::with_capacity(rows),)* }
            }

            #[inline]
            fn push(&mut self, row: &Row) {
                $(self.$name.push(($from as fn(&Row) -> $native)(row));)*
            }

            fn arrays(self) -> Vec<ArrayRef> {
                vec![$(Arc::new(PrimitiveArray::<$type>::new(self.$name.into(), None)) as ArrayRef,)*]
            }

            fn fields() -> Vec<Field> {
                vec![$(Field::new(stringify!($name), <$type>::DATA_TYPE, false),)*]
            }
        }

        /// Numeric columns of a batch.
        struct NumberViews { $($name: ScalarBuffer<$native>,)* }

        impl NumberViews {
            fn of(batch: &RecordBatch) -> Result<Self, Error> {
                Ok(Self { $($name: column::<$type>(TABLE, batch, stringify!($name))?,)* })
            }

            #[inline]
            fn read(&self, at: usize, row: &mut Row) {
                $(($to as fn(&mut Row, $native))(row, self.$name[at]);)*
            }
        }
    };
}

numbers! {
    file: UInt32Type, u32, |row| row.file, |row, it| row.file = it;
    number: UInt64Type, u64, |row| row.number, |row, it| row.number = it;
    time: TimestampNanosecondType, i64, |row| row.time_ns, |row, it| row.time_ns = it;
    interface: UInt8Type, u8, |row| row.interface, |row, it| row.interface = it;
    link: UInt16Type, u16, |row| row.link, |row, it| row.link = it;
    kind: UInt8Type, u8, |row| row.kind as u8, |row, it| row.kind = nth(Kind::ALL, it);
    bytes: UInt32Type, u32, |row| row.bytes, |row, it| row.bytes = it;
    marks: UInt8Type, u8, |row| row.marks, |row, it| row.marks = it;
    seq: UInt32Type, u32, |row| row.seq, |row, it| row.seq = it;
    ack: UInt32Type, u32, |row| row.ack, |row, it| row.ack = it;
    tsval: UInt32Type, u32, |row| row.tsval, |row, it| row.tsval = it;
    tsecr: UInt32Type, u32, |row| row.tsecr, |row, it| row.tsecr = it;
    payload: UInt32Type, u32, |row| row.payload, |row, it| row.payload = it;
    flags: UInt16Type, u16, |row| row.flags, |row, it| row.flags = it;
    window: UInt16Type, u16, |row| row.window, |row, it| row.window = it;
    ip_id: UInt16Type, u16, |row| row.id, |row, it| row.id = it;
    ttl: UInt8Type, u8, |row| row.ttl, |row, it| row.ttl = it;
    tcp_header: UInt8Type, u8, |row| row.tcp_header, |row, it| row.tcp_header = it;
    checksum: UInt8Type, u8, |row| row.checksum as u8, |row, it| row.checksum = nth(Checksum::ALL, it);
}

fn below(numbers: &[u8], limit: usize) -> bool {
    numbers.iter().all(|number| usize::from(*number) < limit)
}

/// The value of a number; a number beyond the last gives the default, which stands for unknown.
fn nth<T: Copy + Default, const COUNT: usize>(all: [T; COUNT], number: u8) -> T {
    all.get(usize::from(number)).copied().unwrap_or_default()
}

/// The columns of rows: their place, their number in the order of frames, and the kept fields of each frame.
#[must_use]
pub fn rows_schema() -> SchemaRef {
    let mut fields = vec![
        Field::new("shard", DataType::UInt32, false),
        Field::new("point", DataType::UInt16, false),
    ];
    fields.extend(Numbers::fields());
    fields.extend([
        Field::new(ENDS.0, DataType::FixedSizeBinary(ENDS.1), false),
        Field::new("head", DataType::Binary, false),
        Field::new("rest", DataType::Binary, false),
    ]);
    schema(fields)
}

/// A schema with this crate's metadata.
pub(crate) fn schema(fields: Vec<Field>) -> SchemaRef {
    let (key, value) = SCHEMA;
    let said = HashMap::from([(key.to_owned(), value.to_owned())]);
    Arc::new(Schema::new_with_metadata(fields, said))
}

/// Checks that a table was written in a format that is read here. Programs that rewrite tables may leave the format's name out.
pub(crate) fn check_version(path: &Path, schema: &SchemaRef) -> Result<(), Error> {
    let (key, value) = SCHEMA;
    let other = schema.metadata().get(key).filter(|found| *found != value);
    other.map_or(Ok(()), |found| {
        Err(Error::Version {
            path: path.to_owned(),
            found: found.clone(),
        })
    })
}

/// Byte strings that are being filled.
struct Strings {
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl Strings {
    fn with_room(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self {
            ends,
            bytes: Vec::new(),
        }
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len() as i32);
    }

    fn array(self) -> Result<ArrayRef, ArrowError> {
        let offsets = OffsetBuffer::new(self.ends.into());
        Ok(Arc::new(BinaryArray::try_new(
            offsets,
            self.bytes.into(),
            None,
        )?))
    }
}

/// Rows of one shard and point that will become a batch.
pub(crate) struct RowColumns {
    shard: u32,
    point: u16,
    room: usize,
    numbers: Numbers,
    ends: Vec<u8>,
    heads: Strings,
    rests: Strings,
}

impl RowColumns {
    pub(crate) fn new(shard: u32, point: u16, room: usize) -> Self {
        Self {
            shard,
            point,
            room,
            numbers: Numbers::with_room(room + SPARE),
            ends: Vec::with_capacity((room + SPARE) * ENDS.1 as usize),
            heads: Strings::with_room(room + SPARE),
            rests: Strings::with_room(room + SPARE),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, row: &Row) {
        self.numbers.push(row);
        self.ends.extend_from_slice(&row.ends.0);
        self.heads.push(&row.head[..usize::from(row.head_len)]);
        self.rests.push(&row.rest);
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.number.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.room
    }

    /// The rows as a batch; no rows are left.
    pub(crate) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let empty = Self::new(self.shard, self.point, self.room);
        let rows = self.len();
        let full = std::mem::replace(self, empty);
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(PrimitiveArray::<UInt32Type>::from_value(full.shard, rows)),
            Arc::new(PrimitiveArray::<UInt16Type>::from_value(full.point, rows)),
        ];
        arrays.extend(full.numbers.arrays());
        let ends = Buffer::from_vec(full.ends);
        arrays.push(Arc::new(FixedSizeBinaryArray::try_new(ENDS.1, ends, None)?));
        arrays.push(full.heads.array()?);
        arrays.push(full.rests.array()?);
        RecordBatch::try_new(rows_schema(), arrays)
    }
}

/// The columns of a batch of rows.
pub struct RowViews {
    len: usize,
    points: ScalarBuffer<u16>,
    numbers: NumberViews,
    ends: BinaryArray,
    heads: BinaryArray,
    rests: BinaryArray,
}

impl RowViews {
    /// Opens a batch of rows; columns besides those of rows are ignored.
    ///
    /// # Errors
    ///
    /// If a column is missing, or is of another type.
    pub fn of(batch: &RecordBatch) -> Result<Self, Error> {
        let string = |name| {
            let array = named(TABLE, batch, name, &DataType::Binary)?;
            Ok::<_, Error>(array.as_binary::<i32>().clone())
        };
        Ok(Self {
            len: batch.num_rows(),
            points: column::<UInt16Type>(TABLE, batch, "point")?,
            numbers: NumberViews::of(batch)?,
            ends: ends(batch)?,
            heads: string("head")?,
            rests: string("rest")?,
        })
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The point's number of a row.
    #[must_use]
    pub fn point(&self, at: usize) -> u16 {
        self.points[at]
    }

    /// The file's number and the frame's number of a row, which order the rows of a point.
    #[must_use]
    pub fn place(&self, at: usize) -> (u32, u64) {
        (self.numbers.file[at], self.numbers.number[at])
    }

    /// What shows that these are not the next rows of a file, behind a frame's number.
    pub(crate) fn misplaced(&self, place: &Place, behind: u64) -> Option<&'static str> {
        let numbers = &self.numbers;
        let is_of_file = self.points.iter().all(|point| *point == place.point)
            && numbers.file.iter().all(|file| *file == place.file);
        if !is_of_file {
            return Some("rows of another file");
        }
        let first = numbers.number.first().is_none_or(|first| *first > behind);
        if !first || !numbers.number.is_sorted_by(|one, next| one < next) {
            return Some("rows that are not in order");
        }
        let is_known =
            below(&numbers.kind, Kind::ALL.len()) && below(&numbers.checksum, Checksum::ALL.len());
        let are_whole = self
            .ends
            .offsets()
            .windows(2)
            .all(|of| of[1] - of[0] == ENDS.1);
        (!is_known || !are_whole).then_some("rows with numbers that mean nothing")
    }

    /// Whether any row is of a fragment of an IP datagram.
    #[must_use]
    pub fn has_fragments(&self) -> bool {
        let kinds = self.numbers.kind.iter();
        kinds
            .map(|kind| nth(Kind::ALL, *kind))
            .any(Kind::is_fragment)
    }

    /// Reads a row of the batch into `row`.
    #[inline]
    pub fn read(&self, at: usize, row: &mut Row) {
        self.numbers.read(at, row);
        row.ends = self
            .ends
            .value(at)
            .try_into()
            .map_or_else(|_| Ends::default(), Ends);
        let head = self.heads.value(at);
        let len = head.len().min(HEAD);
        row.head = [0; HEAD];
        row.head[..len].copy_from_slice(&head[..len]);
        row.head_len = len as u8;
        row.rest.clear();
        row.rest.extend_from_slice(self.rests.value(at));
    }
}

/// The column of both ends, each of a length of its own: Parquet's writer copies every value of a fixed length, and takes
/// slices of others.
fn ends(batch: &RecordBatch) -> Result<BinaryArray, Error> {
    if let Ok(stored) = named(TABLE, batch, ENDS.0, &DataType::Binary) {
        return Ok(stored.as_binary().clone());
    }
    let array = named(TABLE, batch, ENDS.0, &DataType::FixedSizeBinary(ENDS.1))?;
    let fixed = array.as_fixed_size_binary();
    let offsets = OffsetBuffer::try_from_repeated_length(ENDS.1 as usize, fixed.len());
    let offsets = offsets.map_err(|error| ArrowError::InvalidArgumentError(error.to_string()))?;
    let (_, values, _) = fixed.clone().into_parts();
    Ok(BinaryArray::try_new(offsets, values, None)?)
}

/// Rows as they are stored: without the column `shard`, which is in the folder's name.
pub(crate) fn stored(rows: &RecordBatch) -> Result<RecordBatch, Error> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in rows.schema().fields().iter().zip(rows.columns()).skip(1) {
        if field.name() == ENDS.0 {
            fields.push(Field::new(ENDS.0, DataType::Binary, false));
            columns.push(Arc::new(ends(rows)?) as ArrayRef);
        } else {
            fields.push(field.as_ref().clone());
            columns.push(Arc::clone(column));
        }
    }
    Ok(RecordBatch::try_new(schema(fields), columns)?)
}

/// A column without nulls, of this type; `table` is for the error.
pub(crate) fn named<'a>(
    table: &'static str,
    batch: &'a RecordBatch,
    name: &str,
    wanted: &DataType,
) -> Result<&'a ArrayRef, Error> {
    let found = batch.column_by_name(name);
    let right =
        found.filter(|array| array.null_count() == 0 && array.data_type().equals_datatype(wanted));
    right.ok_or_else(|| Error::Column {
        table,
        column: name.to_owned(),
        wanted: wanted.to_string(),
    })
}

/// A numeric column without nulls.
pub(crate) fn column<T: ArrowPrimitiveType>(
    table: &'static str,
    batch: &RecordBatch,
    name: &str,
) -> Result<ScalarBuffer<T::Native>, Error> {
    let array = named(table, batch, name, &T::DATA_TYPE)?;
    Ok(array.as_primitive::<T>().values().clone())
}
