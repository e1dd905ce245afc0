//! What the cells of a tile are, which decides what filters do with them.

use crate::format::data_type::DataType;

/// What a tile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileType {
    /// The datatype of a value.
    pub data_type: DataType,
    /// The size of a cell in bytes; of a value, if cells differ in their number of values.
    pub cell_size: u64,
    /// Whether cells differ in their number of values. Their offsets are a tile of their own.
    pub is_variable: bool,
    /// The format version of the fragment.
    pub version: u32,
}

impl TileType {
    /// Cells of `values` values each.
    pub fn fixed(data_type: DataType, values: u32, version: u32) -> TileType {
        let cell_size = u64::from(values).saturating_mul(data_type.size() as u64);
        TileType { data_type, cell_size, is_variable: false, version }
    }

    /// Cells of any number of values.
    pub fn variable(data_type: DataType, version: u32) -> TileType {
        TileType { data_type, cell_size: data_type.size() as u64, is_variable: true, version }
    }

    /// The offsets of cells of any number of values.
    pub fn offsets(version: u32) -> TileType {
        TileType::fixed(DataType::UInt64, 1, version)
    }

    /// Which cells are not null.
    pub fn validity(version: u32) -> TileType {
        TileType::fixed(DataType::UInt8, 1, version)
    }
}
