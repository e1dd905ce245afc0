//! The header of a file: dimensions, attributes and variables, without their elements.
//!
//! Spec: NetCDF Classic Format Specification, "The Format in Detail"; CDF-5 as defined by PnetCDF, which widens counts
//! and lengths to 64 bits

mod fields;
mod list;

use crate::data_type::DataType;
use fields::{Fields, Stop};

pub(crate) use fields::padding;
use hyperslab_core::{Encoder, Error, Result};
use list::{Item, Tag};
use std::fmt;

/// The first bytes of a file, before the version.
pub const MAGIC: &[u8; 3] = b"CDF";

/// The version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// CDF-1, the classic format: offsets of 32 bits.
    Classic = 1,
    /// CDF-2, 64-bit offset: variables may begin after the first 2 GiB.
    Offset64 = 2,
    /// CDF-5, 64-bit data: lengths and counts of 64 bits, and more types of numbers.
    Data64 = 5,
}

impl Version {
    /// The version that the fourth byte of a file stands for.
    pub fn of(byte: u8) -> Option<Version> {
        [Version::Classic, Version::Offset64, Version::Data64].into_iter().find(|known| *known as u8 == byte)
    }

    /// The size of a length or a count (`NON_NEG`) in bytes.
    fn count_width(self) -> u8 {
        if self == Version::Data64 { 8 } else { 4 }
    }

    /// The size of a file offset (`OFFSET`) in bytes.
    fn offset_width(self) -> u8 {
        if self == Version::Classic { 4 } else { 8 }
    }

    /// The largest length, count or number of records: a `NON_NEG` is a signed number.
    pub(crate) fn largest_count(self) -> u64 {
        if self == Version::Data64 { i64::MAX.unsigned_abs() } else { u64::from(i32::MAX.unsigned_abs()) }
    }

    /// The count that means that the number of records is unknown (`STREAMING`), and the size of variables that are too
    /// large for the field.
    fn most(self) -> u64 {
        if self == Version::Data64 { u64::MAX } else { u64::from(u32::MAX) }
    }
}

impl fmt::Display for Version {
    /// `CDF-1`, `CDF-2` or `CDF-5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CDF-{}", *self as u8)
    }
}

/// The header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version of the format.
    pub version: Version,
    /// The number of records; `None` if it follows from the size of the file (`STREAMING`).
    pub records: Option<u64>,
    /// The dimensions. Variables refer to them by their index in this list.
    pub dimensions: Vec<Dimension>,
    /// The attributes of the file.
    pub attributes: Vec<Attribute>,
    /// The variables.
    pub variables: Vec<Variable>,
}

/// A dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The name, normally UTF-8.
    pub name: Vec<u8>,
    /// The length; 0 for the record dimension.
    pub length: u64,
}

/// An attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The name, normally UTF-8.
    pub name: Vec<u8>,
    /// The type of its values.
    pub data_type: DataType,
    /// The stored values, big-endian.
    pub values: Vec<u8>,
}

/// A variable without its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name, normally UTF-8.
    pub name: Vec<u8>,
    /// Indexes into [`Header::dimensions`], the slowest dimension first. They are not checked.
    pub dimensions: Vec<u64>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// The type of its elements.
    pub data_type: DataType,
    /// The size that the writer stored (`vsize`). It is redundant, and wrong for large variables:
    /// [`Layout`](crate::Layout) has the actual one.
    pub size: u64,
    /// The offset of the first element in the file.
    pub begin: u64,
}

/// The result of decoding the beginning of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// The header, and its size in bytes.
    Header(Box<Header>, u64),
    /// The header continues: at least this many bytes of the file are needed.
    More(u64),
}

impl Header {
    /// Decodes a header from the first bytes of a file of `len` bytes. Counts are compared with the remaining bytes of
    /// the file, so decoding takes at most a few times as much memory as the header has bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the header violates the specification or the
    /// file ends within it, [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for unknown versions and
    /// types.
    pub fn decode(bytes: &[u8], len: u64) -> Result<Decoded> {
        let mut fields = Fields::new(bytes, len);
        match Header::from_fields(&mut fields) {
            Ok(header) => Ok(Decoded::Header(Box::new(header), fields.offset())),
            Err(Stop::More(needed)) => Ok(Decoded::More(needed)),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn from_fields(f: &mut Fields<'_>) -> Result<Header, Stop> {
        let version = f.magic()?;
        let records = f.non_negative()?;
        Ok(Header {
            version,
            records: (records != version.most()).then_some(records),
            dimensions: list::decode(f)?,
            attributes: list::decode(f)?,
            variables: list::decode(f)?,
        })
    }

    /// Encodes the header.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a number does not fit its field in
    /// this version, or the number of records is the reserved one.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut e = Encoder::new();
        e.bytes(MAGIC);
        e.u8(self.version as u8);
        if self.records == Some(self.version.most()) {
            return Err(Error::invalid(format!(
                "{} records, which is a reserved number",
                self.version.most()
            )));
        }
        fields::non_negative(&mut e, self.version, self.records.unwrap_or(self.version.most()))?;
        list::encode(&self.dimensions, &mut e, self.version)?;
        list::encode(&self.attributes, &mut e, self.version)?;
        list::encode(&self.variables, &mut e, self.version)?;
        Ok(e.into_bytes())
    }

    /// The byte at which each dimension, file attribute and variable begins, in this order. A header has only one
    /// encoding.
    ///
    /// # Errors
    /// As [`Header::encode`].
    pub fn offsets(&self) -> Result<[Vec<u64>; 3]> {
        let mut at = (MAGIC.len() as u64) + 1 + u64::from(self.version.count_width());
        Ok([
            list::offsets(&self.dimensions, &mut at, self.version)?,
            list::offsets(&self.attributes, &mut at, self.version)?,
            list::offsets(&self.variables, &mut at, self.version)?,
        ])
    }

    /// The index of the record dimension, or of the first one if there are several.
    pub fn record_dimension(&self) -> Option<usize> {
        self.dimensions.iter().position(|dimension| dimension.length == 0)
    }
}

impl Item for Dimension {
    const TAG: Tag = Tag { code: 10, name: "dimensions" };

    fn least(version: Version) -> u64 {
        2 * u64::from(version.count_width())
    }

    fn decode(f: &mut Fields<'_>) -> Result<Dimension, Stop> {
        Ok(Dimension { name: f.name()?, length: f.non_negative()? })
    }

    fn encode(&self, e: &mut Encoder, version: Version) -> Result<()> {
        fields::name(e, version, &self.name)?;
        fields::non_negative(e, version, self.length)
    }
}

impl Item for Attribute {
    const TAG: Tag = Tag { code: 12, name: "attributes" };

    fn least(version: Version) -> u64 {
        2 * u64::from(version.count_width()) + 4
    }

    fn decode(f: &mut Fields<'_>) -> Result<Attribute, Stop> {
        let name = f.name()?;
        let data_type = f.data_type()?;
        let count = f.non_negative()?;
        let values = f.padded(count, data_type.size() as u64)?;
        Ok(Attribute { name, data_type, values })
    }

    fn encode(&self, e: &mut Encoder, version: Version) -> Result<()> {
        fields::name(e, version, &self.name)?;
        fields::u32(e, self.data_type as u32);
        let size = self.data_type.size();
        if !self.values.len().is_multiple_of(size) {
            let len = self.values.len();
            return Err(Error::invalid(format!("{len} bytes of values of {size} bytes")));
        }
        fields::non_negative(e, version, (self.values.len() / size) as u64)?;
        fields::padded(e, &self.values);
        Ok(())
    }
}

impl Item for Variable {
    const TAG: Tag = Tag { code: 11, name: "variables" };

    fn least(version: Version) -> u64 {
        4 * u64::from(version.count_width()) + 8 + u64::from(version.offset_width())
    }

    fn decode(f: &mut Fields<'_>) -> Result<Variable, Stop> {
        let name = f.name()?;
        let rank = f.non_negative()?;
        let width = u64::from(f.version().count_width());
        f.check_count(rank, width, "dimensions of a variable")?;
        let mut dimensions = Vec::with_capacity(fields::some(rank));
        for _ in 0..rank {
            dimensions.push(f.non_negative()?);
        }
        let attributes = list::decode(f)?;
        let data_type = f.data_type()?;
        Ok(Variable { name, dimensions, attributes, data_type, size: f.size()?, begin: f.file_offset()? })
    }

    fn encode(&self, e: &mut Encoder, version: Version) -> Result<()> {
        fields::name(e, version, &self.name)?;
        fields::non_negative(e, version, self.dimensions.len() as u64)?;
        for dimension in &self.dimensions {
            fields::non_negative(e, version, *dimension)?;
        }
        list::encode(&self.attributes, e, version)?;
        fields::u32(e, self.data_type as u32);
        fields::uint(e, version.count_width(), self.size)?;
        fields::uint(e, version.offset_width(), self.begin)
    }
}
