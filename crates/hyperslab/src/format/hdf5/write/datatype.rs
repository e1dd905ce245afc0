//! Converts datatypes of the model to HDF5, the inverse of reading them.
//!
//! Types that HDF5 does not have are replaced by others with the same rows in memory, so elements need no separate
//! conversion.

use super::lowerings::{
    BOOLEAN, COMPLEX, DATETIME_PART, INNER_NAMED_TYPE, LABELS, NAMED_TYPE, NULLABLE, UTF_32,
};
use super::name;
use crate::target::Lowered;
use hyperslab_core::{Encoder, Error, Result};
use hyperslab_hdf5::element::FloatKind;
use hyperslab_hdf5::format::message::character_set::CharacterSet as Hdf5CharacterSet;
use hyperslab_hdf5::format::message::datatype::{
    Array, BitField, ByteOrder as Hdf5ByteOrder, Complex, Compound, Datatype as Hdf5Datatype, DatatypeClass,
    Enumeration, FixedPoint, FloatByteOrder, FloatingPoint, Member as Hdf5Member,
    Normalization as Hdf5Normalization, Opaque, Reference, ReferenceType, StringPadding, Text as Hdf5Text,
    Time, VariableLength, VariableLengthKind, Version,
};
use hyperslab_hdf5::format::{Address, Sizes, Structure, decode_prefix};
use hyperslab_hdf5::write::LibraryVersion;
use hyperslab_model::{
    ByteOrder, CharacterSet, Datatype, ElementStorage, Float, FloatFormat, Member, NodePath, Normalization,
    Pad, Text,
};
use std::sync::Arc;

/// The file for which datatypes are made.
#[derive(Clone, Copy)]
pub(super) struct Types<'a> {
    /// The width of addresses, which references and variable-length elements contain.
    pub(super) sizes: Sizes,
    /// The oldest library that must be able to read the file.
    pub(super) low: LibraryVersion,
    /// The newest library whose message versions may be used.
    pub(super) high: LibraryVersion,
    /// Whether complex numbers have the class of HDF5 2.0. Otherwise they are compounds, as h5py writes them and every
    /// library can read.
    pub(super) has_complex: bool,
    /// The committed datatype at a path; `None` if there is none in the file.
    pub(super) committed: &'a dyn Fn(&NodePath) -> Option<Committed>,
}

/// A committed datatype of the file.
#[derive(Clone, Debug)]
pub(super) struct Committed {
    /// The address of its object header. It may differ in the measuring pass.
    pub(super) address: Address,
    pub(super) datatype: Arc<Hdf5Datatype>,
}

/// A datatype of a file.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) datatype: Hdf5Datatype,
    /// The address of the committed datatype to which a message refers.
    pub(super) committed: Option<Address>,
    /// The parts of the datatype that are stored in another form.
    pub(super) lowered: Vec<&'static Lowered>,
}

impl Types<'_> {
    /// The datatype of elements with this storage.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if HDF5, or the library of the high bound, does not have
    /// the datatype; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if its storage is impossible.
    pub(super) fn written(&self, datatype: &Datatype, storage: &ElementStorage) -> Result<Written> {
        let mut lowered = Vec::new();
        let own = match datatype {
            Datatype::Named(path, of) => match (self.committed)(path) {
                Some(Committed { address, datatype }) => {
                    let datatype = Hdf5Datatype::clone(&datatype);
                    return Ok(Written { datatype, committed: Some(address), lowered });
                }
                None => {
                    lowered.push(&NAMED_TYPE);
                    of
                }
            },
            own => own,
        };
        let mut builder = Builder { types: self, lowered };
        let datatype = builder.datatype(own, storage, None)?.between(self.low, self.high)?;
        check(&datatype, &self.sizes)?;
        let mut lowered = builder.lowered;
        let mut known: Vec<*const Lowered> = Vec::new();
        lowered.retain(|row| {
            let is_new = !known.contains(&std::ptr::from_ref(*row));
            known.push(std::ptr::from_ref(*row));
            is_new
        });
        Ok(Written { datatype, committed: None, lowered })
    }
}

/// Checks that readers accept the datatype.
fn check(datatype: &Hdf5Datatype, sizes: &Sizes) -> Result<()> {
    let mut e = Encoder::new();
    datatype.encode(&mut e, sizes)?;
    decode_prefix::<Hdf5Datatype>(0, e.as_slice(), sizes)
        .map_err(|error| Error::invalid(format!("a datatype with {}", error.detail())))?;
    match e.len() <= MAX_MESSAGE {
        true => Ok(()),
        false => Err(Error::unsupported(format!(
            "a datatype of {} bytes, expected at most {MAX_MESSAGE}, which a message can hold",
            e.len()
        ))),
    }
}

struct Builder<'a> {
    types: &'a Types<'a>,
    lowered: Vec<&'static Lowered>,
}

impl Builder<'_> {
    /// The datatype in any version. Parts without a byte order have that of the whole.
    fn datatype(
        &mut self,
        from: &Datatype,
        storage: &ElementStorage,
        order: Option<ByteOrder>,
    ) -> Result<Hdf5Datatype> {
        let order = storage.endian.or(order);
        let offsets = u32::from(self.types.sizes.offsets);
        let (size, class) = match from {
            Datatype::Int { bits, signed } => integer(*bits, *signed, storage, order)?,
            Datatype::Datetime(_) => {
                self.lowered.push(&DATETIME_PART);
                integer(64, true, storage, order)?
            }
            Datatype::Time { bits } => {
                let size = bytes(*bits)?;
                let bit_precision = precision(size)?;
                let byte_order = integer_order(order, size)?;
                (size, DatatypeClass::Time(Time { byte_order, bit_precision }))
            }
            Datatype::Bitfield { size } => {
                let bits = BitField {
                    byte_order: integer_order(order, *size)?,
                    low_padding: false,
                    high_padding: false,
                    bit_offset: storage.offset.unwrap_or(0),
                    bit_precision: storage.precision.map_or_else(|| precision(*size), Ok)?,
                };
                (*size, DatatypeClass::BitField(bits))
            }
            Datatype::Float(float) => floating_point(float, order)?,
            Datatype::Complex(float) => return self.complex(float, storage, order),
            Datatype::Bool => {
                self.lowered.push(&BOOLEAN);
                let base = plain(integer(8, true, &ElementStorage::default(), None)?);
                let names = vec![b"FALSE".to_vec(), b"TRUE".to_vec()];
                let of = Enumeration { base: Box::new(base), names, values: vec![0, 1] };
                (1, DatatypeClass::Enumeration(of))
            }
            Datatype::Enum { base, members } => {
                let base = self.datatype(base, storage, order)?;
                let DatatypeClass::FixedPoint(number) = &base.class else {
                    return Err(Error::unsupported("an enumeration of other than integers"));
                };
                match enumeration(members, &base, number)? {
                    Some(of) => (base.size, DatatypeClass::Enumeration(of)),
                    None => {
                        self.lowered.push(&LABELS);
                        return Ok(base);
                    }
                }
            }
            Datatype::String(text) => self.text(text, storage),
            Datatype::Opaque { size, tag } => {
                let tag = name::stored(tag).0;
                (*size, DatatypeClass::Opaque(Opaque { tag }))
            }
            Datatype::ObjRef => (offsets, reference(ReferenceType::Object1)),
            Datatype::RegRef => (offsets + HEAP_INDEX, reference(ReferenceType::DatasetRegion1)),
            // A header of two bytes and the size of the encoded reference, which is in the global heap if it is long.
            Datatype::Reference => (2 + 4 + offsets + HEAP_INDEX, reference(ReferenceType::Object2)),
            Datatype::Compound(members) => self.compound(members, storage, order)?,
            Datatype::Vlen(base) => {
                let base = Box::new(self.datatype(base, storage, order)?);
                let kind = VariableLengthKind::Sequence;
                (self.sequence_size(), DatatypeClass::VariableLength(VariableLength { kind, base }))
            }
            Datatype::Array { base, shape } => {
                let base = Box::new(self.datatype(base, storage, order)?);
                let dimensions = shape.iter().map(|extent| u32::try_from(*extent));
                let dimensions = dimensions.collect::<Result<Vec<_>, _>>().ok();
                let of = dimensions.map(|dimensions| Array { dimensions, base });
                let size = of.as_ref().and_then(|of| of.len()?.checked_mul(of.base.size));
                match (of, size) {
                    (Some(of), Some(size)) => (size, DatatypeClass::Array(of)),
                    _ => return Err(too_large(&format!("an array of {shape:?} elements"))),
                }
            }
            Datatype::Nullable(of) => {
                self.lowered.push(&NULLABLE);
                let valid = self.datatype(&Datatype::Bool, &ElementStorage::default(), None)?;
                // The enumeration is part of the replacement for null values.
                self.lowered.pop();
                let value = self.datatype(of, storage, order)?;
                let size =
                    value.size.checked_add(valid.size).ok_or_else(|| too_large("a nullable element"))?;
                let member = |name: &[u8], byte_offset, datatype| Hdf5Member {
                    name: name.to_vec(),
                    byte_offset,
                    datatype,
                };
                let members = vec![member(b"valid", 0, valid), member(b"value", 1, value)];
                (size, DatatypeClass::Compound(Compound { members }))
            }
            Datatype::Named(path, of) => {
                self.lowered.push(&INNER_NAMED_TYPE);
                return match (self.types.committed)(path) {
                    Some(known) => Ok(Hdf5Datatype::clone(&known.datatype)),
                    None => self.datatype(of, storage, order),
                };
            }
        };
        Ok(plain((size, class)))
    }

    /// The size of the length and the heap ID that are stored for variable-length elements.
    fn sequence_size(&self) -> u32 {
        4 + u32::from(self.types.sizes.offsets) + HEAP_INDEX
    }

    fn complex(
        &mut self,
        float: &Float,
        storage: &ElementStorage,
        order: Option<ByteOrder>,
    ) -> Result<Hdf5Datatype> {
        let part = self.datatype(&Datatype::Float(float.clone()), storage, order)?;
        let size = part.size.checked_mul(2).ok_or_else(|| too_large("a complex number"))?;
        let class = if self.types.has_complex {
            DatatypeClass::Complex(Complex { base: Box::new(part) })
        } else {
            self.lowered.push(&COMPLEX);
            let member = |name: &[u8], byte_offset| Hdf5Member {
                name: name.to_vec(),
                byte_offset,
                datatype: part.clone(),
            };
            DatatypeClass::Compound(Compound { members: vec![member(b"r", 0), member(b"i", part.size)] })
        };
        Ok(plain((size, class)))
    }

    fn text(&mut self, text: &Text, storage: &ElementStorage) -> (u32, DatatypeClass) {
        let character_set = match storage.charset {
            Some(CharacterSet::Ascii) => Hdf5CharacterSet::Ascii,
            Some(CharacterSet::Utf8) | None => Hdf5CharacterSet::Utf8,
            Some(CharacterSet::Utf32) => {
                self.lowered.push(&UTF_32);
                Hdf5CharacterSet::Utf8
            }
        };
        match text {
            Text::Fixed { len, pad } => {
                (*len, DatatypeClass::String(Hdf5Text { padding: padding(*pad), character_set }))
            }
            Text::Variable => {
                let padding = padding(storage.pad.unwrap_or(Pad::NulTerminated));
                let character = FixedPoint {
                    byte_order: Hdf5ByteOrder::LittleEndian,
                    low_padding: false,
                    high_padding: false,
                    signed: false,
                    bit_offset: 0,
                    bit_precision: 8,
                };
                let base = Box::new(plain((1, DatatypeClass::FixedPoint(character))));
                let kind = VariableLengthKind::String { padding, character_set };
                (self.sequence_size(), DatatypeClass::VariableLength(VariableLength { kind, base }))
            }
        }
    }

    /// Members at their offsets, or one after the other.
    fn compound(
        &mut self,
        members: &[Member],
        storage: &ElementStorage,
        order: Option<ByteOrder>,
    ) -> Result<(u32, DatatypeClass)> {
        if let Some(offsets) = &storage.offsets
            && offsets.len() != members.len()
        {
            return Err(Error::invalid(format!(
                "{} offsets of {} members, expected one for each",
                offsets.len(),
                members.len()
            )));
        }
        let (none, mut end) = (ElementStorage::default(), 0_u64);
        let mut own = Vec::with_capacity(members.len());
        for (number, member) in members.iter().enumerate() {
            let of_member = storage.members.iter().find(|(name, _)| *name == member.name);
            let datatype = self.datatype(&member.datatype, of_member.map_or(&none, |(_, of)| of), order)?;
            let stated = storage.offsets.as_ref().and_then(|offsets| offsets.get(number).copied());
            let offset = stated.unwrap_or(end);
            let byte_offset = u32::try_from(offset).map_err(|_| too_large("a compound"))?;
            end = end.max(offset.saturating_add(datatype.size.into()));
            own.push(Hdf5Member { name: name::stored(&member.name).0, byte_offset, datatype });
        }
        let size = storage.itemsize.unwrap_or(end);
        if size < end {
            return Err(Error::invalid(format!("itemsize {size} of members that need {end} bytes")));
        }
        let size = u32::try_from(size).map_err(|_| too_large("a compound"))?;
        Ok((size, DatatypeClass::Compound(Compound { members: own })))
    }
}

/// A datatype whose version is not chosen yet.
fn plain((size, class): (u32, DatatypeClass)) -> Hdf5Datatype {
    Hdf5Datatype { version: Version::V1, size, class }
}

fn reference(reference_type: ReferenceType) -> DatatypeClass {
    DatatypeClass::Reference(Reference { reference_type })
}

fn bytes(bits: u16) -> Result<u32> {
    match bits % 8 {
        0 => Ok(u32::from(bits / 8)),
        _ => Err(Error::unsupported(format!("a number of {bits} bits, expected whole bytes"))),
    }
}

/// The total number of bits of an element.
fn precision(size: u32) -> Result<u16> {
    let bits = size.checked_mul(8).and_then(|bits| u16::try_from(bits).ok());
    bits.ok_or_else(|| Error::unsupported(format!("a number of {size} bytes")))
}

/// The type of bytes that are not elements.
pub(super) fn byte() -> Result<Hdf5Datatype> {
    integer(8, false, &ElementStorage::default(), None).map(plain)
}

fn integer(
    bits: u16,
    signed: bool,
    storage: &ElementStorage,
    order: Option<ByteOrder>,
) -> Result<(u32, DatatypeClass)> {
    let size = bytes(bits)?;
    let number = FixedPoint {
        byte_order: integer_order(order, size)?,
        low_padding: false,
        high_padding: false,
        signed,
        bit_offset: storage.offset.unwrap_or(0),
        bit_precision: storage.precision.unwrap_or(bits),
    };
    Ok((size, DatatypeClass::FixedPoint(number)))
}

/// The byte order of an integer. That of a single byte does not matter.
fn integer_order(order: Option<ByteOrder>, size: u32) -> Result<Hdf5ByteOrder> {
    match order {
        Some(ByteOrder::Big) if size > 1 => Ok(Hdf5ByteOrder::BigEndian),
        Some(ByteOrder::Vax) if size > 1 => {
            Err(Error::unsupported("VAX byte order of other than floating-point numbers"))
        }
        _ => Ok(Hdf5ByteOrder::LittleEndian),
    }
}

fn floating_point(float: &Float, order: Option<ByteOrder>) -> Result<(u32, DatatypeClass)> {
    let byte_order = match order {
        Some(ByteOrder::Big) => FloatByteOrder::BigEndian,
        Some(ByteOrder::Vax) => FloatByteOrder::Vax,
        Some(ByteOrder::Little) | None => FloatByteOrder::LittleEndian,
    };
    let kind = match float {
        Float::Half => FloatKind::Half,
        Float::Single => FloatKind::Single,
        Float::Double => FloatKind::Double,
        Float::Quad => FloatKind::Quad,
        Float::BFloat => FloatKind::BFloat,
        Float::Other(format) => return other_floating_point(format, byte_order),
    };
    let known = kind.class(byte_order).ok_or_else(|| Error::unsupported(format!("numbers {float}")))?;
    Ok((known.0, DatatypeClass::FloatingPoint(known.1)))
}

/// A floating-point number of any format. Its significant bits extend from the lowest to the highest bit of its fields.
fn other_floating_point(format: &FloatFormat, order: FloatByteOrder) -> Result<(u32, DatatypeClass)> {
    let size = bytes(format.bits)?;
    let end = |(at, count): (u8, u8)| u16::from(at) + u16::from(count);
    let lowest = format.sign.min(format.exponent.0).min(format.mantissa.0);
    let highest = end((format.sign, 1)).max(end(format.exponent)).max(end(format.mantissa));
    let class = FloatingPoint {
        byte_order: if size > 1 { order } else { FloatByteOrder::LittleEndian },
        low_padding: false,
        high_padding: false,
        internal_padding: false,
        normalization: match format.normalization {
            Normalization::None => Hdf5Normalization::None,
            Normalization::Set => Hdf5Normalization::MostSignificantBitSet,
            Normalization::Implied => Hdf5Normalization::MostSignificantBitImplied,
        },
        sign_location: format.sign,
        bit_offset: lowest.into(),
        bit_precision: highest - u16::from(lowest),
        exponent_location: format.exponent.0,
        exponent_size: format.exponent.1,
        mantissa_location: format.mantissa.0,
        mantissa_size: format.mantissa.1,
        exponent_bias: format.bias,
    };
    Ok((size, DatatypeClass::FloatingPoint(class)))
}

fn padding(pad: Pad) -> StringPadding {
    match pad {
        Pad::NulTerminated => StringPadding::NullTerminate,
        Pad::Nul => StringPadding::NullPad,
        Pad::Space => StringPadding::SpacePad,
    }
}

/// The names and values of an enumeration; `None` if they are too many for a message, or a name is not valid in HDF5.
fn enumeration(
    members: &[(String, i128)],
    base: &Hdf5Datatype,
    number: &FixedPoint,
) -> Result<Option<Enumeration>> {
    let value_size = u64::from(base.size);
    let size = |(name, _): &(String, i128)| (name.len() as u64).saturating_add(8).saturating_add(value_size);
    let all: u64 = members.iter().map(size).fold(0, u64::saturating_add);
    let is_name = |name: &str| !name.is_empty() && name::stored(name).1.is_none();
    if all > MAX_MEMBERS || !members.iter().all(|(name, _)| is_name(name)) {
        return Ok(None);
    }
    let mut values = Vec::new();
    for (name, value) in members {
        let stored = member_value(*value, base.size, number);
        values.extend(stored.ok_or_else(|| {
            Error::invalid(format!(
                "value {value} of {name:?}, which an integer of {} bits cannot hold",
                number.bit_precision
            ))
        })?);
    }
    let names = members.iter().map(|(name, _)| name::stored(name).0).collect();
    Ok(Some(Enumeration { base: Box::new(base.clone()), names, values }))
}

/// The bytes of a value; `None` if the integer cannot hold it.
fn member_value(value: i128, size: u32, number: &FixedPoint) -> Option<Vec<u8>> {
    let (bits, offset) = (u32::from(number.bit_precision), u32::from(number.bit_offset));
    let above = if number.signed { value.checked_shr(bits.checked_sub(1)?) } else { value.checked_shr(bits) };
    let fits = match above {
        Some(above) => above == 0 || number.signed && above == -1,
        None => number.signed || value >= 0,
    };
    let mask = u128::MAX.checked_shr(128_u32.saturating_sub(bits)).unwrap_or(0);
    let raw = (value.cast_unsigned() & mask).checked_shl(offset)?;
    let mut bytes = raw.to_le_bytes().get(..usize::try_from(size).ok()?)?.to_vec();
    if number.byte_order == Hdf5ByteOrder::BigEndian {
        bytes.reverse();
    }
    fits.then_some(bytes)
}

fn too_large(what: &str) -> Error {
    Error::unsupported(format!("{what} of 4 GiB or more"))
}

/// The size of the index of a global heap ID.
const HEAP_INDEX: u32 = 4;
/// The maximum size of a header message, whose size is a multiple of 8 in version 1.
const MAX_MESSAGE: usize = 65_528;
/// The maximum size of the members of an enumeration, which leaves room for its base type and its message.
const MAX_MEMBERS: u64 = 65_000;

#[cfg(test)]
mod tests;
