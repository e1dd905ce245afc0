//! Dimension labels: one-dimensional arrays in the folder of their array.
//!
//! Spec: array_schema.md "Dimension Label"

use super::definition::{default_of, dense_schema, no_filters};
use crate::format::tiledb::elements::StoredElements;
use crate::format::tiledb::filter;
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::Ndarray;
use hyperslab_tiledb::format::array_schema::{ArraySchema, Attribute, Dimension, DimensionLabel};
use hyperslab_tiledb::format::layout::{ArrayType, DataOrder};

/// Rejects labels that cannot be written within their array.
///
/// # Errors
/// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for unordered labels, which are cells of a sparse array, and
/// for labels that are stored elsewhere.
pub(super) fn check(label: &DimensionLabel, array_type: ArrayType) -> Result<()> {
    if array_type == ArrayType::Sparse {
        return Err(Error::unsupported("labels of a sparse array, whose dimensions have no length"));
    }
    if label.order == DataOrder::Unordered {
        return Err(Error::unsupported("labels in no order, expected increasing or decreasing"));
    }
    let is_within = label.relative && !label.is_external && label.uri.starts_with(b"__labels/");
    if !is_within {
        return Err(Error::unsupported("labels that are stored outside of their array"));
    }
    Ok(())
}

/// The folder of a label.
pub(super) fn key(array: &Key, label: &DimensionLabel) -> Result<Key> {
    let uri = std::str::from_utf8(&label.uri).map_err(|_| Error::unsupported("a URI that is not UTF-8"))?;
    uri.split('/').try_fold(array.clone(), |key, name| key.join(name))
}

/// The schema of the array of a label, along the dimension of its array.
pub(super) fn schema(
    label: &DimensionLabel,
    own: &Ndarray,
    elements: &StoredElements,
    array: &ArraySchema,
) -> Result<ArraySchema> {
    let at = usize::try_from(label.dimension).unwrap_or(usize::MAX);
    let along = array.domain.dimensions.get(at);
    let along = along.ok_or_else(|| Error::invalid("labels of a dimension that the array does not have"))?;
    let attribute = Attribute {
        name: label.attribute.clone(),
        data_type: label.data_type,
        cell_val_num: label.cell_val_num,
        filters: filter::pipeline(&own.storage.filters, None)?,
        fill_value: Some(default_of(elements)?),
        nullable: false,
        fill_value_validity: 0,
        order: label.order,
        enumeration: None,
    };
    let index = Dimension { name: INDEX.to_vec(), filters: no_filters(), ..along.clone() };
    Ok(dense_schema(array.version, vec![index], vec![attribute]))
}

/// The name that the library gives to the dimension of labels.
const INDEX: &[u8] = b"index";
