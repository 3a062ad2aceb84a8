//! The tables of facts.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, SchemaRef};
use coalescope_capture::facts::{DatagramHop, Hop};

use super::records::{Placed, PointFacts};
use crate::cells::Record;
use crate::columns::schema;
use crate::error::Error;

/// Connections in a batch.
const ROWS: usize = 4096;

/// Facts as tables; docs/archive.md describes the columns. Facts of several shards can be added up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// A row for each point, or for each shard that was followed by itself.
    pub points: Vec<RecordBatch>,
    /// A row for each connection at a point.
    pub connections: Vec<RecordBatch>,
    /// A row for each hop and direction.
    pub hops: Vec<RecordBatch>,
    /// A row for each hop and direction of UDP datagrams.
    pub datagram_hops: Vec<RecordBatch>,
}

impl Facts {
    /// Columns of `points`.
    #[must_use]
    pub fn points_schema() -> SchemaRef {
        schema(PointFacts::fields())
    }

    /// Columns of `connections`.
    #[must_use]
    pub fn connections_schema() -> SchemaRef {
        schema(Placed::fields())
    }

    /// Columns of `hops`.
    #[must_use]
    pub fn hops_schema() -> SchemaRef {
        schema(Hop::fields())
    }

    /// Columns of `datagram_hops`.
    #[must_use]
    pub fn datagram_hops_schema() -> SchemaRef {
        schema(DatagramHop::fields())
    }

    /// Adds the facts of other shards.
    pub fn add(&mut self, others: Self) {
        self.points.extend(others.points);
        self.connections.extend(others.connections);
        self.hops.extend(others.hops);
        self.datagram_hops.extend(others.datagram_hops);
    }

    pub(super) fn add_points(&mut self, points: &[PointFacts]) -> Result<(), Error> {
        let columns = PointFacts::columns(points.iter())?;
        let batch = RecordBatch::try_new(Self::points_schema(), columns)?;
        self.points.push(batch);
        Ok(())
    }

    pub(super) fn add_hops(&mut self, hops: &[Hop]) -> Result<(), Error> {
        let batch = RecordBatch::try_new(Self::hops_schema(), Hop::columns(hops.iter())?)?;
        self.hops.push(batch);
        Ok(())
    }

    pub(super) fn add_datagram_hops(&mut self, hops: &[DatagramHop]) -> Result<(), Error> {
        let columns = DatagramHop::columns(hops.iter())?;
        let batch = RecordBatch::try_new(Self::datagram_hops_schema(), columns)?;
        self.datagram_hops.push(batch);
        Ok(())
    }

    /// Adds connections in batches of a few thousand.
    pub(super) fn add_connections(
        &mut self,
        connections: impl Iterator<Item = Placed>,
    ) -> Result<(), Error> {
        let mut connections = connections.peekable();
        while connections.peek().is_some() {
            let some: Vec<Placed> = connections.by_ref().take(ROWS).collect();
            let columns = Placed::columns(some.iter())?;
            let batch = RecordBatch::try_new(Self::connections_schema(), columns)?;
            self.connections.push(batch);
        }
        Ok(())
    }
}

/// Calls back with the records of some batches.
pub(super) fn records<T: Record>(
    table: &'static str,
    batches: &[RecordBatch],
    mut hear: impl FnMut(T),
) -> Result<(), Error> {
    for batch in batches {
        let columns = columns::<T>(table, batch)?;
        for at in 0..batch.num_rows() {
            hear(T::nth(&columns, at).ok_or(Error::Cell { table, row: at })?);
        }
    }
    Ok(())
}

/// The columns of a record, in their order.
fn columns<T: Record>(table: &'static str, batch: &RecordBatch) -> Result<Vec<ArrayRef>, Error> {
    let column = |field: Field| {
        let is_right = |array: &&ArrayRef| {
            is_alike(array.data_type(), field.data_type())
                && (field.is_nullable() || array.null_count() == 0)
        };
        let found = batch.column_by_name(field.name()).filter(is_right);
        found.cloned().ok_or_else(|| Error::Column {
            table,
            column: field.name().clone(),
            wanted: field.data_type().to_string(),
        })
    };
    T::fields().into_iter().map(column).collect()
}

/// Whether two types have the same values. Tools that store tables in between may make every column nullable.
fn is_alike(one: &DataType, other: &DataType) -> bool {
    match (one, other) {
        (DataType::List(one), DataType::List(other)) => {
            is_alike(one.data_type(), other.data_type())
        }
        (DataType::Struct(one), DataType::Struct(other)) => {
            let mut pairs = one.iter().zip(other);
            let is_alike = |(one, other): (&std::sync::Arc<Field>, &std::sync::Arc<Field>)| {
                one.name() == other.name() && is_alike(one.data_type(), other.data_type())
            };
            one.len() == other.len() && pairs.all(is_alike)
        }
        _ => one == other,
    }
}
