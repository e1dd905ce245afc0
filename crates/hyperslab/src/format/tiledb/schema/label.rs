//! Dimension labels.

use super::super::LABEL;
use super::super::datatype::stored;
use super::super::directives::Directives;
use super::super::storage::{USUAL_LABEL_ATTRIBUTE, data_order, usual_label_uri};
use super::attribute::DATA_ORDERS;
use super::name;
use crate::strings::name_bytes;
use hyperslab_core::{Error, Result};
use hyperslab_model::{DimCoord, Ndarray, NodePath};
use hyperslab_tiledb::format::array_schema::DimensionLabel;
use hyperslab_tiledb::format::data_type::DataType;

/// The label at a position of the schema that an array in a document describes.
pub(super) fn parse(
    shown: &str,
    own: &Ndarray,
    position: usize,
    dimensions: &[(NodePath, DimCoord)],
) -> Result<DimensionLabel> {
    let mut said = Directives::of(&own.storage);
    let along = match own.shape.dims() {
        [along] => along.coordinate.as_ref(),
        _ => None,
    };
    let dimension = dimensions.iter().zip(0..).find(|((path, _), _)| Some(path) == along);
    let (_, dimension) = dimension.ok_or_else(|| {
        Error::invalid(format!(
            "a dimension label of shape {}, expected one dimension of the array",
            own.shape
        ))
    })?;
    let datatype =
        own.datatype.as_deref().ok_or_else(|| Error::invalid("a dimension label without a type"))?;
    let named = said.word("datatype", DataType::ALL, DataType::name)?;
    let (data_type, cell_val_num) = stored(datatype, &own.storage.element, named)?;
    let label = DimensionLabel {
        dimension,
        name: name(&mut said, "name", shown)?,
        relative: said.boolean("relative")?.unwrap_or(true),
        uri: said.text("uri")?.map_or_else(|| usual_label_uri(position).into_bytes(), name_bytes),
        attribute: said.text("attribute")?.map_or_else(|| USUAL_LABEL_ATTRIBUTE.into(), name_bytes),
        order: said.word(LABEL, DATA_ORDERS, data_order)?.ok_or_else(|| said.missing(LABEL))?,
        data_type,
        cell_val_num,
        is_external: said.boolean("external")?.unwrap_or(false),
    };
    said.finish()?;
    Ok(label)
}
