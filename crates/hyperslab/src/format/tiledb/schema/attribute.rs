//! Attributes.

use super::super::datatype::stored;
use super::super::directives::Directives;
use super::super::filter::{self, MAX_CHUNK};
use super::super::storage::data_order;
use super::name;
use crate::strings::name_bytes;
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Limit, Result};
use hyperslab_model::{Datatype, Directive, Fill, Ndarray, Values};
use hyperslab_tiledb::format::array_schema::Attribute;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::layout::DataOrder;

/// The attribute that an array in a document describes. `most` is the maximum size of its fill value in bytes.
pub(in crate::format::tiledb) fn parse(
    shown: &str,
    own: &Ndarray,
    version: u32,
    most: u64,
) -> Result<Attribute> {
    let storage = &own.storage;
    let mut said = Directives::of(storage);
    let datatype = own.datatype.as_deref().ok_or_else(|| Error::invalid("an attribute without a type"))?;
    let nullable = matches!(datatype.resolved(), Datatype::Nullable(_));
    let (datatype, is_enum) = match datatype.non_null() {
        Datatype::Enum { base, .. } => (&**base, true),
        other => (other, false),
    };
    let named = said.word("datatype", DataType::ALL, DataType::name)?;
    let (data_type, cell_val_num) = stored(datatype, &storage.element, named)?;
    // An enumeration without a name of its own has the name of its attribute.
    let enumeration = said.text("enumeration")?.or(is_enum.then_some(shown)).map(name_bytes);
    let mut fill = fill_value(&storage.fill, nullable, data_type, cell_val_num, most)?;
    if let Some(bytes) = said.bytes("fillvalue")? {
        fill.bytes = bytes;
    }
    if let Some(validity) = validity(&mut said)? {
        fill.validity = validity;
    }
    // Before this version, all attributes have the default, and none stores it.
    let has_fill = version >= FILL_VALUES || fill.bytes != default_fill(data_type, cell_val_num, most)?;
    let attribute = Attribute {
        name: name(&mut said, "attribute", shown)?,
        data_type,
        cell_val_num,
        filters: filter::pipeline(&storage.filters, said.int(MAX_CHUNK)?)?,
        fill_value: has_fill.then_some(fill.bytes),
        nullable,
        fill_value_validity: fill.validity,
        order: said.word("order", DATA_ORDERS, data_order)?.unwrap_or_default(),
        enumeration,
    };
    said.finish()?;
    Ok(attribute)
}

/// The name of the enumeration of an attribute that a document describes.
pub(in crate::format::tiledb) fn enumeration(shown: &str, own: &Ndarray) -> Result<Option<Vec<u8>>> {
    let is_enum = own
        .datatype
        .as_deref()
        .is_some_and(|datatype| matches!(datatype.resolved().non_null(), Datatype::Enum { .. }));
    let named = Directives::of(&own.storage).text("enumeration")?;
    Ok(named.or(is_enum.then_some(shown)).map(name_bytes))
}

/// A fill value in its stored form.
struct StoredFill {
    bytes: Vec<u8>,
    validity: u8,
}

fn fill_value(
    fill: &Fill,
    nullable: bool,
    data_type: DataType,
    cell_val_num: CellValNum,
    most: u64,
) -> Result<StoredFill> {
    let null = || Ok(StoredFill { bytes: default_fill(data_type, cell_val_num, most)?, validity: 0 });
    let Fill::Value(Values { rows, heap }) = fill else { return null() };
    let row = match rows.split_first() {
        Some((0, _)) if nullable => return null(),
        Some((_, row)) if nullable => row,
        _ => rows,
    };
    let bytes = match cell_val_num {
        CellValNum::Fixed(_) => Some(row),
        CellValNum::Var => Slot::get(row).and_then(|slot| {
            let len = usize::try_from(slot.count).ok()?.checked_mul(data_type.size())?;
            heap.bytes(slot, len)
        }),
    };
    let bytes = bytes.ok_or_else(|| Error::invalid("a fill value that its type does not fit"))?.to_vec();
    Ok(StoredFill { bytes, validity: nullable.into() })
}

/// The default fill value of attributes in libraries: a default for each value of a cell.
pub(in crate::format::tiledb) fn default_fill(
    data_type: DataType,
    cell_val_num: CellValNum,
    most: u64,
) -> Result<Vec<u8>> {
    let one = data_type.default_fill_value();
    let CellValNum::Fixed(count) = cell_val_num else { return Ok(one.to_vec()) };
    let bytes = u64::from(count).saturating_mul(one.len() as u64);
    match usize::try_from(count) {
        Ok(count) if bytes <= most => Ok(one.repeat(count)),
        _ => {
            let detail = format!("a fill value of {bytes} bytes, {most} are allowed");
            Err(Error::limit_exceeded(Limit::Allocation, detail))
        }
    }
}

/// The validity of the fill value, where it does not follow from the fill value.
fn validity(said: &mut Directives<'_>) -> Result<Option<u8>> {
    const KEY: &str = "fill_valid";
    let Some(value) = said.take(KEY) else { return Ok(None) };
    let validity = match *value {
        Directive::Bool(is_valid) => Some(is_valid.into()),
        Directive::Int(number) => u8::try_from(number).ok(),
        _ => None,
    };
    validity.map(Some).ok_or_else(|| said.wrong(KEY, value, "true, false or a number to 255"))
}

pub(super) const DATA_ORDERS: [DataOrder; 3] =
    [DataOrder::Unordered, DataOrder::Increasing, DataOrder::Decreasing];

/// The first version in which attributes have their own fill values.
const FILL_VALUES: u32 = 6;
