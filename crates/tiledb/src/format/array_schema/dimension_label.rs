//! Dimension label. New in version 18.
//!
//! Spec: TileDB format_spec, array_schema.md "Dimension Label". Its table has two lengths of 64 bits that are stored in
//! 32, another order of fields, and a domain that no file has. This is the layout in files.

use crate::format::data_type::{CellValNum, DataType};
use crate::format::layout::DataOrder;
use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Result};

/// Labels of the indexes of a dimension, stored in a separate array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionLabel {
    /// The position of the dimension in the domain.
    pub dimension: u32,
    /// The name of the label.
    pub name: Vec<u8>,
    /// Whether the URI is relative to the array.
    pub relative: bool,
    /// The URI of the array with the labels: `__labels/l0` and so on.
    pub uri: Vec<u8>,
    /// The name of the attribute in that array.
    pub attribute: Vec<u8>,
    /// The order of the labels.
    pub order: DataOrder,
    /// The datatype of a label.
    pub data_type: DataType,
    /// The number of values of a label.
    pub cell_val_num: CellValNum,
    /// Whether the array is stored elsewhere than in this one.
    pub is_external: bool,
}

impl Structure for DimensionLabel {
    type Context = ();
    const NAME: &'static str = "Dimension Label";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let dimension = d.u32()?;
        let name = field::bytes32(d)?;
        let relative = field::boolean(d, "relative URI")?;
        let uri = field::bytes64(d)?;
        let attribute = field::bytes32(d)?;
        let order = DataOrder::decode(d, &())?;
        let data_type = DataType::decode(d, &())?;
        let cell_val_num = CellValNum::decode(d, &())?;
        let is_external = field::boolean(d, "is external")?;
        Ok(DimensionLabel {
            dimension,
            name,
            relative,
            uri,
            attribute,
            order,
            data_type,
            cell_val_num,
            is_external,
        })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u32(self.dimension);
        field::put_bytes32(e, &self.name)?;
        field::put_boolean(e, self.relative);
        field::put_bytes64(e, &self.uri);
        field::put_bytes32(e, &self.attribute)?;
        self.order.encode(e, &())?;
        self.data_type.encode(e, &())?;
        self.cell_val_num.encode(e, &())?;
        field::put_boolean(e, self.is_external);
        Ok(())
    }
}

/// The fixed fields and four lengths.
pub(super) const MIN_LEN: usize = 4 + 4 + 1 + 8 + 4 + 1 + 1 + 4 + 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(DimensionLabel, context: (),
    golden: [include_str!("../../../tests/golden/dimension_label.hex")],
    values: [DimensionLabel {
        dimension: 1,
        name: b"time".to_vec(),
        relative: false,
        uri: b"file:///elsewhere/l0".to_vec(),
        attribute: b"label".to_vec(),
        order: DataOrder::Increasing,
        data_type: DataType::StringAscii,
        cell_val_num: CellValNum::Var,
        is_external: true,
    }]);
}
