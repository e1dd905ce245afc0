//! Checks whether a schema can be written: what TileDB refuses is rejected, by name, before anything is written.

use super::field::FieldEncoder;
use crate::array::fragment::FragmentField;
use crate::check::faults;
use crate::format::array_schema::{ArraySchema, Dimension};
use crate::format::data_type::{CellValNum, DataType};
use crate::format::layout::{ArrayType, Layout};
use crate::read::coordinate;
use hyperslab_core::{Error, Result};

/// Checks that the library can open and write an array of this schema.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument), which states what is wrong.
pub(super) fn check(schema: &ArraySchema) -> Result<()> {
    if let Some((_, fault)) = faults(schema).into_iter().next() {
        return Err(Error::invalid(fault));
    }
    let dimensions = &schema.domain.dimensions;
    let Some(first) = dimensions.first() else { return Err(Error::invalid("an array without dimensions")) };
    let is_dense = schema.array_type == ArrayType::Dense;
    if is_dense && let Some(other) = dimensions.iter().find(|other| other.data_type != first.data_type) {
        return Err(Error::invalid(format!(
            "dimensions of {} and {} in a dense array, expected one datatype",
            first.data_type.name(),
            other.data_type.name()
        )));
    }
    for dimension in dimensions {
        check_extent(dimension, schema.cell_order).map_err(|e| named("dimension", &dimension.name, e))?;
    }
    for attribute in &schema.attributes {
        let known = |name: &Vec<u8>| schema.enumerations.iter().any(|of| of.name == *name);
        if let Some(name) = attribute.enumeration.as_ref().filter(|name| !known(name)) {
            let detail =
                format!("enumeration {:?}, which the array does not have", String::from_utf8_lossy(name));
            return Err(named("attribute", &attribute.name, Error::invalid(detail)));
        }
    }
    let fields = (0..schema.attributes.len()).map(FragmentField::Attribute);
    let coordinates = (0..dimensions.len()).filter(|_| !is_dense).map(FragmentField::Dimension);
    for field in fields.chain(coordinates) {
        let made = FieldEncoder::new(schema, field, schema.version, None);
        made.map_err(|e| {
            let e = Error::invalid(e.detail().to_owned());
            match field {
                FragmentField::Attribute(at) => {
                    named("attribute", schema.attributes.get(at).map_or(&[][..], |of| &of.name), e)
                }
                FragmentField::Dimension(at) => {
                    named("dimension", dimensions.get(at).map_or(&[][..], |of| &of.name), e)
                }
                _ => e,
            }
        })?;
    }
    Ok(())
}

fn named(what: &str, name: &[u8], error: Error) -> Error {
    let name = String::from_utf8_lossy(name).into_owned();
    error.map_detail(|detail| format!("{what} {name:?}: {detail}"))
}

/// Checks that all tiles of a dimension can be counted.
fn check_extent(dimension: &Dimension, order: Layout) -> Result<()> {
    let Dimension { data_type, cell_val_num, domain, tile_extent, .. } = dimension;
    let size = data_type.size();
    let (is_float, is_text) =
        (matches!(data_type, DataType::Float32 | DataType::Float64), cell_val_num.is_var());
    let (Some(extent), false) = (tile_extent, is_float || is_text) else { return Ok(()) };
    let Some((low, high)) = domain.split_at_checked(size).filter(|_| *cell_val_num == CellValNum::ONE) else {
        return Ok(());
    };
    let (low, high) = (coordinate(*data_type, low)?, coordinate(*data_type, high)?);
    let mut bytes = [0; 8];
    if let (Some(to), Some(from)) = (bytes.get_mut(..size), extent.get(..size)) {
        to.copy_from_slice(from);
    }
    let extent = i128::from(u64::from_le_bytes(bytes));
    let cells = high.saturating_sub(low).saturating_add(1);
    if extent > cells {
        return Err(Error::invalid(format!("tiles of {extent} in a domain of {cells}")));
    }
    if order == Layout::Hilbert {
        return Ok(());
    }
    // The last tile may extend past the domain, but not past the largest number of 64 bits, in which the library
    // counts.
    let last = low.saturating_add((cells.saturating_add(extent - 1) / extent).saturating_mul(extent) - 1);
    let greatest = match data_type {
        DataType::UInt64 => i128::from(u64::MAX),
        _ => i128::from(i64::MAX),
    };
    match last <= greatest {
        true => Ok(()),
        false => {
            let detail = format!(
                "tiles of {extent} from {low} on, the last of which ends at {last}, behind {greatest}"
            );
            Err(Error::invalid(detail)
                .with_hint("end the domain one tile earlier, or make its length a multiple of the tile"))
        }
    }
}
