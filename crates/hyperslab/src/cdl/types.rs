//! The types of CDL, and the declarations of user-defined ones.

use hyperslab_model::{Datatype, Float, Member, Text};
use std::sync::Arc;

/// The type of a variable, an attribute or a part of a user-defined type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Byte,
    Char,
    Short,
    Int,
    Float,
    Double,
    UByte,
    UShort,
    UInt,
    Int64,
    UInt64,
    String,
    /// A user-defined type, by its number in [`Types`].
    User(usize),
}

impl Type {
    /// The keyword. `None` for a user-defined type.
    pub(super) fn keyword(self) -> Option<&'static str> {
        Some(match self {
            Type::Byte => "byte",
            Type::Char => "char",
            Type::Short => "short",
            Type::Int => "int",
            Type::Float => "float",
            Type::Double => "double",
            Type::UByte => "ubyte",
            Type::UShort => "ushort",
            Type::UInt => "uint",
            Type::Int64 => "int64",
            Type::UInt64 => "uint64",
            Type::String => "string",
            Type::User(_) => return None,
        })
    }

    /// The meaning of a datatype beyond its numbers, if CDL can express only the numbers.
    pub(super) fn loss(self, datatype: &Datatype) -> Option<String> {
        match datatype.resolved() {
            resolved @ (Datatype::Bool | Datatype::Datetime(_)) => {
                Some(format!("the type {resolved}, which is {} here", self.keyword()?))
            }
            _ => None,
        }
    }

    /// What follows an integer of this type in an attribute.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Type::Byte => "b",
            Type::Short => "s",
            Type::UByte => "UB",
            Type::UShort => "US",
            Type::UInt => "U",
            Type::Int64 => "LL",
            Type::UInt64 => "ULL",
            Type::Int | Type::Char | Type::Float | Type::Double | Type::String | Type::User(_) => "",
        }
    }
}

/// A user-defined type.
pub(super) struct UserType {
    pub(super) name: String,
    /// The number of the group that declares it.
    pub(super) group: usize,
    pub(super) class: Class,
    datatype: Datatype,
}

/// The parts of a user-defined type.
pub(super) enum Class {
    Enum { base: Type, members: Vec<(String, i128)> },
    Compound(Vec<Field>),
    Vlen(Type),
    Opaque(u32),
}

/// A member of a compound.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) of: Type,
    /// The extents of an array; empty for a single element.
    pub(super) extents: Vec<u64>,
}

/// All user-defined types of a store, in the order of their declarations.
#[derive(Default)]
pub(super) struct Types(Vec<UserType>);

impl Types {
    pub(super) fn get(&self, number: usize) -> Option<&UserType> {
        self.0.get(number)
    }

    /// Adds the type that a group declares under a name, and returns its number.
    ///
    /// # Errors
    /// The reason why CDL cannot declare it.
    pub(super) fn declare(
        &mut self,
        group: usize,
        name: &str,
        datatype: &Arc<Datatype>,
    ) -> Result<usize, String> {
        let class = match datatype.resolved() {
            Datatype::Enum { base, members } => {
                Class::Enum { base: self.part(base)?, members: members.clone() }
            }
            Datatype::Compound(members) => {
                Class::Compound(members.iter().map(|member| self.field(member)).collect::<Result<_, _>>()?)
            }
            Datatype::Vlen(base) => Class::Vlen(self.part(base)?),
            Datatype::Opaque { size, .. } => Class::Opaque(*size),
            other => return Err(format!("a name for {other}")),
        };
        self.0.push(UserType { name: name.to_owned(), group, class, datatype: without_names(datatype) });
        Ok(self.0.len() - 1)
    }

    /// The type of a variable. `precision` is the number of significant bits of its integers, if fewer than all.
    ///
    /// # Errors
    /// The reason why CDL has no such type.
    pub(super) fn of_variable(&self, datatype: &Datatype, precision: Option<u16>) -> Result<Type, String> {
        match datatype.resolved() {
            // The library uses the smallest type that holds the significant bits.
            Datatype::Int { signed, .. } => {
                let precision = precision.map(|bits| bits.max(8));
                self.of(&precision.map_or_else(|| datatype.clone(), |bits| Datatype::int(bits, *signed)))
            }
            Datatype::String(Text::Fixed { len: 0 | 1, .. }) => Ok(Type::Char),
            Datatype::String(_) => Ok(Type::String),
            _ => self.of(datatype),
        }
    }

    /// The type of a part of a user-defined type, where a fixed-length string is a character.
    fn part(&self, datatype: &Datatype) -> Result<Type, String> {
        match datatype.resolved() {
            Datatype::String(Text::Fixed { .. }) => Ok(Type::Char),
            _ => self.of(datatype),
        }
    }

    fn field(&self, member: &Member) -> Result<Field, String> {
        let (of, extents) = match member.datatype.resolved() {
            Datatype::Array { base, shape } => (self.part(base)?, shape.clone()),
            other => (self.part(other)?, Vec::new()),
        };
        Ok(Field { name: member.name.clone(), of, extents })
    }

    /// The type of an element that is not a string.
    pub(super) fn of(&self, datatype: &Datatype) -> Result<Type, String> {
        let resolved = datatype.resolved();
        Ok(match resolved {
            Datatype::Int { bits, signed } => match (bits.next_power_of_two(), signed) {
                (8, true) => Type::Byte,
                (16, true) => Type::Short,
                (32, true) => Type::Int,
                (64, true) => Type::Int64,
                (8, false) => Type::UByte,
                (16, false) => Type::UShort,
                (32, false) => Type::UInt,
                (64, false) => Type::UInt64,
                _ => return Err(format!("the type {resolved}")),
            },
            // Each type can represent all values of the smaller formats.
            Datatype::Float(Float::Single | Float::Half | Float::BFloat) => Type::Float,
            Datatype::Float(Float::Double) => Type::Double,
            Datatype::Float(Float::Other(format)) if format.bits <= 32 => Type::Float,
            Datatype::Float(Float::Other(format)) if format.bits <= 64 => Type::Double,
            Datatype::Bool => Type::UByte,
            Datatype::Datetime(_) => Type::Int64,
            Datatype::String(Text::Variable) => Type::String,
            Datatype::String(Text::Fixed { .. }) => Type::Char,
            Datatype::Enum { .. } | Datatype::Compound(_) | Datatype::Vlen(_) | Datatype::Opaque { .. } => {
                let wanted = without_names(resolved);
                let found = self.0.iter().position(|known| known.datatype == wanted);
                let unnamed = || format!("the type {resolved}, which is not declared");
                Type::User(found.ok_or_else(unnamed)?)
            }
            Datatype::Float(_)
            | Datatype::Complex(_)
            | Datatype::Time { .. }
            | Datatype::Bitfield { .. }
            | Datatype::ObjRef
            | Datatype::RegRef
            | Datatype::Reference
            | Datatype::Array { .. }
            | Datatype::Nullable(_)
            | Datatype::Named(..) => return Err(format!("the type {resolved}")),
        })
    }
}

/// The datatype with named types replaced by their definitions.
fn without_names(datatype: &Datatype) -> Datatype {
    match datatype {
        Datatype::Named(_, of) => without_names(of),
        Datatype::Vlen(base) => Datatype::Vlen(Box::new(without_names(base))),
        Datatype::Array { base, shape } => {
            Datatype::Array { base: Box::new(without_names(base)), shape: shape.clone() }
        }
        Datatype::Compound(members) => {
            let of = |member: &Member| Member {
                name: member.name.clone(),
                datatype: without_names(&member.datatype),
            };
            Datatype::Compound(members.iter().map(of).collect())
        }
        other => other.clone(),
    }
}
