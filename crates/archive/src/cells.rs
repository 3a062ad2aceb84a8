//! Plain data as columns, and back. A record is an Arrow struct with the record's fields.
//!
//! Reading a column never panics: cells from which no record can be made give `None`.

use std::net::IpAddr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int64Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, ListArray, PrimitiveArray, StructArray, make_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field};

/// A type that a column can hold.
pub(crate) trait Cell: Sized {
    /// Whether a cell may be null.
    const NULLABLE: bool = false;

    /// The column's type.
    fn data_type() -> DataType;

    /// A column of cells.
    fn array<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Result<ArrayRef, ArrowError>
    where
        Self: 'a;

    /// A cell of a column; `None` if the column has another type.
    fn get(column: &dyn Array, at: usize) -> Option<Self>;
}

macro_rules! numbers {
    ($($native:ty: $type:ty;)*) => {$(
        impl Cell for $native {
            fn data_type() -> DataType {
                <$type>::DATA_TYPE
            }

            fn array<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Result<ArrayRef, ArrowError> {
                Ok(Arc::new(PrimitiveArray::<$type>::from_iter_values(cells.copied())))
            }

            fn get(column: &dyn Array, at: usize) -> Option<Self> {
                column.as_primitive_opt::<$type>().map(|column| column.value(at))
            }
        }
    )*};
}

numbers! {
    u16: UInt16Type;
    u32: UInt32Type;
    u64: UInt64Type;
    i64: Int64Type;
    f64: Float64Type;
}

impl Cell for bool {
    fn data_type() -> DataType {
        DataType::Boolean
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(BooleanArray::from_iter(
            cells.map(|cell| Some(*cell)),
        )))
    }

    fn get(column: &dyn Array, at: usize) -> Option<Self> {
        column.as_boolean_opt().map(|column| column.value(at))
    }
}

/// Types that are written as text, and parsed again.
macro_rules! texts {
    ($($type:ty: $to:expr, $from:expr;)*) => {$(
        impl $crate::cells::Cell for $type {
            fn data_type() -> arrow_schema::DataType {
                arrow_schema::DataType::Utf8
            }

            fn array<'a>(
                cells: impl Iterator<Item = &'a Self> + Clone,
            ) -> Result<arrow_array::ArrayRef, arrow_schema::ArrowError> {
                let texts = arrow_array::StringArray::from_iter_values(cells.map($to));
                Ok(std::sync::Arc::new(texts))
            }

            fn get(column: &dyn arrow_array::Array, at: usize) -> Option<Self> {
                use arrow_array::cast::AsArray;
                ($from)(column.as_string_opt::<i32>()?.value(at))
            }
        }
    )*};
}
pub(crate) use texts;

texts! {
    String: String::as_str, |text: &str| Some(text.to_owned());
    IpAddr: ToString::to_string, |text: &str| text.parse().ok();
}

impl<T: Cell + Default> Cell for Option<T> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        T::data_type()
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Result<ArrayRef, ArrowError>
    where
        Self: 'a,
    {
        let nothing = T::default();
        let nulls = NullBuffer::from_iter(cells.clone().map(Option::is_some));
        let values = T::array(cells.map(|cell| cell.as_ref().unwrap_or(&nothing)))?;
        let data = values.to_data().into_builder().nulls(Some(nulls));
        Ok(make_array(data.build()?))
    }

    fn get(column: &dyn Array, at: usize) -> Option<Self> {
        if column.is_null(at) {
            return Some(None);
        }
        T::get(column, at).map(Some)
    }
}

impl<T: Cell> Cell for Box<T> {
    fn data_type() -> DataType {
        T::data_type()
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Result<ArrayRef, ArrowError>
    where
        Self: 'a,
    {
        T::array(cells.map(|cell| &**cell))
    }

    fn get(column: &dyn Array, at: usize) -> Option<Self> {
        T::get(column, at).map(Box::new)
    }
}

impl<T: Cell> Cell for Vec<T> {
    fn data_type() -> DataType {
        DataType::List(item::<T>())
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Result<ArrayRef, ArrowError>
    where
        Self: 'a,
    {
        list(cells.map(Vec::as_slice))
    }

    fn get(column: &dyn Array, at: usize) -> Option<Self> {
        let values = column.as_list_opt::<i32>()?.value(at);
        (0..values.len()).map(|at| T::get(&values, at)).collect()
    }
}

fn item<T: Cell>() -> Arc<Field> {
    Arc::new(Field::new_list_field(T::data_type(), T::NULLABLE))
}

/// A column of lists.
fn list<'a, T: Cell + 'a>(
    cells: impl Iterator<Item = &'a [T]> + Clone,
) -> Result<ArrayRef, ArrowError> {
    let offsets = OffsetBuffer::from_lengths(cells.clone().map(<[T]>::len));
    let values = T::array(cells.flatten())?;
    let lists = ListArray::try_new(item::<T>(), offsets, values, None)?;
    Ok(Arc::new(lists))
}

impl<T: Cell, const LEN: usize> Cell for [T; LEN] {
    fn data_type() -> DataType {
        Vec::<T>::data_type()
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Result<ArrayRef, ArrowError>
    where
        Self: 'a,
    {
        list(cells.map(<[T; LEN]>::as_slice))
    }

    fn get(column: &dyn Array, at: usize) -> Option<Self> {
        Vec::get(column, at)?.try_into().ok()
    }
}

/// A record: plain data that has columns.
pub(crate) trait Record: Sized {
    /// Its columns.
    fn fields() -> Vec<Field>;

    /// The columns of several records.
    fn columns<'a>(
        records: impl Iterator<Item = &'a Self> + Clone,
    ) -> Result<Vec<ArrayRef>, ArrowError>
    where
        Self: 'a;

    /// A record of these columns; `None` if the columns have other types.
    fn nth(columns: &[ArrayRef], at: usize) -> Option<Self>;
}

/// Implements `Record` for types, with their fields in the order of the columns. A missing field does not compile.
macro_rules! records {
    ($($type:ty { $($field:ident: $of:ty),* $(,)? })*) => {$(
        impl $crate::cells::Record for $type {
            fn fields() -> Vec<arrow_schema::Field> {
                vec![$(arrow_schema::Field::new(
                    stringify!($field),
                    <$of as $crate::cells::Cell>::data_type(),
                    <$of as $crate::cells::Cell>::NULLABLE,
                ),)*]
            }

            fn columns<'a>(
                records: impl Iterator<Item = &'a Self> + Clone,
            ) -> Result<Vec<arrow_array::ArrayRef>, arrow_schema::ArrowError> {
                Ok(vec![$(
                    <$of as $crate::cells::Cell>::array(records.clone().map(|record| &record.$field))?,
                )*])
            }

            fn nth(columns: &[arrow_array::ArrayRef], at: usize) -> Option<Self> {
                let mut columns = columns.iter();
                Some(Self {
                    $($field: <$of as $crate::cells::Cell>::get(columns.next()?, at)?,)*
                })
            }
        }

        impl $crate::cells::Cell for $type {
            fn data_type() -> arrow_schema::DataType {
                arrow_schema::DataType::Struct(<Self as $crate::cells::Record>::fields().into())
            }

            fn array<'a>(
                cells: impl Iterator<Item = &'a Self> + Clone,
            ) -> Result<arrow_array::ArrayRef, arrow_schema::ArrowError> {
                $crate::cells::structs(cells)
            }

            fn get(column: &dyn arrow_array::Array, at: usize) -> Option<Self> {
                use arrow_array::cast::AsArray;
                <Self as $crate::cells::Record>::nth(column.as_struct_opt()?.columns(), at)
            }
        }
    )*};
}
pub(crate) use records;

/// A column of records.
pub(crate) fn structs<'a, T: Record + 'a>(
    records: impl Iterator<Item = &'a T> + Clone,
) -> Result<ArrayRef, ArrowError> {
    let columns = T::columns(records)?;
    Ok(Arc::new(StructArray::try_new(
        T::fields().into(),
        columns,
        None,
    )?))
}
