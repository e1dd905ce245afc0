//! Client data that depend on the elements and chunks of a dataset, as the filters compute them when one is created.

use super::{nbit, scale_offset, szip, zfp};
use crate::element::FloatKind;
use crate::format::message::datatype::{ByteOrder, Datatype, DatatypeClass, FloatByteOrder, FloatingPoint};
use hyperslab_codec::{NbitAtomic, NbitType, ScaleOffsetNumber, Szip, Zfp, ZfpMode, ZfpNumber};
use hyperslab_core::{Error, Result};

/// The chunks that a filter receives.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'a> {
    /// The datatype of the elements.
    pub datatype: &'a Datatype,
    /// The shape of a chunk in elements.
    pub shape: &'a [u64],
}

/// The precision that scale-offset keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Of integers, this number of bits; 0 for as many as the differences in a chunk need.
    Bits(u32),
    /// Of floating-point numbers, this number of digits after the decimal point.
    Digits(i32),
}

impl Chunks<'_> {
    /// Client data of szip with this number of pixels in a block. `nearest` asks for differences of neighbours.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if elements are not numbers, or a
    /// chunk has fewer than the pixels of a block.
    pub fn szip(&self, pixels: u32, nearest: bool) -> Result<Vec<u32>> {
        let size = self.datatype.size.saturating_mul(8);
        let (big_endian, precision, offset) = match &self.datatype.class {
            DatatypeClass::FixedPoint(of) => (is_big(of.byte_order), of.bit_precision, of.bit_offset),
            DatatypeClass::BitField(of) => (is_big(of.byte_order), of.bit_precision, of.bit_offset),
            DatatypeClass::Time(of) => (is_big(of.byte_order), of.bit_precision, 0),
            DatatypeClass::FloatingPoint(FloatingPoint {
                byte_order: order @ (FloatByteOrder::LittleEndian | FloatByteOrder::BigEndian),
                bit_precision,
                bit_offset,
                ..
            }) => (*order == FloatByteOrder::BigEndian, *bit_precision, *bit_offset),
            _ => return Err(refused("szip", "integers and floating-point numbers")),
        };
        let bits = match (offset, u32::from(precision)) {
            (0, precision) => precision,
            _ => size,
        };
        let bits = match bits {
            ..=24 => bits,
            25..=32 => 32,
            _ => 64,
        };
        let elements = u32::try_from(self.elements()?).unwrap_or(u32::MAX);
        let most = pixels.saturating_mul(MAX_BLOCKS);
        let scanline = match self.shape.last().and_then(|last| u32::try_from(*last).ok()).unwrap_or(u32::MAX)
        {
            last if last < pixels && elements < pixels => {
                return Err(Error::invalid(format!(
                    "szip in blocks of {pixels} pixels of chunks of {elements} elements, expected at least as many"
                )));
            }
            last if last < pixels => elements.min(most),
            last if last <= MAX_SCANLINE => last.min(most),
            _ => most,
        };
        let codec = Szip::new(bits, pixels, scanline, nearest, big_endian)?;
        Ok(szip::encode(&codec))
    }

    /// Client data of nbit. Elements without padding pass unchanged, which the client data records.
    ///
    /// # Errors
    /// If a size exceeds 32 bits.
    pub fn nbit(&self) -> Result<Vec<u32>> {
        let mut is_whole = true;
        let element = significant(self.datatype, &mut is_whole)?;
        nbit::client_data(self.elements()?, &element, is_whole)
    }

    /// Client data of scale-offset. `fill` is the fill value as the bytes of an element, little-endian; `None` if it is
    /// undefined.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) unless elements are integers and
    /// `kept` is a number of bits, or they are floating-point numbers of 4 or 8 bytes and it is a number of digits.
    pub fn scale_offset(&self, kept: Kept, fill: Option<u64>) -> Result<Vec<u32>> {
        let (number, big_endian) = match (&self.datatype.class, kept) {
            (DatatypeClass::FixedPoint(class), Kept::Bits(bits)) => {
                let all = self.datatype.size.saturating_mul(8);
                if bits > all || !matches!(self.datatype.size, 1 | 2 | 4 | 8) {
                    return Err(Error::invalid(format!(
                        "scaleoffset to {bits} bits of integers of {} bytes, expected 1, 2, 4 or 8 bytes and no more than \
                         their bits",
                        self.datatype.size
                    )));
                }
                let size = bytes(self.datatype.size)?;
                (ScaleOffsetNumber::Integer { size, signed: class.signed, bits }, is_big(class.byte_order))
            }
            (DatatypeClass::FloatingPoint(class), Kept::Digits(digits)) => {
                let number = match (self.datatype.size, class.byte_order) {
                    (_, FloatByteOrder::Vax) => None,
                    (4, _) => Some(ScaleOffsetNumber::Float32 { digits }),
                    (8, _) => Some(ScaleOffsetNumber::Float64 { digits }),
                    _ => None,
                };
                let number = number.ok_or_else(|| refused("scaleoffset", "numbers of 4 or 8 bytes"))?;
                (number, class.byte_order == FloatByteOrder::BigEndian)
            }
            (_, Kept::Bits(_)) => return Err(refused("scaleoffset to a number of bits", "integers")),
            (_, Kept::Digits(_)) => {
                return Err(refused("scaleoffset to a number of digits", "floating-point numbers"));
            }
        };
        scale_offset::client_data(self.elements()?, number, big_endian, fill)
    }

    /// Client data of zfp.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if elements are not numbers of 4 or 8
    /// bytes, if chunks have more than four dimensions with several elements, or if the limits of a mode contradict
    /// each other.
    pub fn zfp(&self, mode: ZfpMode) -> Result<Vec<u32>> {
        let (number, big_endian) = match &self.datatype.class {
            DatatypeClass::FixedPoint(class) => {
                let number = match self.datatype.size {
                    4 => Some(ZfpNumber::Int32),
                    8 => Some(ZfpNumber::Int64),
                    _ => None,
                };
                (number, is_big(class.byte_order))
            }
            DatatypeClass::FloatingPoint(class) => {
                let number = match FloatKind::of(class, self.datatype.size) {
                    FloatKind::Single => Some(ZfpNumber::Float32),
                    FloatKind::Double => Some(ZfpNumber::Float64),
                    _ => None,
                };
                let number = number.filter(|_| class.byte_order != FloatByteOrder::Vax);
                (number, class.byte_order == FloatByteOrder::BigEndian)
            }
            _ => (None, false),
        };
        let number = number.ok_or_else(|| refused("zfp", "integers or IEEE numbers of 4 or 8 bytes"))?;
        // The plugin ignores dimensions of one element.
        let several = self.shape.iter().filter(|extent| **extent > 1).copied().map(usize::try_from);
        let mut several: Vec<usize> = several
            .collect::<Result<_, _>>()
            .map_err(|_| Error::invalid("zfp of chunks that exceed the address space"))?;
        if several.is_empty() {
            several.push(1);
        }
        Ok(zfp::encode(&Zfp::new(number, &several, mode, big_endian)?))
    }

    fn elements(&self) -> Result<usize> {
        let count = self.shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent));
        count
            .and_then(|count| usize::try_from(count).ok())
            .ok_or_else(|| Error::invalid(format!("a chunk of {:?} elements, which overflow", self.shape)))
    }
}

/// The significant bits of a datatype. Clears `is_whole` if a number has padding.
fn significant(datatype: &Datatype, is_whole: &mut bool) -> Result<NbitType> {
    let size = bytes(datatype.size)?;
    let mut atomic = |big_endian: bool, precision: u16, offset: u16| {
        *is_whole &= offset == 0 && u32::from(precision) == datatype.size.saturating_mul(8);
        let (precision, offset) = (usize::from(precision), usize::from(offset));
        NbitType::Atomic(NbitAtomic { size, big_endian, precision, offset })
    };
    Ok(match &datatype.class {
        DatatypeClass::FixedPoint(of) => atomic(is_big(of.byte_order), of.bit_precision, of.bit_offset),
        DatatypeClass::FloatingPoint(of) if of.byte_order != FloatByteOrder::Vax => {
            atomic(of.byte_order == FloatByteOrder::BigEndian, of.bit_precision, of.bit_offset)
        }
        DatatypeClass::Array(class) => {
            NbitType::Array { size, base: Box::new(significant(&class.base, is_whole)?) }
        }
        DatatypeClass::Compound(class) => {
            let mut members = Vec::with_capacity(class.members.len());
            for member in &class.members {
                members.push((bytes(member.byte_offset)?, significant(&member.datatype, is_whole)?));
            }
            NbitType::Compound { size, members }
        }
        _ => NbitType::Bytes { size },
    })
}

fn bytes(size: u32) -> Result<usize> {
    usize::try_from(size).map_err(|_| Error::invalid(format!("{size} bytes, which exceed the address space")))
}

fn is_big(order: ByteOrder) -> bool {
    order == ByteOrder::BigEndian
}

fn refused(filter: &str, expected: &str) -> Error {
    Error::invalid(format!("{filter} of other elements than {expected}"))
}

/// The maximum number of blocks in a scanline that libhdf5 asks for.
const MAX_BLOCKS: u32 = 128;
/// The maximum number of pixels in a scanline that is a row of a chunk.
const MAX_SCANLINE: u32 = 4096;
