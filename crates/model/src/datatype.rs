//! What an element is.

use crate::NodePath;
use hyperslab_core::rows::{Slot, int_row};
use std::fmt;
use std::sync::Arc;

/// The type of an element, apart from how it is stored (see [`ElementStorage`](crate::ElementStorage)).
///
/// Displayed as the canonical type text of content digests: `float32`, `compound(x:int32;y:string)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Datatype {
    /// An integer of a whole number of bytes.
    Int {
        /// 8 × the stored bytes.
        bits: u16,
        /// Whether it can be negative.
        signed: bool,
    },
    /// A floating-point number.
    Float(Float),
    /// Real and imaginary part.
    Complex(Float),
    /// True or false.
    Bool,
    /// HDF5's time class: an integer whose meaning the file does not say.
    Time {
        /// 8 × the stored bytes.
        bits: u16,
    },
    /// A point in time or a duration, counted in units.
    Datetime(TimeUnit),
    /// Bits without arithmetic meaning.
    Bitfield {
        /// Stored bytes.
        size: u32,
    },
    /// Text.
    String(Text),
    /// Bytes without interpretation.
    Opaque {
        /// How many.
        size: u32,
        /// What they are, in words.
        tag: String,
    },
    /// A reference to an object.
    ObjRef,
    /// A reference to elements of an array.
    RegRef,
    /// HDF5's revised reference: to an object, a region or an attribute.
    Reference,
    /// Named integers.
    Enum {
        /// The integer.
        base: Box<Datatype>,
        /// Names and values in stored order.
        members: Vec<(String, i128)>,
    },
    /// Named members one after the other.
    Compound(Vec<Member>),
    /// A sequence of any length.
    Vlen(Box<Datatype>),
    /// A small array of fixed shape.
    Array {
        /// The element.
        base: Box<Datatype>,
        /// Its shape, at least one dimension.
        shape: Vec<u64>,
    },
    /// A value or null.
    Nullable(Box<Datatype>),
    /// A named datatype of the file.
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
    /// Any other, told by its bit fields.
    Other(FloatFormat),
}

/// The bit fields of a floating-point format; positions count from the least significant bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    /// 8 × the stored bytes.
    pub bits: u16,
    /// Position of the sign bit.
    pub sign: u8,
    /// Position and number of exponent bits.
    pub exponent: (u8, u8),
    /// Position and number of mantissa bits.
    pub mantissa: (u8, u8),
    /// What is added to the exponent.
    pub bias: u32,
    /// Where the mantissa's most significant bit is.
    pub normalization: Normalization,
}

/// How a mantissa is normalised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// Its most significant bit is 1 and not stored.
    #[default]
    Implied,
    /// Its most significant bit is 1 and stored.
    Set,
    /// It is not normalised.
    None,
}

/// How a text lies in its row. Content compares equal across all of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// As long as it is.
    Variable,
    /// Padded to a number of bytes.
    Fixed {
        /// Bytes.
        len: u32,
        /// What fills them.
        pad: crate::Pad,
    },
}

/// The unit that a time counts, as NDL writes it: `ns`, `s`, `D`, with how many make one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// The unit's letters.
    pub unit: String,
    /// Whether it is a duration.
    pub duration: bool,
}

impl Datatype {
    /// An integer.
    pub const fn int(bits: u16, signed: bool) -> Self {
        Datatype::Int { bits, signed }
    }

    /// Bytes of one element in [`Values`](crate::Values); `None` where that overflows.
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

    /// Whether rows have [slots](hyperslab_core::rows::Slot), which point to what does not fit in them.
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

    /// Whether this holds of the type or of one within it: of members, and of what arrays, sequences and nullable
    /// elements are of. A named type is asked as such and then for what it stands for.
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

    /// Whether elements have a byte order, which is that of their numbers.
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

    /// The type behind a name.
    pub fn resolved(&self) -> &Datatype {
        match self {
            Datatype::Named(_, of) => of.resolved(),
            other => other,
        }
    }

    /// Whether two types hold the same content: equal but for names of types, string lengths and tags.
    pub fn same_content(&self, other: &Datatype) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Float {
    /// Bytes in a row.
    pub fn row_size(&self) -> usize {
        match self {
            Float::Half | Float::BFloat => 2,
            Float::Single => 4,
            Float::Double => 8,
            Float::Quad => 16,
            Float::Other(format) => usize::from(format.bits).div_ceil(8),
        }
    }

    /// The keyword, if it has one.
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
            Datatype::Datetime(TimeUnit { unit, .. }) => write!(f, "datetime({unit})"),
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
    fn sizes_that_overflow_are_none() {
        let base = Box::new(Datatype::int(64, true));
        assert_eq!(Datatype::Array { base, shape: vec![u64::MAX / 2, 4] }.row_size(), None);
    }
}
