//! Elements and tables as Arrow arrays in memory.

use super::{Labels, build, data_type, failed, has_nulls, record_batches, schema};
use crate::show::Part;
use crate::strings::Strings;
use crate::tabular::{Names, Tabular};
use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch, StructArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Elements, Values};
use std::sync::Arc;

/// The name and type of elements in Arrow, as [`arrow_array()`] makes an array of them.
pub fn arrow_type(name: &str, datatype: &Datatype) -> Field {
    Field::new(name, data_type(datatype, Labels::Dictionary), has_nulls(datatype))
}

/// Elements as an array of Arrow.
///
/// Types are those of [`write_arrow`](super::write_arrow), but enumerations are dictionaries of their names, to which
/// values without a name are added.
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
/// If Arrow has no array of them, such as one of more elements than it can count.
pub fn arrow_array(datatype: &Datatype, values: &Values) -> Result<ArrayRef> {
    let Datatype::Compound(members) = datatype.resolved() else {
        return build::array(Elements::new(datatype, values), Labels::Dictionary);
    };
    let size = datatype.row_size().unwrap_or(0);
    // Member by member, so that numbers need no look at each element.
    let DataType::Struct(fields) = data_type(datatype, Labels::Dictionary) else {
        return build::array(Elements::new(datatype, values), Labels::Dictionary);
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

/// Reads tables with the same rows as one in memory: the columns of the first, and of the others those that are no
/// coordinates.
///
/// A single table comes in batches; of several, all rows are in one. Enumerations are dictionaries.
///
/// # Errors
/// If the rows cannot be read, or are not as many in all tables.
pub fn read_arrow(tables: &[Tabular<'_>]) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let batches_of = |table: &Tabular<'_>| {
        let schema = schema(table, Labels::Dictionary);
        let mut batches = Vec::new();
        record_batches(table, &schema, Labels::Dictionary, &mut |rows| {
            batches.push(rows.arrays()?);
            Ok(())
        })?;
        Ok((schema, batches))
    };
    if let [only] = tables {
        return batches_of(only);
    }
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    let mut names = Names::default();
    for (number, table) in tables.iter().enumerate() {
        let (schema, batches) = batches_of(table)?;
        let skipped = if number == 0 { 0 } else { table.coordinates() };
        for (index, field) in schema.fields().iter().enumerate().skip(skipped) {
            let parts: Vec<&dyn Array> =
                batches.iter().filter_map(|batch| batch.columns().get(index).map(|array| &**array)).collect();
            let array = match parts.as_slice() {
                [] => arrow_array::new_empty_array(field.data_type()),
                parts => arrow_select::concat::concat(parts).map_err(failed)?,
            };
            if let Some(first) = arrays.first().filter(|first| first.len() != array.len()) {
                let (rows, others, name) = (array.len(), first.len(), field.name());
                return Err(Error::invalid(format!("{rows} rows of {name}, expected {others} as of others")));
            }
            fields.push(Field::clone(field).with_name(names.add(field.name().clone())));
            arrays.push(array);
        }
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields.into_iter().collect::<Fields>()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(failed)?;
    Ok((schema, vec![batch]))
}

/// Nothing is copied.
impl From<Strings> for LargeStringArray {
    fn from(strings: Strings) -> LargeStringArray {
        let (offsets, bytes) = strings.into_parts();
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        LargeStringArray::new(offsets, Buffer::from_vec(bytes), None)
    }
}
