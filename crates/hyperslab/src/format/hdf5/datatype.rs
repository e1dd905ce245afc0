//! Converts HDF5 datatypes to the model.

use crate::strings::name_text;
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::element::FloatKind;
use hyperslab_hdf5::format::message::character_set::CharacterSet as Hdf5CharacterSet;
use hyperslab_hdf5::format::message::datatype::{
    ByteOrder as Hdf5ByteOrder, Compound, Datatype as Hdf5Datatype, DatatypeClass, Enumeration,
    FloatByteOrder, FloatingPoint, Normalization as Hdf5Normalization, ReferenceType, StringPadding,
    VariableLengthKind,
};
use hyperslab_model::{
    ByteOrder, CharacterSet, Datatype, ElementStorage, Float, FloatFormat, Length, Member, Normalization,
    Pad, Text,
};
use rustc_hash::FxHashSet;

/// The datatype of an element and its storage.
///
/// # Errors
/// If the datatype has more bits than the model can represent.
pub(super) fn datatype(from: &Hdf5Datatype) -> Result<(Datatype, ElementStorage)> {
    let mut storage = ElementStorage::default();
    let size = from.size;
    let datatype = match &from.class {
        DatatypeClass::FixedPoint(class) => {
            storage.endian = endian(class.byte_order, size);
            significant(&mut storage, size, class.bit_precision, class.bit_offset);
            Datatype::Int { bits: bits(size)?, signed: class.signed }
        }
        DatatypeClass::FloatingPoint(class) => {
            storage.endian = float_endian(class, size);
            Datatype::Float(float(class, size)?)
        }
        DatatypeClass::Time(class) => {
            storage.endian = endian(class.byte_order, size);
            Datatype::Time { bits: bits(size)? }
        }
        DatatypeClass::String(class) => {
            let pad = pad(class.padding);
            storage.length = Some(Length::Fixed(size));
            storage.charset = Some(charset(class.character_set));
            storage.pad = Some(pad);
            Datatype::String(Text::Fixed { len: size, pad })
        }
        DatatypeClass::BitField(class) => {
            storage.endian = endian(class.byte_order, size);
            significant(&mut storage, size, class.bit_precision, class.bit_offset);
            Datatype::Bitfield { size }
        }
        DatatypeClass::Opaque(class) => Datatype::Opaque { size, tag: name_text(&class.tag) },
        DatatypeClass::Compound(class) => compound(class, size, &mut storage)?,
        DatatypeClass::Reference(class) => match class.reference_type {
            ReferenceType::Object1 => Datatype::ObjRef,
            ReferenceType::DatasetRegion1 => Datatype::RegRef,
            ReferenceType::Object2 | ReferenceType::DatasetRegion2 | ReferenceType::Attribute => {
                Datatype::Reference
            }
        },
        DatatypeClass::Enumeration(class) => {
            let (base, of_base) = datatype(&class.base)?;
            storage = of_base;
            enumeration(class, base)?
        }
        DatatypeClass::VariableLength(class) => match &class.kind {
            VariableLengthKind::String { padding, character_set } => {
                storage.length = Some(Length::Variable);
                storage.charset = Some(charset(*character_set));
                storage.pad = Some(pad(*padding));
                Datatype::String(Text::Variable)
            }
            VariableLengthKind::Sequence => {
                let (base, of_base) = datatype(&class.base)?;
                storage = of_base;
                Datatype::Vlen(Box::new(base))
            }
        },
        DatatypeClass::Array(class) => {
            let (base, of_base) = datatype(&class.base)?;
            storage = of_base;
            let shape = class.dimensions.iter().map(|extent| u64::from(*extent)).collect();
            Datatype::Array { base: Box::new(base), shape }
        }
        DatatypeClass::Complex(class) => {
            let (base, of_base) = datatype(&class.base)?;
            storage = of_base;
            match base {
                Datatype::Float(float) => Datatype::Complex(float),
                other => return Err(Error::malformed(format!("complex numbers made of {other}"))),
            }
        }
    };
    Ok((datatype, storage))
}

fn bits(size: u32) -> Result<u16> {
    size.checked_mul(8)
        .and_then(|bits| u16::try_from(bits).ok())
        .ok_or_else(|| Error::unsupported(format!("a number of {size} bytes")))
}

/// The byte order; `None` for types of one byte.
fn endian(order: Hdf5ByteOrder, size: u32) -> Option<ByteOrder> {
    (size > 1).then_some(match order {
        Hdf5ByteOrder::LittleEndian => ByteOrder::Little,
        Hdf5ByteOrder::BigEndian => ByteOrder::Big,
    })
}

fn float_endian(class: &FloatingPoint, size: u32) -> Option<ByteOrder> {
    (size > 1).then_some(match class.byte_order {
        FloatByteOrder::LittleEndian => ByteOrder::Little,
        FloatByteOrder::BigEndian => ByteOrder::Big,
        FloatByteOrder::Vax => ByteOrder::Vax,
    })
}

/// Adds precision and offset unless all bits are significant.
fn significant(storage: &mut ElementStorage, size: u32, precision: u16, offset: u16) {
    storage.precision = (u32::from(precision) != size.saturating_mul(8)).then_some(precision);
    storage.offset = (offset != 0).then_some(offset);
}

fn float(class: &FloatingPoint, size: u32) -> Result<Float> {
    Ok(match FloatKind::of(class, size) {
        FloatKind::Half => Float::Half,
        FloatKind::Single => Float::Single,
        FloatKind::Double => Float::Double,
        FloatKind::Quad => Float::Quad,
        FloatKind::BFloat => Float::BFloat,
        FloatKind::Other => Float::Other(FloatFormat {
            bits: bits(size)?,
            sign: class.sign_location,
            exponent: (class.exponent_location, class.exponent_size),
            mantissa: (class.mantissa_location, class.mantissa_size),
            bias: class.exponent_bias,
            normalization: match class.normalization {
                Hdf5Normalization::None => Normalization::None,
                Hdf5Normalization::MostSignificantBitSet => Normalization::Set,
                Hdf5Normalization::MostSignificantBitImplied => Normalization::Implied,
            },
        }),
    })
}

fn charset(set: Hdf5CharacterSet) -> CharacterSet {
    match set {
        Hdf5CharacterSet::Ascii => CharacterSet::Ascii,
        Hdf5CharacterSet::Utf8 => CharacterSet::Utf8,
    }
}

fn pad(padding: StringPadding) -> Pad {
    match padding {
        StringPadding::NullTerminate => Pad::NulTerminated,
        StringPadding::NullPad => Pad::Nul,
        StringPadding::SpacePad => Pad::Space,
    }
}

fn compound(class: &Compound, size: u32, storage: &mut ElementStorage) -> Result<Datatype> {
    check_unique("member", class.members.iter().map(|member| &*member.name))?;
    let mut members = Vec::with_capacity(class.members.len());
    let (mut end, mut packed) = (0_u64, true);
    for member in &class.members {
        let name = name_text(&member.name);
        let (datatype, own) = datatype(&member.datatype)?;
        packed &= u64::from(member.byte_offset) == end;
        end = u64::from(member.byte_offset) + u64::from(member.datatype.size);
        if !own.is_empty() {
            storage.members.push((name.clone(), own));
        }
        members.push(Member { name, datatype });
    }
    if !packed || end != u64::from(size) {
        storage.offsets = Some(class.members.iter().map(|m| u64::from(m.byte_offset)).collect());
        storage.itemsize = Some(u64::from(size));
    }
    Ok(Datatype::Compound(members))
}

fn enumeration(class: &Enumeration, base: Datatype) -> Result<Datatype> {
    let DatatypeClass::FixedPoint(integer) = &class.base.class else {
        return Err(Error::malformed("an enumeration of other than integers"));
    };
    let size = usize::try_from(class.base.size).unwrap_or(usize::MAX).max(1);
    let values = class.values.chunks_exact(size).map(|stored| {
        let big = integer.byte_order == Hdf5ByteOrder::BigEndian;
        let fold = |value: i128, byte: &u8| value << 8 | i128::from(*byte);
        let raw = if big { stored.iter().fold(0, fold) } else { stored.iter().rev().fold(0, fold) };
        let (precision, offset) =
            (u32::from(integer.bit_precision.clamp(1, 127)), u32::from(integer.bit_offset.min(127)));
        let value = (raw >> offset) & ((1 << precision) - 1);
        let negative = integer.signed && value >> (precision - 1) & 1 == 1;
        if negative { value - (1 << precision) } else { value }
    });
    check_unique("value", class.names.iter().map(|name| &**name))?;
    let names = class.names.iter().map(|name| name_text(name));
    Ok(Datatype::Enum { base: Box::new(base), members: names.zip(values).collect() })
}

/// Rejects types in which two parts have the same name: neither a document nor another format could distinguish them.
fn check_unique<'a>(what: &str, mut names: impl Iterator<Item = &'a [u8]>) -> Result<()> {
    let mut known = FxHashSet::default();
    match names.find(|name| !known.insert(*name)) {
        None => Ok(()),
        Some(name) => {
            let name = name_text(name);
            Err(Error::malformed(format!("a datatype with two {what}s {name:?}, expected unique names")))
        }
    }
}
