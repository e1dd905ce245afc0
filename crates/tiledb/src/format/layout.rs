//! Whether arrays are dense, and orders of tiles, cells and values.
//!
//! Spec: TileDB format_spec, array_schema.md "Array Schema File" and "Attribute"; the codes are those of the C API

use super::Structure;
use hyperslab_core::{Decoder, Encoder, Result};

/// Whether an array has a value in every cell of its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayType {
    /// Every cell has a value, even if it is only the fill value. Coordinates are not stored.
    Dense = 0,
    /// Only the cells that were written exist, each with its coordinates.
    Sparse = 1,
}

/// The order of tiles or cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// The last dimension varies fastest.
    RowMajor = 0,
    /// The first dimension varies fastest.
    ColMajor = 1,
    /// Tile by tile, with the cell order within each. Used only in queries.
    GlobalOrder = 2,
    /// None. Used only in queries.
    Unordered = 3,
    /// Along a Hilbert curve, for cells of sparse arrays.
    Hilbert = 4,
}

/// The order of the values of an attribute or dimension label. New in version 17.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DataOrder {
    /// In no order.
    #[default]
    Unordered = 0,
    /// No value is less than the one before it.
    Increasing = 1,
    /// No value is greater than the one before it.
    Decreasing = 2,
}

impl Structure for ArrayType {
    type Context = ();
    const NAME: &'static str = "Array Type";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            0 => Ok(ArrayType::Dense),
            1 => Ok(ArrayType::Sparse),
            other => Err(at.unsupported(format!("array type {other}, expected 0 or 1"))),
        }
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u8(*self as u8);
        Ok(())
    }
}

impl Structure for Layout {
    type Context = ();
    const NAME: &'static str = "Layout";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            0 => Ok(Layout::RowMajor),
            1 => Ok(Layout::ColMajor),
            2 => Ok(Layout::GlobalOrder),
            3 => Ok(Layout::Unordered),
            4 => Ok(Layout::Hilbert),
            other => Err(at.unsupported(format!("layout {other}, expected 0 to 4"))),
        }
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u8(*self as u8);
        Ok(())
    }
}

impl Structure for DataOrder {
    type Context = ();
    const NAME: &'static str = "Data Order";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            0 => Ok(DataOrder::Unordered),
            1 => Ok(DataOrder::Increasing),
            2 => Ok(DataOrder::Decreasing),
            other => Err(at.unsupported(format!("data order {other}, expected 0 to 2"))),
        }
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u8(*self as u8);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    mod array_type {
        use super::*;
        structure_tests!(ArrayType, context: (), golden: ["00", "01"], values: [ArrayType::Dense, ArrayType::Sparse]);
    }

    mod order {
        use super::*;
        structure_tests!(Layout, context: (), golden: ["00", "01", "02", "03", "04"], values: [Layout::Hilbert]);
    }

    mod data_order {
        use super::*;
        structure_tests!(DataOrder, context: (), golden: ["00", "01", "02"], values: [DataOrder::Decreasing]);
    }
}
