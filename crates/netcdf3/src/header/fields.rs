//! The fields that headers are made of: big-endian numbers, names, and values padded to four bytes.

use super::{MAGIC, Version};
use crate::data_type::DataType;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Why decoding stops.
pub(super) enum Stop {
    /// This many bytes of the file are needed, and the file has them.
    More(u64),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

/// A cursor over the first bytes of a file.
pub(super) struct Fields<'a> {
    d: Decoder<'a>,
    version: Version,
    /// The size of the whole file in bytes.
    len: u64,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8], len: u64) -> Fields<'a> {
        Fields { d: Decoder::new("NetCDF header", 0, bytes), version: Version::Classic, len }
    }

    pub(super) fn offset(&self) -> u64 {
        self.d.offset()
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// The number of bytes of the file that have not been decoded.
    fn left(&self) -> u64 {
        self.len.saturating_sub(self.offset())
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8], Stop> {
        match usize::try_from(len) {
            Ok(len) if len <= self.d.remaining() => Ok(self.d.take(len)?),
            _ if len <= self.left() => Err(Stop::More(self.offset().saturating_add(len))),
            _ => Err(self.d.malformed(format!("needs {len} bytes, {} remain", self.left())).into()),
        }
    }

    fn uint(&mut self, width: u8) -> Result<u64, Stop> {
        let bytes = self.take(u64::from(width))?;
        Ok(match (bytes.first_chunk(), bytes.first_chunk()) {
            (Some(wide), _) => u64::from_be_bytes(*wide),
            (_, Some(narrow)) => u64::from(u32::from_be_bytes(*narrow)),
            _ => bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        })
    }

    /// `magic`
    pub(super) fn magic(&mut self) -> Result<Version, Stop> {
        let mut at = self.d.clone();
        let magic = self.take(MAGIC.len() as u64 + 1)?;
        at.signature(MAGIC)?;
        let byte = magic.last().copied().unwrap_or(0);
        let version = Version::of(byte);
        self.version =
            version.ok_or_else(|| at.unsupported(format!("version {byte}, expected 1, 2 or 5")))?;
        Ok(self.version)
    }

    /// `NON_NEG`
    pub(super) fn non_negative(&mut self) -> Result<u64, Stop> {
        self.uint(self.version.count_width())
    }

    /// `vsize`
    pub(super) fn size(&mut self) -> Result<u64, Stop> {
        self.uint(self.version.count_width())
    }

    /// `OFFSET`
    pub(super) fn file_offset(&mut self) -> Result<u64, Stop> {
        self.uint(self.version.offset_width())
    }

    /// `nc_type`
    pub(super) fn data_type(&mut self) -> Result<DataType, Stop> {
        let at = self.d.clone();
        let code = self.uint(4)?;
        let known = DataType::of(code);
        known.ok_or_else(|| at.unsupported(format!("type {code}, expected 1 to 11")).into())
    }

    /// `name`
    pub(super) fn name(&mut self) -> Result<Vec<u8>, Stop> {
        let len = self.non_negative()?;
        self.padded(len, 1)
    }

    /// `count` values of `size` bytes, and the padding after them.
    pub(super) fn padded(&mut self, count: u64, size: u64) -> Result<Vec<u8>, Stop> {
        self.check_count(count, size, "values")?;
        let len = count.saturating_mul(size);
        let values = self.take(len)?.to_vec();
        self.take(padding(len))?;
        Ok(values)
    }

    /// A tag, and the number of items that follow it.
    pub(super) fn tag(&mut self, code: u32, name: &'static str) -> Result<u64, Stop> {
        let at = self.d.clone();
        let tag = self.uint(4)?;
        let count = self.non_negative()?;
        match tag {
            tag if tag == u64::from(code) => Ok(count),
            0 if count == 0 => Ok(0),
            tag => {
                let message =
                    format!("tag {tag} with {count} items, expected {code} ({name}), or 0 with 0 items");
                Err(at.malformed(message).into())
            }
        }
    }

    /// Checks that the rest of the file has room for this many items.
    pub(super) fn check_count(&self, count: u64, least: u64, name: &str) -> Result<(), Stop> {
        match count.checked_mul(least).is_some_and(|bytes| bytes <= self.left()) {
            true => Ok(()),
            false => {
                let left = self.left();
                Err(self
                    .d
                    .malformed(format!("{count} {name} do not fit in the {left} bytes that are left"))
                    .into())
            }
        }
    }
}

pub(super) fn uint(e: &mut Encoder, width: u8, value: u64) -> Result<()> {
    let bytes = value.to_be_bytes();
    match bytes.split_at_checked(bytes.len().saturating_sub(usize::from(width))) {
        Some((high, low)) if high.iter().all(|byte| *byte == 0) => {
            e.bytes(low);
            Ok(())
        }
        _ => Err(Error::invalid(format!("{value} does not fit in {width} bytes"))),
    }
}

pub(super) fn u32(e: &mut Encoder, value: u32) {
    e.bytes(&value.to_be_bytes());
}

pub(super) fn non_negative(e: &mut Encoder, version: Version, value: u64) -> Result<()> {
    uint(e, version.count_width(), value)
}

pub(super) fn name(e: &mut Encoder, version: Version, name: &[u8]) -> Result<()> {
    non_negative(e, version, name.len() as u64)?;
    padded(e, name);
    Ok(())
}

pub(super) fn padded(e: &mut Encoder, bytes: &[u8]) {
    let start = e.len();
    e.bytes(bytes);
    e.pad_to(start, 4);
}

/// The number of items, of `count` in all, to allocate memory for at once: most lists are short.
pub(super) fn some(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX).min(64)
}

/// The number of bytes to the next multiple of four.
pub(crate) fn padding(len: u64) -> u64 {
    len.wrapping_neg() % 4
}
