//! Types of elements.

use crate::NodePath;
use hyperslab_core::rows::{Slot, int_row};
use std::fmt;
use std::sync::Arc;

/// The type of an element. How it is stored is in [`ElementStorage`](crate::ElementStorage).
///
/// `Display` gives the canonical form of the type in content digests: `float32`, `compound(x:int32;y:string)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Datatype {
    /// An integer of a whole number of bytes.
    Int {
        /// The stored size in bits, a multiple of 8.
        bits: u16,
        /// Whether it is signed.
        signed: bool,
    },
    /// A floating-point number.
    Float(Float),
    /// A complex number of two such floating-point numbers.
    Complex(Float),
    /// A boolean.
    Bool,
    /// An integer of the HDF5 time class. The file does not state its unit.
    Time {
        /// The stored size in bits, a multiple of 8.
        bits: u16,
    },
    /// A point in time or a duration: a 64-bit integer that counts units.
    Datetime(TimeUnit),
    /// A bit field, which has no arithmetic meaning.
    Bitfield {
        /// The size in bytes.
        size: u32,
    },
    /// A string.
    String(Text),
    /// Opaque bytes.
    Opaque {
        /// The size in bytes.
        size: u32,
        /// A description of the content, or empty.
        tag: String,
    },
    /// A reference to an object.
    ObjRef,
    /// A reference to elements of an array.
    RegRef,
    /// HDF5's revised reference: to an object, a region or an attribute.
    Reference,
    /// An enumeration: integers with names.
    Enum {
        /// The integer type.
        base: Box<Datatype>,
        /// Names and values in stored order.
        members: Vec<(String, i128)>,
    },
    /// A compound: named members, stored one after another.
    Compound(Vec<Member>),
    /// A sequence of variable length.
    Vlen(Box<Datatype>),
    /// An array of fixed shape within an element.
    Array {
        /// The element type.
        base: Box<Datatype>,
        /// The shape, with at least one dimension.
        shape: Vec<u64>,
    },
    /// A value that can be null.
    Nullable(Box<Datatype>),
    /// A named datatype: its path, and the type itself.
    Named(NodePath, Arc<Datatype>),
}

/// A member of a compound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its type.
    pub datatype: Datatype,
}

/// The floating-point formats.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// IEEE binary16.
    Half,
    /// IEEE binary32.
    Single,
    /// IEEE binary64.
    Double,
    /// IEEE binary128.
    Quad,
    /// The upper half of a binary32.
    BFloat,
    /// Any other format, described by its bit fields.
    Other(FloatFormat),
}

/// The bit fields of a floating-point format; positions count from the least significant bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    /// The stored size in bits, a multiple of 8.
    pub bits: u16,
    /// Position of the sign bit.
    pub sign: u8,
    /// Position and width of the exponent, in bits.
    pub exponent: (u8, u8),
    /// Position and width of the mantissa, in bits.
    pub mantissa: (u8, u8),
    /// The exponent bias.
    pub bias: u32,
    /// Whether the most significant bit of the mantissa is stored.
    pub normalization: Normalization,
}

/// Normalisation of the mantissa.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// The most significant bit is 1 and is not stored.
    #[default]
    Implied,
    /// The most significant bit is 1 and is stored.
    Set,
    /// The mantissa is not normalised.
    None,
}

/// The length and padding of a string. Strings with equal content are equal regardless of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// Variable length.
    Variable,
    /// Fixed length.
    Fixed {
        /// The length in bytes.
        len: u32,
        /// The padding.
        pad: crate::Pad,
    },
}

/// The unit of a time, as written in NDL: `ns`, `s`, `D`. A number before the letters gives the units in one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// The letters of the unit.
    pub unit: String,
    /// Whether it is a duration, not a point in time.
    pub duration: bool,
}

impl Datatype {
    /// The minimum number of values in the text of one element: those of nested arrays and members are counted
    /// separately, and anything else counts as one.
    pub fn leaves(&self) -> u64 {
        match self {
            Datatype::Array { base, shape } => {
                shape.iter().fold(base.leaves(), |product, extent| product.saturating_mul(*extent))
            }
            Datatype::Compound(members) => {
                members.iter().fold(0, |sum, member| member.datatype.leaves().saturating_add(sum))
            }
            Datatype::Named(_, of) => of.leaves(),
            _ => 1,
        }
    }

    /// The integer type of `bits` bits.
    pub const fn int(bits: u16, signed: bool) -> Self {
        Datatype::Int { bits, signed }
    }

    /// The size of one row of [`Values`](crate::Values) in bytes. `None` if it overflows.
    pub fn row_size(&self) -> Option<usize> {
        Some(match self {
            Datatype::Int { bits, .. } | Datatype::Time { bits } => int_row(usize::from(*bits).div_ceil(8)),
            Datatype::Float(float) => float.row_size(),
            Datatype::Complex(float) => 2 * float.row_size(),
            Datatype::Bool => 1,
            Datatype::Datetime(_) => 8,
            Datatype::Bitfield { size } | Datatype::Opaque { size, .. } => usize::try_from(*size).ok()?,
            Datatype::String(Text::Fixed { len, .. }) => usize::try_from(*len).ok()?,
            Datatype::String(Text::Variable)
            | Datatype::Vlen(_)
            | Datatype::ObjRef
            | Datatype::RegRef
            | Datatype::Reference => Slot::SIZE,
            Datatype::Enum { base, .. } => base.row_size()?,
            Datatype::Named(_, of) => of.row_size()?,
            Datatype::Compound(members) => {
                let mut size = 0_usize;
                for member in members {
                    size = size.checked_add(member.datatype.row_size()?)?;
                }
                size
            }
            Datatype::Array { base, shape } => {
                let mut size = base.row_size()?;
                for extent in shape {
                    size = size.checked_mul(usize::try_from(*extent).ok()?)?;
                }
                size
            }
            Datatype::Nullable(of) => of.row_size()?.checked_add(1)?,
        })
    }

    /// Whether rows have [slots](hyperslab_core::rows::Slot), which point to data of variable length.
    pub fn has_slots(&self) -> bool {
        match self {
            Datatype::String(Text::Variable)
            | Datatype::Vlen(_)
            | Datatype::ObjRef
            | Datatype::RegRef
            | Datatype::Reference => true,
            Datatype::Compound(members) => members.iter().any(|member| member.datatype.has_slots()),
            Datatype::Array { base, .. } | Datatype::Nullable(base) => base.has_slots(),
            Datatype::Named(_, of) => of.has_slots(),
            Datatype::Int { .. }
            | Datatype::Float(_)
            | Datatype::Complex(_)
            | Datatype::Bool
            | Datatype::Time { .. }
            | Datatype::Datetime(_)
            | Datatype::Bitfield { .. }
            | Datatype::String(Text::Fixed { .. })
            | Datatype::Opaque { .. }
            | Datatype::Enum { .. } => false,
        }
    }

    /// Whether `holds` is true for this type or a type within it: those of members, and of the elements of arrays,
    /// sequences and nullable types. For a named datatype, `holds` is called for the name and then for the type itself.
    pub fn any(&self, holds: &dyn Fn(&Datatype) -> bool) -> bool {
        holds(self)
            || match self {
                Datatype::Compound(members) => members.iter().any(|member| member.datatype.any(holds)),
                Datatype::Array { base: of, .. } | Datatype::Vlen(of) | Datatype::Nullable(of) => {
                    of.any(holds)
                }
                Datatype::Named(_, of) => of.any(holds),
                _ => false,
            }
    }

    /// Whether the type contains numbers of more than one byte, which have a byte order.
    pub fn has_byte_order(&self) -> bool {
        match self.resolved() {
            Datatype::Int { bits: 8, .. }
            | Datatype::Bool
            | Datatype::String(_)
            | Datatype::Opaque { .. }
            | Datatype::ObjRef
            | Datatype::RegRef
            | Datatype::Reference => false,
            Datatype::Enum { base, .. }
            | Datatype::Vlen(base)
            | Datatype::Array { base, .. }
            | Datatype::Nullable(base) => base.has_byte_order(),
            _ => true,
        }
    }

    /// The type itself, if this is a named datatype.
    pub fn resolved(&self) -> &Datatype {
        match self {
            Datatype::Named(_, of) => of.resolved(),
            other => other,
        }
    }

    /// The type of non-null values, with names resolved before and after nullability.
    pub fn non_null(&self) -> &Datatype {
        match self {
            Datatype::Named(_, of) => of.non_null(),
            Datatype::Nullable(of) => of.non_null(),
            other => other,
        }
    }

    /// Whether both types describe the same content. Names of types, lengths of strings and tags are ignored.
    pub fn same_content(&self, other: &Datatype) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Float {
    /// The size of a row in bytes.
    pub fn row_size(&self) -> usize {
        match self {
            Float::Half | Float::BFloat => 2,
            Float::Single => 4,
            Float::Double => 8,
            Float::Quad => 16,
            Float::Other(format) => usize::from(format.bits).div_ceil(8),
        }
    }

    /// The NDL keyword of the format. `None` for [`Float::Other`].
    pub fn keyword(&self) -> Option<&'static str> {
        Some(match self {
            Float::Half => "float16",
            Float::Single => "float32",
            Float::Double => "float64",
            Float::Quad => "float128",
            Float::BFloat => "bfloat16",
            Float::Other(_) => return None,
        })
    }
}

impl fmt::Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Float::Other(FloatFormat { bits, sign, exponent, mantissa, bias, .. }) => write!(
                f,
                "float({bits};{sign};{};{};{};{};{bias})",
                exponent.0, exponent.1, mantissa.0, mantissa.1
            ),
            named => f.write_str(named.keyword().unwrap_or_default()),
        }
    }
}

impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datatype::Int { bits, signed } => write!(f, "{}int{bits}", if *signed { "" } else { "u" }),
            Datatype::Float(float) => float.fmt(f),
            Datatype::Complex(Float::Single) => f.write_str("complex64"),
            Datatype::Complex(Float::Double) => f.write_str("complex128"),
            Datatype::Complex(float) => write!(f, "complex({float})"),
            Datatype::Bool => f.write_str("bool"),
            Datatype::Time { bits } => write!(f, "time({bits})"),
            Datatype::Datetime(TimeUnit { unit, duration: false }) => write!(f, "datetime({unit})"),
            Datatype::Datetime(TimeUnit { unit, duration: true }) => write!(f, "timedelta({unit})"),
            Datatype::Bitfield { size } => write!(f, "bitfield({})", u64::from(*size) * 8),
            Datatype::String(_) => f.write_str("string"),
            Datatype::Opaque { size, .. } => write!(f, "opaque({size})"),
            Datatype::ObjRef => f.write_str("objref"),
            Datatype::RegRef => f.write_str("regref"),
            Datatype::Reference => f.write_str("reference"),
            Datatype::Enum { base, members } => {
                write!(f, "enum({base};")?;
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
                separated(f, ";", &sorted, |f, (name, value)| write!(f, "{name}={value}"))?;
                f.write_str(")")
            }
            Datatype::Compound(members) => {
                f.write_str("compound(")?;
                separated(f, ";", members, |f, m| write!(f, "{}:{}", m.name, m.datatype))?;
                f.write_str(")")
            }
            Datatype::Vlen(base) => write!(f, "vlen({base})"),
            Datatype::Array { base, shape } => {
                write!(f, "array({base};")?;
                separated(f, ",", shape, |f, extent| write!(f, "{extent}"))?;
                f.write_str(")")
            }
            Datatype::Nullable(of) => write!(f, "nullable({of})"),
            Datatype::Named(_, of) => of.fmt(f),
        }
    }
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    separator: &str,
    items: &[T],
    one: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        one(f, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_sorts_enum_members_by_value_then_name() {
        let colour = Datatype::Enum {
            base: Box::new(Datatype::int(8, true)),
            members: vec![("b".into(), 1), ("a".into(), 1), ("z".into(), -1)],
        };
        assert_eq!(colour.to_string(), "enum(int8;z=-1;a=1;b=1)");
        let pair = Datatype::Compound(vec![
            Member { name: "c".into(), datatype: colour },
            Member {
                name: "m".into(),
                datatype: Datatype::Array {
                    base: Box::new(Datatype::Float(Float::Single)),
                    shape: vec![2, 3],
                },
            },
        ]);
        assert_eq!(pair.to_string(), "compound(c:enum(int8;z=-1;a=1;b=1);m:array(float32;2,3))");
        assert_eq!(pair.row_size(), Some(25));
    }

    #[test]
    fn durations_are_no_moments() {
        let time = |duration| Datatype::Datetime(TimeUnit { unit: "s".into(), duration }).to_string();
        assert_eq!([time(false), time(true)], ["datetime(s)", "timedelta(s)"]);
    }

    #[test]
    fn sizes_that_overflow_are_none() {
        let base = Box::new(Datatype::int(64, true));
        assert_eq!(Datatype::Array { base, shape: vec![u64::MAX / 2, 4] }.row_size(), None);
    }
}
