//! The dimensions of variables.

use crate::name;
use hyperslab_core::Result;
use hyperslab_core::rows::Slot;
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::datatype::DatatypeClass;
use hyperslab_hdf5::{Attribute, File, Object, Reference};

/// For each dimension of a dataset, the address of its first scale. Empty if no scales are attached, or if the
/// attribute of that name has another datatype.
///
/// # Errors
/// If its `DIMENSION_LIST` cannot be read.
pub fn dimensions(file: &File, dataset: &Object) -> Result<Vec<Option<Address>>> {
    let scales = dimension_scales(file, dataset)?;
    Ok(scales.into_iter().map(|scales| scales.first().copied().flatten()).collect())
}

/// For each dimension of a dataset, the addresses of all its scales; `None` for a reference to nothing. Empty in the
/// same cases as [`dimensions`].
///
/// # Errors
/// If its `DIMENSION_LIST` cannot be read.
pub fn dimension_scales(file: &File, dataset: &Object) -> Result<Vec<Vec<Option<Address>>>> {
    let list = dataset.attribute(file, name::DIMENSION_LIST.as_bytes())?.filter(is_variable_length);
    let Some(list) = list else { return Ok(Vec::new()) };
    let rows = list.read(file)?;
    let scales = |sequence: Slot| {
        let len = usize::try_from(sequence.count).unwrap_or(usize::MAX).saturating_mul(Slot::SIZE);
        let slots = rows.heap.bytes(sequence, len).unwrap_or_default();
        let address = |slot| match rows.heap.reference(slot) {
            Some(Reference::Object(address)) => Some(*address),
            _ => None,
        };
        Slot::each(slots).map(address).collect()
    };
    Ok(Slot::each(&rows.rows).map(scales).collect())
}

/// The identifiers of the dimensions of a multidimensional coordinate variable. As it is a dimension scale itself, no
/// scales can be attached to it. Empty if the attribute is absent or has another datatype.
///
/// # Errors
/// If its `_Netcdf4Coordinates` cannot be read.
pub fn dimension_ids(file: &File, dataset: &Object) -> Result<Vec<i64>> {
    let Some(ids) = dataset.attribute(file, name::COORDINATES.as_bytes())? else { return Ok(Vec::new()) };
    if !matches!(ids.datatype().class, DatatypeClass::FixedPoint(_))
        || ids.row_size(file)? != size_of::<i32>()
    {
        return Ok(Vec::new());
    }
    let rows = ids.read(file)?.rows;
    Ok(rows
        .chunks_exact(size_of::<i32>())
        .filter_map(|id| Some(i64::from(i32::from_ne_bytes(*id.first_chunk()?))))
        .collect())
}

/// The labels of a dataset's dimensions, which HDF5 stores separately from scales. Empty if there are none, or if the
/// attribute of that name has another datatype.
///
/// # Errors
/// If its `DIMENSION_LABELS` cannot be read.
pub fn dimension_labels(file: &File, dataset: &Object) -> Result<Vec<Vec<u8>>> {
    let labels = dataset.attribute(file, name::DIMENSION_LABELS.as_bytes())?.filter(is_variable_length);
    let Some(labels) = labels else { return Ok(Vec::new()) };
    let rows = labels.read(file)?;
    let text = |slot| rows.heap.content(slot).unwrap_or_default().to_vec();
    Ok(Slot::each(&rows.rows).map(text).collect())
}

/// Whether the datatype of an attribute can hold a list of scales or labels.
pub(crate) fn is_variable_length(attribute: &Attribute) -> bool {
    matches!(attribute.datatype().class, DatatypeClass::VariableLength(_))
}
