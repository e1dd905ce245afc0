//! The types of elements.
//!
//! Spec: NetCDF Classic Format Specification, `nc_type`; CDF-5 adds 7 to 11

use crate::Version;

/// The type of an element, with its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    /// `NC_BYTE`: 8 bits, signed.
    Byte = 1,
    /// `NC_CHAR`: a byte of text, in no particular encoding.
    Char = 2,
    /// `NC_SHORT`: 16 bits, signed.
    Short = 3,
    /// `NC_INT`: 32 bits, signed.
    Int = 4,
    /// `NC_FLOAT`: IEEE 754 single precision.
    Float = 5,
    /// `NC_DOUBLE`: IEEE 754 double precision.
    Double = 6,
    /// `NC_UBYTE`: 8 bits, unsigned.
    UByte = 7,
    /// `NC_USHORT`: 16 bits, unsigned.
    UShort = 8,
    /// `NC_UINT`: 32 bits, unsigned.
    UInt = 9,
    /// `NC_INT64`: 64 bits, signed.
    Int64 = 10,
    /// `NC_UINT64`: 64 bits, unsigned.
    UInt64 = 11,
}

impl DataType {
    /// All types, in the order of their codes.
    pub const ALL: [DataType; 11] = [
        DataType::Byte,
        DataType::Char,
        DataType::Short,
        DataType::Int,
        DataType::Float,
        DataType::Double,
        DataType::UByte,
        DataType::UShort,
        DataType::UInt,
        DataType::Int64,
        DataType::UInt64,
    ];

    /// The type with this code.
    pub fn of(code: u64) -> Option<DataType> {
        DataType::ALL.into_iter().find(|known| *known as u64 == code)
    }

    /// The size of an element in bytes.
    pub fn size(self) -> usize {
        match self {
            DataType::Byte | DataType::Char | DataType::UByte => 1,
            DataType::Short | DataType::UShort => 2,
            DataType::Int | DataType::UInt | DataType::Float => 4,
            DataType::Double | DataType::Int64 | DataType::UInt64 => 8,
        }
    }

    /// Whether files of this version can contain the type.
    pub fn is_in(self, version: Version) -> bool {
        version == Version::Data64 || (self as u32) <= DataType::Double as u32
    }
}
