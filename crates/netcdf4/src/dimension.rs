//! Datasets that represent dimensions.

use crate::name;
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Result, valid};
use hyperslab_hdf5::Object;
use hyperslab_hdf5::{Attribute, File, Reference};

/// The start of the attribute `NAME` of a dimension without coordinate variable.
pub const PURE_DIMENSION: &[u8] = b"This is a netCDF dimension but not a netCDF variable";

/// A dimension scale: a dataset that represents a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Whether the dimension has no coordinate variable.
    pub pure: bool,
    /// The label in the attribute `NAME`, if it differs from the name of the dataset.
    pub name: Vec<u8>,
}

impl Scale {
    /// The dimension scale of a dataset; `None` if the dataset is not one.
    ///
    /// # Errors
    /// If its attributes cannot be read.
    pub fn of(file: &File, dataset: &Object) -> Result<Option<Scale>> {
        if !dataset.has_attributes(file)? {
            return Ok(None);
        }
        let text = |of: &[u8]| match dataset.attribute(file, of)? {
            Some(attribute) => attribute.text(file),
            None => Ok(None),
        };
        let class = text(name::CLASS.as_bytes())?;
        if class.as_deref() != Some(b"DIMENSION_SCALE") {
            return Ok(None);
        }
        let label = text(name::NAME.as_bytes())?.unwrap_or_default();
        Ok(Some(Scale { pure: label.starts_with(PURE_DIMENSION), name: label }))
    }

    /// The identifier of a dimension. Identifiers number dimensions in the order of their definition, and only NetCDF-4
    /// files have them.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn dimension_id(file: &File, scale: &Object) -> Result<Option<i64>> {
        let Some(attribute) = scale.attribute(file, name::DIMENSION_ID.as_bytes())? else { return Ok(None) };
        let rows = attribute.read(file)?.rows;
        Ok(rows.first_chunk().map(|id| i64::from(i32::from_ne_bytes(*id))))
    }

    /// The length of an unlimited dimension without coordinate variable: the length of the longest variable along it,
    /// since the dimension has no dataset of its own that grows.
    ///
    /// # Errors
    /// If the list of variables cannot be read.
    pub fn longest_variable(file: &File, scale: &Object) -> Result<u64> {
        let Some(list) = scale.attribute(file, name::REFERENCE_LIST.as_bytes())? else { return Ok(0) };
        let mut longest = 0;
        for (reference, dimension) in references(file, &list)? {
            let Reference::Object(address) = reference else { continue };
            // References to deleted variables remain in the list.
            let dataset = file.object(address).and_then(|variable| variable.dataset(file));
            let Some(dataset) = valid(dataset)? else { continue };
            let extent =
                dataset.extents().and_then(|dims| dims.get(usize::try_from(dimension).ok()?)).copied();
            longest = longest.max(extent.unwrap_or(0));
        }
        Ok(longest)
    }
}

/// The elements of `REFERENCE_LIST`: pairs of an object reference and the index of the dimension in that object.
fn references(file: &File, list: &Attribute) -> Result<Vec<(Reference, u64)>> {
    let rows = list.read(file)?;
    let pair = Slot::SIZE + size_of::<u32>();
    if list.row_size(file)? != pair {
        return Err(Error::malformed(
            "elements of REFERENCE_LIST have another datatype, expected an object reference and a 32-bit integer",
        ));
    }
    let mut found = Vec::new();
    for row in rows.rows.chunks_exact(pair) {
        let slot = Slot::get(row).and_then(|slot| rows.heap.reference(slot));
        let index = row.last_chunk::<4>().map(|index| u32::from_ne_bytes(*index));
        if let (Some(reference), Some(index)) = (slot, index) {
            found.push((reference.clone(), u64::from(index)));
        }
    }
    Ok(found)
}
