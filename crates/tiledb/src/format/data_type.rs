//! Datatypes of attributes, dimensions and metadata.
//!
//! Spec: TileDB format_spec, array_schema.md "Attribute"; the codes are those of the C API

use super::Structure;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The datatype of a value. Its discriminant is its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataType {
    /// Signed, 32 bits.
    Int32 = 0,
    /// Signed, 64 bits.
    Int64 = 1,
    /// IEEE 754 single precision.
    Float32 = 2,
    /// IEEE 754 double precision.
    Float64 = 3,
    /// A byte of text in no particular encoding.
    Char = 4,
    /// Signed, 8 bits.
    Int8 = 5,
    /// Unsigned, 8 bits.
    UInt8 = 6,
    /// Signed, 16 bits.
    Int16 = 7,
    /// Unsigned, 16 bits.
    UInt16 = 8,
    /// Unsigned, 32 bits.
    UInt32 = 9,
    /// Unsigned, 64 bits.
    UInt64 = 10,
    /// A byte of ASCII.
    StringAscii = 11,
    /// A byte of UTF-8.
    StringUtf8 = 12,
    /// A code unit of UTF-16.
    StringUtf16 = 13,
    /// A code point.
    StringUtf32 = 14,
    /// A character of UCS-2.
    StringUcs2 = 15,
    /// A character of UCS-4.
    StringUcs4 = 16,
    /// Any type; no longer written.
    Any = 17,
    /// Years since 1970, signed, 64 bits.
    DatetimeYear = 18,
    /// Months since 1970, signed, 64 bits.
    DatetimeMonth = 19,
    /// Weeks since 1970, signed, 64 bits.
    DatetimeWeek = 20,
    /// Days since 1970, signed, 64 bits.
    DatetimeDay = 21,
    /// Hours since 1970, signed, 64 bits.
    DatetimeHr = 22,
    /// Minutes since 1970, signed, 64 bits.
    DatetimeMin = 23,
    /// Seconds since 1970, signed, 64 bits.
    DatetimeSec = 24,
    /// Milliseconds since 1970, signed, 64 bits.
    DatetimeMs = 25,
    /// Microseconds since 1970, signed, 64 bits.
    DatetimeUs = 26,
    /// Nanoseconds since 1970, signed, 64 bits.
    DatetimeNs = 27,
    /// Picoseconds since 1970, signed, 64 bits.
    DatetimePs = 28,
    /// Femtoseconds since 1970, signed, 64 bits.
    DatetimeFs = 29,
    /// Attoseconds since 1970, signed, 64 bits.
    DatetimeAs = 30,
    /// Hours of a day, signed, 64 bits.
    TimeHr = 31,
    /// Minutes of a day, signed, 64 bits.
    TimeMin = 32,
    /// Seconds of a day, signed, 64 bits.
    TimeSec = 33,
    /// Milliseconds of a day, signed, 64 bits.
    TimeMs = 34,
    /// Microseconds of a day, signed, 64 bits.
    TimeUs = 35,
    /// Nanoseconds of a day, signed, 64 bits.
    TimeNs = 36,
    /// Picoseconds of a day, signed, 64 bits.
    TimePs = 37,
    /// Femtoseconds of a day, signed, 64 bits.
    TimeFs = 38,
    /// Attoseconds of a day, signed, 64 bits.
    TimeAs = 39,
    /// A byte of arbitrary data.
    Blob = 40,
    /// 0 or 1, 8 bits.
    Bool = 41,
    /// A byte of a geometry in well-known binary.
    GeomWkb = 42,
    /// A byte of a geometry in well-known text.
    GeomWkt = 43,
}

/// The number of values of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellValNum {
    /// This many, at least 1 and less than `u32::MAX`.
    Fixed(u32),
    /// Each cell has its own number of values; stored as `u32::MAX`.
    Var,
}

impl CellValNum {
    /// One value per cell.
    pub const ONE: CellValNum = CellValNum::Fixed(1);

    /// Whether cells differ in their number of values.
    pub fn is_var(self) -> bool {
        self == CellValNum::Var
    }
}

impl DataType {
    /// All datatypes, in the order of their codes.
    pub const ALL: [DataType; 44] = [
        DataType::Int32,
        DataType::Int64,
        DataType::Float32,
        DataType::Float64,
        DataType::Char,
        DataType::Int8,
        DataType::UInt8,
        DataType::Int16,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::StringAscii,
        DataType::StringUtf8,
        DataType::StringUtf16,
        DataType::StringUtf32,
        DataType::StringUcs2,
        DataType::StringUcs4,
        DataType::Any,
        DataType::DatetimeYear,
        DataType::DatetimeMonth,
        DataType::DatetimeWeek,
        DataType::DatetimeDay,
        DataType::DatetimeHr,
        DataType::DatetimeMin,
        DataType::DatetimeSec,
        DataType::DatetimeMs,
        DataType::DatetimeUs,
        DataType::DatetimeNs,
        DataType::DatetimePs,
        DataType::DatetimeFs,
        DataType::DatetimeAs,
        DataType::TimeHr,
        DataType::TimeMin,
        DataType::TimeSec,
        DataType::TimeMs,
        DataType::TimeUs,
        DataType::TimeNs,
        DataType::TimePs,
        DataType::TimeFs,
        DataType::TimeAs,
        DataType::Blob,
        DataType::Bool,
        DataType::GeomWkb,
        DataType::GeomWkt,
    ];

    /// The datatype with this code.
    pub fn of(code: u8) -> Option<DataType> {
        DataType::ALL.get(usize::from(code)).copied()
    }

    /// The code.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The name in the C API, without `TILEDB_`.
    pub fn name(self) -> &'static str {
        match self {
            DataType::Int32 => "INT32",
            DataType::Int64 => "INT64",
            DataType::Float32 => "FLOAT32",
            DataType::Float64 => "FLOAT64",
            DataType::Char => "CHAR",
            DataType::Int8 => "INT8",
            DataType::UInt8 => "UINT8",
            DataType::Int16 => "INT16",
            DataType::UInt16 => "UINT16",
            DataType::UInt32 => "UINT32",
            DataType::UInt64 => "UINT64",
            DataType::StringAscii => "STRING_ASCII",
            DataType::StringUtf8 => "STRING_UTF8",
            DataType::StringUtf16 => "STRING_UTF16",
            DataType::StringUtf32 => "STRING_UTF32",
            DataType::StringUcs2 => "STRING_UCS2",
            DataType::StringUcs4 => "STRING_UCS4",
            DataType::Any => "ANY",
            DataType::DatetimeYear => "DATETIME_YEAR",
            DataType::DatetimeMonth => "DATETIME_MONTH",
            DataType::DatetimeWeek => "DATETIME_WEEK",
            DataType::DatetimeDay => "DATETIME_DAY",
            DataType::DatetimeHr => "DATETIME_HR",
            DataType::DatetimeMin => "DATETIME_MIN",
            DataType::DatetimeSec => "DATETIME_SEC",
            DataType::DatetimeMs => "DATETIME_MS",
            DataType::DatetimeUs => "DATETIME_US",
            DataType::DatetimeNs => "DATETIME_NS",
            DataType::DatetimePs => "DATETIME_PS",
            DataType::DatetimeFs => "DATETIME_FS",
            DataType::DatetimeAs => "DATETIME_AS",
            DataType::TimeHr => "TIME_HR",
            DataType::TimeMin => "TIME_MIN",
            DataType::TimeSec => "TIME_SEC",
            DataType::TimeMs => "TIME_MS",
            DataType::TimeUs => "TIME_US",
            DataType::TimeNs => "TIME_NS",
            DataType::TimePs => "TIME_PS",
            DataType::TimeFs => "TIME_FS",
            DataType::TimeAs => "TIME_AS",
            DataType::Blob => "BLOB",
            DataType::Bool => "BOOL",
            DataType::GeomWkb => "GEOM_WKB",
            DataType::GeomWkt => "GEOM_WKT",
        }
    }

    /// The size of a value in bytes.
    pub fn size(self) -> usize {
        self.default_fill_value().len()
    }

    /// The bytes of the fill value of one value, for attributes that state none: the smallest signed integer, the
    /// largest unsigned integer, NaN, and zero for text, booleans and arbitrary bytes.
    pub fn default_fill_value(self) -> &'static [u8] {
        match self {
            DataType::Char | DataType::Int8 => &[0x80],
            DataType::UInt8 => &[0xff],
            DataType::Int16 => &[0, 0x80],
            DataType::UInt16 => &[0xff; 2],
            DataType::Int32 => &[0, 0, 0, 0x80],
            DataType::UInt32 => &[0xff; 4],
            DataType::UInt64 => &[0xff; 8],
            DataType::Float32 => &[0, 0, 0xc0, 0x7f],
            DataType::Float64 => &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
            DataType::StringUtf16 | DataType::StringUcs2 => &[0; 2],
            DataType::StringUtf32 | DataType::StringUcs4 => &[0; 4],
            DataType::StringAscii
            | DataType::StringUtf8
            | DataType::Any
            | DataType::Blob
            | DataType::Bool
            | DataType::GeomWkb
            | DataType::GeomWkt => &[0],
            DataType::Int64
            | DataType::DatetimeYear
            | DataType::DatetimeMonth
            | DataType::DatetimeWeek
            | DataType::DatetimeDay
            | DataType::DatetimeHr
            | DataType::DatetimeMin
            | DataType::DatetimeSec
            | DataType::DatetimeMs
            | DataType::DatetimeUs
            | DataType::DatetimeNs
            | DataType::DatetimePs
            | DataType::DatetimeFs
            | DataType::DatetimeAs
            | DataType::TimeHr
            | DataType::TimeMin
            | DataType::TimeSec
            | DataType::TimeMs
            | DataType::TimeUs
            | DataType::TimeNs
            | DataType::TimePs
            | DataType::TimeFs
            | DataType::TimeAs => &[0, 0, 0, 0, 0, 0, 0, 0x80],
        }
    }

    /// Whether values are text.
    pub fn is_string(self) -> bool {
        (DataType::StringAscii.code()..=DataType::StringUcs4.code()).contains(&self.code())
    }

    /// Whether values are bytes of text.
    pub fn is_text(self) -> bool {
        matches!(self, DataType::Char | DataType::StringAscii | DataType::StringUtf8)
    }

    /// Whether values count units of time since 1970.
    pub fn is_datetime(self) -> bool {
        (DataType::DatetimeYear.code()..=DataType::DatetimeAs.code()).contains(&self.code())
    }

    /// Whether values count units of time within a day.
    pub fn is_time(self) -> bool {
        (DataType::TimeHr.code()..=DataType::TimeAs.code()).contains(&self.code())
    }
}

impl Structure for DataType {
    type Context = ();
    const NAME: &'static str = "Datatype";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        let code = d.u8()?;
        let last = DataType::ALL.len() - 1;
        DataType::of(code).ok_or_else(|| at.unsupported(format!("datatype {code}, expected 0 to {last}")))
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u8(self.code());
        Ok(())
    }
}

impl Structure for CellValNum {
    type Context = ();
    const NAME: &'static str = "Cell Val Num";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        match d.u32()? {
            0 => Err(at.malformed("0 values a cell, expected at least 1")),
            u32::MAX => Ok(CellValNum::Var),
            count => Ok(CellValNum::Fixed(count)),
        }
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        match *self {
            CellValNum::Var => e.u32(u32::MAX),
            CellValNum::Fixed(count @ (0 | u32::MAX)) => {
                return Err(Error::invalid(format!("{count} values a cell")));
            }
            CellValNum::Fixed(count) => e.u32(count),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(DataType, context: (), golden: ["00", "2b"], values: [DataType::Int64, DataType::DatetimeNs]);

    mod cell_val_num {
        use super::*;
        structure_tests!(CellValNum, context: (), golden: ["01000000", "ffffffff"], values: [CellValNum::Fixed(3)]);

        #[test]
        fn refuses_counts_that_would_be_read_as_something_else() {
            for count in [0, u32::MAX] {
                assert!(CellValNum::Fixed(count).encode(&mut Encoder::new(), &()).is_err());
            }
            assert!(CellValNum::decode(&mut Decoder::new("t", 0, &[0; 4]), &()).is_err());
        }
    }

    #[test]
    fn codes_are_positions_and_unknown_ones_are_refused_by_name() {
        for (position, data_type) in DataType::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(data_type.code()), position, "{data_type:?}");
            assert!([1, 2, 4, 8].contains(&data_type.size()), "{data_type:?}");
        }
        let e = DataType::decode(&mut Decoder::new("Attribute", 7, &[44]), &()).unwrap_err();
        assert_eq!(e.to_string(), "unsupported Attribute at byte 0x7: datatype 44, expected 0 to 43");
    }

    #[test]
    fn default_fill_values_are_those_of_the_library() {
        assert_eq!(DataType::Int32.default_fill_value(), i32::MIN.to_le_bytes());
        assert_eq!(DataType::Int64.default_fill_value(), i64::MIN.to_le_bytes());
        assert_eq!(DataType::DatetimeDay.default_fill_value(), i64::MIN.to_le_bytes());
        assert_eq!(DataType::TimeAs.default_fill_value(), i64::MIN.to_le_bytes());
        assert_eq!(DataType::UInt16.default_fill_value(), u16::MAX.to_le_bytes());
        assert_eq!(DataType::Float32.default_fill_value(), f32::NAN.to_le_bytes());
        assert_eq!(DataType::Float64.default_fill_value(), f64::NAN.to_le_bytes());
        assert_eq!(DataType::StringUtf32.size(), 4);
        assert_eq!(DataType::GeomWkt.default_fill_value(), [0]);
    }
}
