//! Run-length encoding and dictionary for strings of different lengths. Both process whole strings, so the offsets of
//! cells are not stored but rebuilt.
//!
//! Spec: TileDB format_spec, filters/rle.md and filters/dictionary_encoding.md

use super::part::{Filtered, Part, len32};
use super::{dictionary, rle};
use hyperslab_core::{Decoder, Error, ErrorKind, Result};

/// A filter of strings. It is the first one of its pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringFilter {
    /// Runs of equal strings.
    Rle,
    /// Numbers of entries.
    Dictionary,
}

impl StringFilter {
    fn name(self) -> &'static str {
        match self {
            StringFilter::Rle => "RLE Filter",
            StringFilter::Dictionary => "Dictionary Filter",
        }
    }

    /// Appends the decoded strings to `to`.
    pub(crate) fn decode(self, from: Part<'_>, to: &mut Strings<'_>) -> Result<()> {
        let mut d = from.decoder(self.name());
        let at = d.clone();
        let (metadata_parts, data_parts) = (d.u32()?, d.u32()?);
        if (metadata_parts, data_parts) != (0, 1) {
            return Err(at.malformed(format!(
                "{metadata_parts} parts of metadata and {data_parts} of data, expected 0 and 1"
            )));
        }
        let (len, filtered_len, offsets_len) = (d.u32()?, d.u32()?, d.u32()?);
        if u64::from(filtered_len) != from.data.len() as u64 {
            let found = from.data.len();
            return Err(at.malformed(format!("{filtered_len} filtered bytes, found {found}")));
        }
        if !offsets_len.is_multiple_of(8) {
            return Err(at.malformed(format!("{offsets_len} bytes of offsets, expected 8 for each")));
        }
        to.expect(u64::from(len), u64::from(offsets_len / 8)).map_err(|e| e.at_place(at.place()))?;
        let widths = [Width::decode(&mut d)?, Width::decode(&mut d)?];
        match self {
            StringFilter::Rle => rle::decode_strings(from.data, widths, to)?,
            StringFilter::Dictionary => {
                let [number, len] = widths;
                let size = u64::from(d.u32()?);
                let size = d.len_of(size)?;
                let entries = dictionary::entries(d.take(size)?, len)?;
                dictionary::decode_strings(from.data, number, &entries, to)?;
            }
        }
        d.finish()?;
        to.finish()
    }

    /// Replaces the content of `to` with the metadata and data of strings, which are `cells` cut at `offsets`.
    pub(crate) fn encode(self, cells: &[u8], offsets: &[u64], to: &mut Filtered) -> Result<()> {
        let ends = offsets.iter().skip(1).copied().chain([cells.len() as u64]);
        let strings = offsets.iter().zip(ends).map(|(start, end)| {
            let range = usize::try_from(*start).ok()?..usize::try_from(end).ok()?;
            cells.get(range)
        });
        if offsets.first().is_some_and(|first| *first != 0) || strings.clone().any(|string| string.is_none())
        {
            let detail = format!("offsets that do not ascend from 0 to at most {}", cells.len());
            return Err(Error::invalid(detail));
        }
        let strings = strings.flatten();
        to.data.clear();
        let (dictionary, widths) = match self {
            StringFilter::Rle => (None, rle::encode_strings(strings, &mut to.data)),
            StringFilter::Dictionary => {
                let (dictionary, widths) = dictionary::encode_strings(strings, &mut to.data);
                (Some(dictionary), widths)
            }
        };
        to.metadata.clear();
        to.metadata.extend_from_slice(&0_u32.to_le_bytes());
        to.metadata.extend_from_slice(&1_u32.to_le_bytes());
        to.metadata.extend_from_slice(&len32(cells.len())?);
        to.metadata.extend_from_slice(&len32(to.data.len())?);
        to.metadata.extend_from_slice(&len32(size_of_val(offsets))?);
        to.metadata.extend(widths.map(Width::bytes));
        if let Some(dictionary) = dictionary {
            to.metadata.extend_from_slice(&len32(dictionary.len())?);
            to.metadata.extend_from_slice(&dictionary);
        }
        Ok(())
    }
}

/// Decoded strings: their bytes, and the start of each.
pub(crate) struct Strings<'o> {
    bytes: &'o mut Vec<u8>,
    offsets: &'o mut Vec<u64>,
    /// The number of bytes and strings that are still expected.
    left: [u64; 2],
    /// The maximum number of bytes of memory.
    limit: u64,
}

impl<'o> Strings<'o> {
    /// Strings that may take up to `limit` bytes, including 8 for each offset. They replace the previous content.
    pub(crate) fn new(bytes: &'o mut Vec<u8>, offsets: &'o mut Vec<u64>, limit: u64) -> Strings<'o> {
        bytes.clear();
        offsets.clear();
        Strings { bytes, offsets, left: [0; 2], limit }
    }

    fn expect(&mut self, bytes: u64, strings: u64) -> Result<()> {
        self.left = [bytes, strings];
        let needed = bytes.saturating_add(strings.saturating_mul(8));
        match needed <= self.limit {
            true => Ok(()),
            false => {
                let detail = format!("strings of {needed} bytes, expected at most {}", self.limit);
                Err(Error::new(ErrorKind::LimitExceeded, detail))
            }
        }
    }

    /// Appends the same string several times.
    pub(crate) fn push(&mut self, string: &[u8], times: u64) -> Result<()> {
        let [bytes, strings] = &mut self.left;
        let len = (string.len() as u64).checked_mul(times).and_then(|len| bytes.checked_sub(len));
        let (Some(bytes_left), Some(strings_left)) = (len, strings.checked_sub(times)) else {
            return Err(Error::malformed(format!(
                "{times} times a string of {} bytes, where {bytes} bytes in {strings} strings are left",
                string.len()
            )));
        };
        (*bytes, *strings) = (bytes_left, strings_left);
        for _ in 0..times {
            self.offsets.push(self.bytes.len() as u64);
            self.bytes.extend_from_slice(string);
        }
        Ok(())
    }

    /// Checks that the strings have the number of bytes that their chunk states.
    pub(crate) fn check_len(&self, len: usize) -> Result<()> {
        match self.bytes.len() == len {
            true => Ok(()),
            false => Err(Error::malformed(format!("strings of {} bytes, expected {len}", self.bytes.len()))),
        }
    }

    fn finish(&self) -> Result<()> {
        match self.left {
            [0, 0] => Ok(()),
            [bytes, strings] => {
                Err(Error::malformed(format!("{bytes} bytes in {strings} strings are missing")))
            }
        }
    }
}

/// The size of a number in bytes. Such numbers are big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    One,
    Two,
    Four,
    Eight,
}

impl Width {
    /// The smallest width that holds a number.
    pub(crate) fn of(max: u64) -> Width {
        match max {
            0..=0xff => Width::One,
            0x100..=0xffff => Width::Two,
            0x1_0000..=0xffff_ffff => Width::Four,
            _ => Width::Eight,
        }
    }

    fn decode(d: &mut Decoder<'_>) -> Result<Width> {
        let at = d.clone();
        match d.u8()? {
            1 => Ok(Width::One),
            2 => Ok(Width::Two),
            4 => Ok(Width::Four),
            8 => Ok(Width::Eight),
            other => Err(at.malformed(format!("numbers of {other} bytes, expected 1, 2, 4 or 8"))),
        }
    }

    fn bytes(self) -> u8 {
        match self {
            Width::One => 1,
            Width::Two => 2,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// Takes a number from the front of `left`.
    pub(crate) fn take(self, left: &mut &[u8]) -> Result<u64> {
        match left.split_at_checked(usize::from(self.bytes())) {
            Some((number, rest)) => {
                *left = rest;
                Ok(number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
            }
            None => {
                Err(Error::malformed(format!("a number of {} bytes, {} remain", self.bytes(), left.len())))
            }
        }
    }

    /// Takes a length, and the number of bytes that it states.
    pub(crate) fn take_bytes<'a>(self, left: &mut &'a [u8]) -> Result<&'a [u8]> {
        let len = self.take(left)?;
        let parts = usize::try_from(len).ok().and_then(|len| left.split_at_checked(len));
        let Some((bytes, rest)) = parts else {
            return Err(Error::malformed(format!("a string of {len} bytes, {} remain", left.len())));
        };
        *left = rest;
        Ok(bytes)
    }

    /// Appends a number whose bytes beyond the width are 0.
    pub(crate) fn put(self, number: u64, out: &mut Vec<u8>) {
        let bytes = number.to_be_bytes();
        out.extend(bytes.iter().skip(8 - usize::from(self.bytes())));
    }
}
