//! The type of the cells of a tile, which determines how filters process them.

use crate::format::data_type::DataType;

/// The type of the content of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileType {
    /// The datatype of a value.
    pub data_type: DataType,
    /// The size of a cell in bytes; the size of a value if cells differ in their number of values.
    pub cell_size: u64,
    /// Whether cells differ in their number of values. Their offsets are stored in a separate tile.
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

    /// The validities of cells: which of them are not null.
    pub fn validity(version: u32) -> TileType {
        TileType::fixed(DataType::UInt8, 1, version)
    }
}
