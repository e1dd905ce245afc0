//! Datatype message, type 0x0003.
//!
//! Spec: HDF5 IV.A.2.d

pub mod array;
pub mod bit_field;
pub mod complex;
pub mod compound;
pub mod enumeration;
pub mod fixed_point;
pub mod floating_point;
pub mod opaque;
pub mod reference;
pub mod string;
pub mod time;
pub mod variable_length;

pub use array::Array;
pub use bit_field::BitField;
pub use complex::Complex;
pub use compound::{Compound, Member};
pub use enumeration::Enumeration;
pub use fixed_point::FixedPoint;
pub use floating_point::{FloatByteOrder, FloatingPoint, Normalization};
pub use opaque::Opaque;
pub use reference::{Reference, ReferenceType};
pub use string::{StringPadding, Text};
pub use time::Time;
pub use variable_length::{VariableLength, VariableLengthKind};

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, ErrorKind, Result};

/// The datatype of the elements of a dataset or attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datatype {
    /// The version of the encoding.
    pub version: Version,
    /// The size of an element in bytes.
    pub size: u32,
    /// The class, with its properties.
    pub class: DatatypeClass,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Of the first libhdf5. Members of compounds may have dimensions.
    V1 = 1,
    /// Since libhdf5 1.4, with an array class.
    V2 = 2,
    /// Since libhdf5 1.8: packed, with VAX byte order.
    V3 = 3,
    /// Since libhdf5 1.12, for revised references.
    V4 = 4,
    /// Since libhdf5 2.0, for complex numbers.
    V5 = 5,
}

/// The class of a datatype with its properties.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the structure of its name")]
pub enum DatatypeClass {
    FixedPoint(FixedPoint),
    FloatingPoint(FloatingPoint),
    Time(Time),
    String(Text),
    BitField(BitField),
    Opaque(Opaque),
    Compound(Compound),
    Reference(Reference),
    Enumeration(Enumeration),
    VariableLength(VariableLength),
    Array(Array),
    Complex(Complex),
}

/// The byte order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The least significant byte first.
    LittleEndian,
    /// The most significant byte first.
    BigEndian,
}

impl Datatype {
    /// The datatypes that this one contains.
    pub fn parts(&self) -> impl Iterator<Item = &Datatype> {
        let (base, members): (Option<&Datatype>, &[Member]) = match &self.class {
            DatatypeClass::Compound(compound) => (None, &compound.members),
            DatatypeClass::Enumeration(enumeration) => (Some(&enumeration.base), &[]),
            DatatypeClass::VariableLength(sequence) => (Some(&sequence.base), &[]),
            DatatypeClass::Array(array) => (Some(&array.base), &[]),
            DatatypeClass::Complex(complex) => (Some(&complex.base), &[]),
            _ => (None, &[]),
        };
        base.into_iter().chain(members.iter().map(|member| &member.datatype))
    }

    fn decode_nested(d: &mut Decoder<'_>, nesting: u32) -> Result<Self> {
        let at = d.clone();
        if nesting > MAX_NESTING {
            let detail = format!("datatypes nested more than {MAX_NESTING} levels deep");
            return Err(at.error(ErrorKind::LimitExceeded, detail));
        }
        let [class_and_version, b0, b1, b2] = d.array()?;
        let version = match class_and_version >> 4 {
            1 => Version::V1,
            2 => Version::V2,
            3 => Version::V3,
            4 => Version::V4,
            5 => Version::V5,
            other => return Err(at.unsupported(format!("version {other}, expected 1 to 5"))),
        };
        let bits = u32::from_le_bytes([b0, b1, b2, 0]);
        let size = d.u32()?;
        if size == 0 {
            return Err(at.malformed("element size 0, expected 1 or more"));
        }
        let head = Head { at, version, bits, size, nesting };
        let class = match class_and_version & 0x0f {
            FIXED_POINT => DatatypeClass::FixedPoint(FixedPoint::decode(d, &head)?),
            FLOATING_POINT => DatatypeClass::FloatingPoint(FloatingPoint::decode(d, &head)?),
            TIME => DatatypeClass::Time(Time::decode(d, &head)?),
            STRING => DatatypeClass::String(Text::decode(&head)?),
            BIT_FIELD => DatatypeClass::BitField(BitField::decode(d, &head)?),
            OPAQUE => DatatypeClass::Opaque(Opaque::decode(d, &head)?),
            COMPOUND => DatatypeClass::Compound(Compound::decode(d, &head)?),
            REFERENCE => DatatypeClass::Reference(Reference::decode(&head)?),
            ENUMERATION => DatatypeClass::Enumeration(Enumeration::decode(d, &head)?),
            VARIABLE_LENGTH => DatatypeClass::VariableLength(VariableLength::decode(d, &head)?),
            ARRAY => DatatypeClass::Array(Array::decode(d, &head)?),
            COMPLEX => DatatypeClass::Complex(Complex::decode(d, &head)?),
            other => return Err(head.at.unsupported(format!("class {other}, expected 0 to 11"))),
        };
        let version = match &class {
            DatatypeClass::Array(_) => version.max(Version::V2),
            _ => version,
        };
        Ok(Datatype { version, size, class })
    }

    /// Appends class, bit field and size. The properties of the class follow.
    fn encode_head(&self, e: &mut Encoder, class: u8, bits: u32) {
        e.u8((self.version as u8) << 4 | class);
        let [b0, b1, b2, _] = bits.to_le_bytes();
        e.bytes(&[b0, b1, b2]);
        e.u32(self.size);
    }

    fn encode_nested(&self, e: &mut Encoder) -> Result<()> {
        match &self.class {
            DatatypeClass::FixedPoint(class) => {
                self.encode_head(e, FIXED_POINT, class.bits());
                class.encode(e);
            }
            DatatypeClass::FloatingPoint(class) => {
                self.encode_head(e, FLOATING_POINT, class.bits(self.version)?);
                class.encode(e);
            }
            DatatypeClass::Time(class) => {
                self.encode_head(e, TIME, class.bits());
                class.encode(e);
            }
            DatatypeClass::String(class) => self.encode_head(e, STRING, class.bits()),
            DatatypeClass::BitField(class) => {
                self.encode_head(e, BIT_FIELD, class.bits());
                class.encode(e);
            }
            DatatypeClass::Opaque(class) => {
                self.encode_head(e, OPAQUE, class.bits()?);
                class.encode(e);
            }
            DatatypeClass::Compound(class) => {
                self.encode_head(e, COMPOUND, class.bits()?);
                class.encode(e, self)?;
            }
            DatatypeClass::Reference(class) => self.encode_head(e, REFERENCE, class.bits()),
            DatatypeClass::Enumeration(class) => {
                self.encode_head(e, ENUMERATION, class.bits()?);
                class.encode(e, self.version)?;
            }
            DatatypeClass::VariableLength(class) => {
                self.encode_head(e, VARIABLE_LENGTH, class.bits());
                class.encode(e)?;
            }
            DatatypeClass::Array(class) => {
                self.encode_head(e, ARRAY, 0);
                class.encode(e, self.version)?;
            }
            DatatypeClass::Complex(class) => {
                self.encode_head(e, COMPLEX, class.bits());
                class.encode(e)?;
            }
        }
        Ok(())
    }

    /// Precision and bit offset, for classes whose elements may have unused bits.
    fn used_bits(&self) -> Option<(u16, u16)> {
        match &self.class {
            DatatypeClass::FixedPoint(class) => Some((class.bit_precision, class.bit_offset)),
            DatatypeClass::FloatingPoint(class) => Some((class.bit_precision, class.bit_offset)),
            DatatypeClass::BitField(class) => Some((class.bit_precision, class.bit_offset)),
            _ => None,
        }
    }
}

impl Structure for Datatype {
    type Context = Sizes;
    const NAME: &'static str = "Datatype message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        Datatype::decode_nested(d, 1)
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        self.encode_nested(e)
    }
}

impl HeaderMessage for Datatype {
    const TYPE: MessageType = MessageType::DATATYPE;

    fn check_unchecksummed(&self) -> Result<()> {
        if let Some((precision, offset)) = self.used_bits() {
            let bits = u64::from(self.size) * 8;
            if self.size > 1 && bits > 2 * (u64::from(precision) + u64::from(offset)) {
                return Err(Error::malformed(format!(
                    "bit precision {precision} at bit offset {offset} leaves unusually many of {} bytes unused",
                    self.size
                )));
            }
        }
        self.parts().try_for_each(Datatype::check_unchecksummed)
    }
}

/// The fields before the properties, which all classes have.
struct Head<'a> {
    /// The position of the message, for errors.
    at: Decoder<'a>,
    version: Version,
    /// The class bit field.
    bits: u32,
    size: u32,
    nesting: u32,
}

impl Head<'_> {
    fn bit(&self, bit: u32) -> bool {
        self.bits >> bit & 1 != 0
    }

    /// Four bits of the class bit field, from bit `lowest` on.
    fn nibble(&self, lowest: u32) -> u8 {
        let [byte, ..] = (self.bits >> lowest).to_le_bytes();
        byte & 0x0f
    }

    /// Bits 0 to 15 of the class bit field, in which many classes store a number.
    fn count(&self) -> u16 {
        let [b0, b1, ..] = self.bits.to_le_bytes();
        u16::from_le_bytes([b0, b1])
    }

    fn byte_order(&self) -> ByteOrder {
        if self.bit(0) { ByteOrder::BigEndian } else { ByteOrder::LittleEndian }
    }

    fn base(&self, d: &mut Decoder<'_>) -> Result<Box<Datatype>> {
        Datatype::decode_nested(d, self.nesting + 1).map(Box::new)
    }

    /// Checks that `precision` bits at `offset` are within the element.
    fn check_bits(&self, offset: u16, precision: u16) -> Result<()> {
        if precision == 0 {
            return Err(self.at.malformed("bit precision 0, expected 1 or more"));
        }
        if u64::from(offset) + u64::from(precision) > u64::from(self.size) * 8 {
            return Err(self.at.malformed(format!(
                "bit precision {precision} at bit offset {offset} exceeds the element of {} bytes",
                self.size
            )));
        }
        Ok(())
    }
}

impl ByteOrder {
    fn bits(self) -> u32 {
        match self {
            ByteOrder::LittleEndian => 0,
            ByteOrder::BigEndian => 1,
        }
    }
}

/// A number with the bits set whose flag is true.
fn bits<const N: usize>(flags: [(u32, bool); N]) -> u32 {
    flags.iter().map(|(bit, set)| u32::from(*set) << bit).sum()
}

/// Decodes the name of a member. It ends with a NUL and, before version 3, is padded to a multiple of 8 bytes.
fn decode_name(d: &mut Decoder<'_>, version: Version) -> Result<Vec<u8>> {
    let name = d.until_nul()?;
    if version < Version::V3 {
        let len = name.len() + 1;
        d.reserved(len.next_multiple_of(8) - len)?;
    }
    Ok(name.to_vec())
}

fn encode_name(e: &mut Encoder, name: &[u8], version: Version) -> Result<()> {
    if name.contains(&0) {
        return Err(Error::invalid("member name contains NUL"));
    }
    let start = e.len();
    e.bytes(name);
    e.u8(0);
    if version < Version::V3 {
        e.pad_to(start, 8);
    }
    Ok(())
}

const FIXED_POINT: u8 = 0;
const FLOATING_POINT: u8 = 1;
const TIME: u8 = 2;
const STRING: u8 = 3;
const BIT_FIELD: u8 = 4;
const OPAQUE: u8 = 5;
const COMPOUND: u8 = 6;
const REFERENCE: u8 = 7;
const ENUMERATION: u8 = 8;
const VARIABLE_LENGTH: u8 = 9;
const ARRAY: u8 = 10;
const COMPLEX: u8 = 11;

/// Only hostile files nest datatypes more deeply; it could exhaust the stack.
const MAX_NESTING: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Datatype, context: Sizes::DEFAULT,
        golden: [
            include_str!("../../../tests/golden/message_datatype_nested_v1.hex"),
            include_str!("../../../tests/golden/message_datatype_nested_v3.hex"),
            include_str!("../../../tests/golden/message_datatype_nested_v4.hex"),
            include_str!("../../../tests/golden/message_datatype_nested_v5.hex"),
        ],
        values: []);

    fn decode(bytes: &[u8]) -> Result<Datatype> {
        Datatype::decode(&mut Decoder::new("t", 0, bytes), &Sizes::DEFAULT)
    }

    #[test]
    fn rejects_unknown_versions_and_classes() {
        for first in [0x00, 0x60, 0x1c, 0x3f] {
            let e = decode(&[first, 0, 0, 0, 1, 0, 0, 0]).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
        }
    }

    #[test]
    fn rejects_element_size_0() {
        assert_eq!(
            decode(&[0x13, 0, 0, 0, 0, 0, 0, 0]).unwrap_err().detail(),
            "element size 0, expected 1 or more"
        );
    }

    #[test]
    fn rejects_deep_nesting() {
        let mut bytes = Vec::new();
        for _ in 0..1000 {
            bytes.extend([0x39, 0, 0, 0, 16, 0, 0, 0]);
        }
        assert_eq!(decode(&bytes).unwrap_err().kind(), ErrorKind::LimitExceeded);
        bytes.truncate(31 * 8);
        bytes.extend([0x33, 0, 0, 0, 1, 0, 0, 0]);
        assert!(decode(&bytes).is_ok());
    }

    #[test]
    fn many_unused_bits_are_rejected_only_without_checksum() {
        // The array around it has no unused bits itself.
        let bytes = [0x3a, 0, 0, 0, 8, 0, 0, 0, 1, 1, 0, 0, 0, 0x30, 0, 0, 0, 8, 0, 0, 0, 0, 0, 31, 0];
        let datatype = decode(&bytes).unwrap();
        assert!(datatype.check_unchecksummed().is_err());
        let mut half_used = bytes;
        half_used[23] = 32;
        decode(&half_used).unwrap().check_unchecksummed().unwrap();
    }
}
