//! Elements and tables as Arrow arrays in memory.

use super::{Home, build, data_type, failed, has_nulls, record_batches, schema};
use crate::show::Part;
use crate::strings::Strings;
use crate::tabular::{Names, Tabular};
use arrow_array::{ArrayRef, LargeStringArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Elements, Values};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The name and type in Arrow of the array that [`arrow_array()`] makes from elements.
pub fn arrow_type(name: &str, datatype: &Datatype) -> Field {
    Field::new(name, data_type(datatype, Home::Memory), has_nulls(datatype))
}

/// Elements as an Arrow array.
///
/// Types are those of [`write_arrow`](super::write_arrow), except that enumerations become dictionaries of their names,
/// to which unnamed values are added.
///
/// ```
/// use arrow_array::Array;
/// use hyperslab::tabular::{arrow_array, arrow_type};
/// use hyperslab::{File, Region};
///
/// let flags = File::open("../../examples/ocean.nc")?.array("/temperature_flag")?;
/// let values = flags.elements().values(&Region::all(flags.shape()))?;
/// let array = arrow_array(flags.datatype(), &values)?;
/// assert_eq!(array.len(), 5 * 3 * 8);
/// assert_eq!(array.data_type(), arrow_type("flag", flags.datatype()).data_type());
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If Arrow cannot represent them as an array, for example because there are more elements than it can count.
pub fn arrow_array(datatype: &Datatype, values: &Values) -> Result<ArrayRef> {
    let Datatype::Compound(members) = datatype.resolved() else {
        return build::array(Elements::new(datatype, values), Home::Memory);
    };
    let size = datatype.row_size().unwrap_or(0);
    // Converted member by member, so that numbers need not be examined one by one.
    let DataType::Struct(fields) = data_type(datatype, Home::Memory) else {
        return build::array(Elements::new(datatype, values), Home::Memory);
    };
    let (mut arrays, mut offset) = (Vec::new(), 0_usize);
    for member in members {
        let part = Part { offset, size: member.datatype.row_size().unwrap_or(0) };
        arrays.push(arrow_array(&member.datatype, &part.of(values, size))?);
        offset = offset.saturating_add(part.size);
    }
    let len = Elements::new(datatype, values).len();
    let built = StructArray::try_new_with_length(fields, arrays, None, len);
    Ok(Arc::new(built.map_err(failed)?))
}

/// Reads several tables with the same rows into one table in memory: all columns of the first table, and the columns of
/// the others that are not coordinates. Rows are returned in batches. Enumerations become dictionaries; each batch has
/// its own.
///
/// # Errors
/// If the rows cannot be read, or the tables differ in the number of rows.
pub fn read_arrow(tables: &[Tabular<'_>]) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let (mut fields, mut parts) = (Vec::new(), Vec::with_capacity(tables.len()));
    let mut expected = None;
    for (number, table) in tables.iter().enumerate() {
        let schema = schema(table, Home::Memory);
        let mut batches = VecDeque::new();
        record_batches(table, &schema, Home::Memory, &mut |rows| {
            batches.push_back(rows.arrays()?);
            Ok(())
        })?;
        let skipped = if number == 0 { 0 } else { table.coordinates() };
        let own = schema.fields().iter().skip(skipped);
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        if let Some(expected) = expected.replace(rows).filter(|expected| *expected != rows) {
            let name = own.clone().next().map_or("a table", |field| field.name());
            return Err(Error::invalid(format!("{rows} rows of {name}, expected {expected} as of others")));
        }
        fields.extend(own.map(|field| (Field::clone(field), table.name())));
        parts.push(Beside { batches, skipped });
    }
    let schema: SchemaRef = Arc::new(Schema::new(named_apart(fields)));
    let batches = beside(&schema, parts)?;
    Ok((schema, batches))
}

/// Columns with unique names. Members of compounds that share a name with other columns are prefixed with the name of
/// the array.
fn named_apart(columns: Vec<(Field, &str)>) -> Vec<Field> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (field, _) in &columns {
        *counts.entry(field.name().clone()).or_default() += 1;
    }
    let mut names = Names::default();
    let named = columns.into_iter().map(|(field, table)| {
        let is_shared = counts.get(field.name()).is_some_and(|count| *count > 1);
        let name = match is_shared && field.name() != table && !table.is_empty() {
            true => format!("{table}.{}", field.name()),
            false => field.name().clone(),
        };
        field.with_name(names.add(name))
    });
    named.collect()
}

/// Batches of one of several tables with the same rows.
struct Beside {
    batches: VecDeque<RecordBatch>,
    /// The number of columns that another table already has.
    skipped: usize,
}

/// The columns of several tables, in batches of rows that are in one batch of each table. Nothing is copied.
fn beside(schema: &SchemaRef, mut tables: Vec<Beside>) -> Result<Vec<RecordBatch>> {
    let mut joined = Vec::new();
    loop {
        let left = tables.iter().map(|table| table.batches.front().map_or(0, RecordBatch::num_rows));
        let Some(len @ 1..) = left.min() else { return Ok(joined) };
        let mut columns = Vec::with_capacity(schema.fields().len());
        for Beside { batches, skipped } in &mut tables {
            let Some(first) = batches.pop_front() else { continue };
            columns.extend(first.slice(0, len).columns().iter().skip(*skipped).cloned());
            if let Some(rest @ 1..) = first.num_rows().checked_sub(len) {
                batches.push_front(first.slice(len, rest));
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(len));
        let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options);
        joined.push(batch.map_err(failed)?);
    }
}

/// Nothing is copied.
impl From<Strings> for LargeStringArray {
    fn from(strings: Strings) -> LargeStringArray {
        let (offsets, bytes) = strings.into_parts();
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        LargeStringArray::new(offsets, Buffer::from_vec(bytes), None)
    }
}
