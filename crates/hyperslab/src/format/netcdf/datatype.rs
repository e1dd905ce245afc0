//! Datatypes of the model as NetCDF represents them.
//!
//! Most types that NetCDF does not have are replaced by others with the same rows in memory, so elements need no
//! separate conversion.

use super::flavour::Flavour;
use super::lowerings::{
    BITS, BOOLEAN, CHARACTERS, COMPLEX, DATETIME, DATETIME_UNIT, ENUMERATION_ORDER, INNER_ARRAY, LABELS,
    NEAREST, NEAREST_INTEGERS, OUTER_TYPE, PLAIN_TYPE, SHORT_TEXTS, SMALLER, TEXTS, TIME, UNNAMED_TYPE,
    UNSIGNED, WIDER,
};
use super::name::of_names;
use super::record::Names;
use super::user_types::{UserTypes, is_in_scope};
use crate::target::Lowered;
use crate::target::conventions::{is_boolean, of_datetimes};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    ByteOrder, CharacterSet, Datatype, ElementStorage, Float, Length, Member, NodePath, Pad, Text, TimeUnit,
};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Lowers the datatypes of one object.
pub(in crate::format) struct Types<'a> {
    pub(in crate::format) user: &'a mut UserTypes,
    /// The stored path of the group that contains the object.
    pub(in crate::format) group: &'a NodePath,
    /// The name of the object, from which names for unnamed types are made.
    pub(in crate::format) hint: &'a str,
    pub(in crate::format) flavour: Flavour,
    /// The length in bytes of the longest string of the array, if the flavour has no variable-length strings.
    pub(in crate::format) longest: u64,
    /// Whether variable-length strings are UTF-8.
    pub(in crate::format) is_unicode: bool,
    /// Whether all elements fit into 32 bits, if the flavour has no larger integers.
    pub(in crate::format) is_small: bool,
    /// Whether attributes can describe the elements further.
    pub(in crate::format) is_explained: bool,
}

/// A datatype of NetCDF.
#[derive(Clone, Debug)]
pub(in crate::format) struct LoweredType {
    pub(in crate::format) datatype: Arc<Datatype>,
    pub(in crate::format) storage: ElementStorage,
    /// The extents of dimensions that follow those of the array, for elements that were arrays or strings.
    pub(in crate::format) inner: Vec<u64>,
    /// Whether the last of these counts the characters of a string.
    pub(in crate::format) has_characters: bool,
    pub(in crate::format) change: Change,
    /// Further information that readers need about the elements, as attributes defined by conventions.
    pub(in crate::format) conventions: Vec<(&'static str, String)>,
    pub(in crate::format) notes: Vec<&'static Lowered>,
    /// The original names of members of compounds and enumerations, for a datatype that is named in the source.
    pub(in crate::format) fields: Names,
}

/// How rows are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Change {
    None,
    /// Numbers become 32-bit floating-point numbers.
    ToSingle,
    /// Integers become signed 32-bit integers, into which all of them fit.
    ToInt,
    /// Numbers become 64-bit floating-point numbers.
    ToDouble,
    /// Fixed-length strings become variable-length strings.
    ToTexts,
    /// Variable-length strings become this number of characters.
    ToCharacters(u32),
}

impl LoweredType {
    fn new(datatype: Datatype, storage: ElementStorage) -> Self {
        LoweredType {
            datatype: Arc::new(datatype),
            storage,
            inner: Vec::new(),
            has_characters: false,
            change: Change::None,
            conventions: Vec::new(),
            notes: Vec::new(),
            fields: Names::new(),
        }
    }

    fn noting(mut self, note: &'static Lowered) -> Self {
        self.notes.push(note);
        self
    }

    fn telling(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.conventions.push((name, value.into()));
        self
    }
}

impl Types<'_> {
    /// The datatype of the elements of an array.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if NetCDF has no equivalent.
    pub(in crate::format) fn of_elements(
        &mut self,
        datatype: &Datatype,
        storage: &ElementStorage,
    ) -> Result<LoweredType> {
        let of = |datatype| LoweredType::new(datatype, order_of(storage));
        let lowered = match datatype {
            Datatype::Named(path, own) if !is_user_defined(own) => {
                let _ = path;
                self.of_elements(own, storage)?.noting(&PLAIN_TYPE)
            }
            Datatype::Named(path, own) if self.flavour.is_enhanced() => {
                let path = of_names(path, self.flavour);
                match is_in_scope(&path, self.group) {
                    true => {
                        LoweredType::new(Datatype::Named(path, Arc::clone(own)), ElementStorage::default())
                    }
                    false => {
                        let mut lowered = self.of_elements(own, storage)?;
                        lowered.notes.retain(|note| !std::ptr::eq(*note, &raw const UNNAMED_TYPE));
                        lowered.noting(&OUTER_TYPE)
                    }
                }
            }
            of_h5py if is_unnamed_boolean(of_h5py) => {
                of(Datatype::int(8, true)).telling("dtype", "bool").noting(&BOOLEAN)
            }
            Datatype::Enum { base, .. } if !self.flavour.is_enhanced() => {
                self.of_elements(base, storage)?.noting(&LABELS)
            }
            Datatype::Named(_, own)
                if !self.flavour.is_enhanced() && matches!(**own, Datatype::Enum { .. }) =>
            {
                self.of_elements(own, storage)?
            }
            Datatype::Int { bits, signed } => match width(*bits) {
                Some(bits_stored) => {
                    let lowered = of(Datatype::int(bits_stored, *signed));
                    if bits_stored == *bits { lowered } else { lowered.noting(&WIDER) }
                }
                None => return Err(self.flavour.without(datatype)),
            },
            Datatype::Float(Float::Single | Float::Double) => of(datatype.clone()),
            Datatype::Float(Float::Half | Float::BFloat) => {
                let single = of(Datatype::Float(Float::Single));
                LoweredType { change: Change::ToSingle, ..single }.noting(&WIDER)
            }
            Datatype::Float(Float::Quad | Float::Other(_)) => {
                let double = of(Datatype::Float(Float::Double));
                LoweredType { change: Change::ToDouble, ..double }.noting(&NEAREST)
            }
            Datatype::Bool => of(Datatype::int(8, true)).telling("dtype", "bool").noting(&BOOLEAN),
            Datatype::Time { bits } => match width(*bits) {
                Some(bits) => of(Datatype::int(bits, true)).noting(&TIME),
                None => return Err(self.flavour.without(datatype)),
            },
            Datatype::Datetime(unit) => datetime(unit, storage),
            Datatype::Bitfield { size: size @ (1 | 2 | 4 | 8) } => {
                let bits = u16::try_from(size * 8).unwrap_or(u16::MAX);
                of(Datatype::int(bits, false)).noting(&BITS)
            }
            Datatype::String(text) => self.text(*text, storage)?,
            // The length of these strings is not known.
            Datatype::Array { base, .. }
                if !self.flavour.is_enhanced()
                    && matches!(base.resolved(), Datatype::String(Text::Variable)) =>
            {
                return Err(self.flavour.without(datatype));
            }
            Datatype::Array { base, shape } => {
                let mut lowered = self.of_elements(base, storage)?.noting(&INNER_ARRAY);
                lowered.inner = shape.iter().chain(&lowered.inner).copied().collect();
                lowered
            }
            Datatype::Complex(Float::Single | Float::Double)
            | Datatype::Opaque { .. }
            | Datatype::Enum { .. }
            | Datatype::Compound(_)
            | Datatype::Vlen(_) => self.user_defined(datatype, storage)?,
            Datatype::Complex(_)
            | Datatype::Bitfield { .. }
            | Datatype::ObjRef
            | Datatype::RegRef
            | Datatype::Reference
            | Datatype::Nullable(_)
            | Datatype::Named(..) => return Err(self.flavour.without(datatype)),
        };
        match self.flavour.holds(&lowered.datatype) {
            true => Ok(lowered),
            false => self.other_integers(lowered).ok_or_else(|| self.flavour.without(datatype)),
        }
    }

    /// The replacement for integers that the flavour does not have; `None` for other types.
    fn other_integers(&self, lowered: LoweredType) -> Option<LoweredType> {
        let Datatype::Int { bits, signed } = *lowered.datatype else { return None };
        if bits < 64 && !signed && self.is_explained {
            let lowered = LoweredType { datatype: Arc::new(Datatype::int(bits, true)), ..lowered };
            return Some(lowered.telling("_Unsigned", "true").noting(&UNSIGNED));
        }
        let (datatype, change, note) = match self.is_small {
            true => (Datatype::int(32, true), Change::ToInt, &SMALLER),
            false => (Datatype::Float(Float::Double), Change::ToDouble, &NEAREST_INTEGERS),
        };
        let lowered = LoweredType { datatype: Arc::new(datatype), change, ..lowered };
        Some(lowered.noting(if bits < 64 { &WIDER } else { note }))
    }

    /// A type that is named in the group of the object or in a group above it.
    fn user_defined(&mut self, datatype: &Datatype, storage: &ElementStorage) -> Result<LoweredType> {
        let mut nested = self.body(datatype, storage)?;
        let known = (&nested.datatype, &nested.storage, &nested.fields);
        let (path, is_made) = self.user.path_of(known, self.group, self.hint);
        let named = Datatype::Named(path, Arc::new(nested.datatype));
        let mut lowered = LoweredType::new(named, ElementStorage::default());
        lowered.notes.append(&mut nested.notes);
        Ok(if is_made { lowered.noting(&UNNAMED_TYPE) } else { lowered })
    }

    /// A named datatype of the source, without its name; `None` if variables have such types without a name.
    ///
    /// # Errors
    /// As [`of_elements`](Types::of_elements).
    pub(in crate::format) fn declared(
        &mut self,
        datatype: &Datatype,
        storage: &ElementStorage,
    ) -> Result<Option<LoweredType>> {
        if !is_user_defined(datatype) || !self.flavour.is_enhanced() {
            return Ok(None);
        }
        let Nested { datatype, storage, notes, fields, .. } = self.body(datatype, storage)?;
        let lowered = LoweredType::new(datatype, storage);
        Ok(Some(LoweredType { notes, fields, ..lowered }))
    }

    /// A type whose elements are contained in other elements. If it is user-defined it needs a name as well: the
    /// library searches for it by its content.
    fn nested(&mut self, datatype: &Datatype, storage: &ElementStorage) -> Result<Nested> {
        let nested = self.body(datatype, storage)?;
        if is_user_defined(&nested.datatype) {
            let known = (&nested.datatype, &nested.storage, &nested.fields);
            self.user.path_of(known, self.group, self.hint);
        }
        Ok(nested)
    }

    /// A type without a name of its own. Rows stay unchanged.
    fn body(&mut self, datatype: &Datatype, storage: &ElementStorage) -> Result<Nested> {
        let plain = |datatype, note: Option<&'static Lowered>| Nested {
            datatype,
            storage: order_of(storage),
            is_resized: false,
            notes: note.into_iter().collect(),
            fields: Names::new(),
        };
        Ok(match datatype {
            Datatype::Named(_, of) => self.body(of, storage)?,
            Datatype::Int { bits, signed } => match width(*bits) {
                Some(wide) if wide == *bits => plain(datatype.clone(), None),
                Some(wide) => {
                    Nested { is_resized: true, ..plain(Datatype::int(wide, *signed), Some(&WIDER)) }
                }
                None => return Err(self.flavour.without(datatype)),
            },
            Datatype::Float(Float::Single | Float::Double) => plain(datatype.clone(), None),
            Datatype::Bool => plain(Datatype::int(8, true), Some(&super::lowerings::ATTRIBUTE_BOOLEAN)),
            Datatype::Time { bits: bits @ (8 | 16 | 32 | 64) } => {
                plain(Datatype::int(*bits, true), Some(&TIME))
            }
            Datatype::Datetime(_) => plain(Datatype::int(64, true), Some(&DATETIME_UNIT)),
            Datatype::Bitfield { size: size @ (1 | 2 | 4 | 8) } => {
                let bits = u16::try_from(size * 8).unwrap_or(u16::MAX);
                plain(Datatype::int(bits, false), Some(&BITS))
            }
            Datatype::String(Text::Variable) => {
                Nested { storage: variable(storage.charset), ..plain(datatype.clone(), None) }
            }
            Datatype::String(Text::Fixed { len, .. }) => {
                let (character, storage) = character();
                let is_one = *len == 1;
                let datatype = match is_one {
                    true => character,
                    false => Datatype::Array { base: Box::new(character), shape: vec![u64::from(*len)] },
                };
                Nested { storage, ..plain(datatype, (!is_one).then_some(&CHARACTERS)) }
            }
            // The NetCDF library ignores the tag by which h5py recognises times.
            Datatype::Opaque { .. } => {
                Nested { storage: ElementStorage::default(), ..plain(datatype.clone(), None) }
            }
            Datatype::Enum { base, members } => {
                let nested = self.nested(base, storage)?;
                self.enumeration(nested, members)?
            }
            Datatype::Complex(float @ (Float::Single | Float::Double)) => {
                let part =
                    |name: &str| Member { name: name.to_owned(), datatype: Datatype::Float(float.clone()) };
                let compound = Datatype::Compound(vec![part("r"), part("i")]);
                plain(compound, Some(&COMPLEX))
            }
            Datatype::Compound(members) => self.compound(members, storage)?,
            Datatype::Vlen(base) => {
                let nested = self.nested(base, storage)?;
                let datatype = Datatype::Vlen(Box::new(nested.datatype));
                Nested { datatype, is_resized: false, ..nested }
            }
            Datatype::Array { base, shape } => {
                let mut nested = self.nested(base, storage)?;
                nested.datatype = match nested.datatype {
                    Datatype::Array { base, shape: inner } => {
                        let shape = shape.iter().copied().chain(inner).collect();
                        Datatype::Array { base, shape }
                    }
                    base => Datatype::Array { base: Box::new(base), shape: shape.clone() },
                };
                nested
            }
            Datatype::Float(_)
            | Datatype::Complex(_)
            | Datatype::Time { .. }
            | Datatype::Bitfield { .. }
            | Datatype::ObjRef
            | Datatype::RegRef
            | Datatype::Reference
            | Datatype::Nullable(_) => return Err(self.flavour.without(datatype)),
        })
    }

    /// An enumeration whose base type has been lowered. The library opens no file with an enumeration that is not
    /// little-endian, or whose members have names that it forbids.
    fn enumeration(&self, mut nested: Nested, members: &[(String, i128)]) -> Result<Nested> {
        let is_swapped = !matches!(nested.storage.endian.take(), None | Some(ByteOrder::Little));
        // A single byte has no byte order of its own, but may have that of the enclosing compound.
        if is_swapped && nested.datatype.row_size().is_some_and(|size| size > 1) {
            nested.notes.push(&ENUMERATION_ORDER);
        }
        let mut own: Vec<(String, i128)> = Vec::with_capacity(members.len());
        let mut taken = FxHashSet::default();
        for (original, value) in members {
            let name = nested.stored_name(original, self.flavour);
            if !taken.insert(name.clone()) {
                return Err(Error::unsupported(format!(
                    "an enumeration in which another name also becomes {name:?}"
                )));
            }
            own.push((name, *value));
        }
        nested.datatype = Datatype::Enum { base: Box::new(nested.datatype), members: own };
        Ok(nested)
    }

    fn compound(&mut self, members: &[Member], storage: &ElementStorage) -> Result<Nested> {
        let mut nested = Nested {
            datatype: Datatype::Bool,
            storage: ElementStorage { members: Vec::new(), ..storage.clone() },
            is_resized: false,
            notes: Vec::new(),
            fields: Names::new(),
        };
        let mut own = Vec::new();
        for member in members {
            let known = storage.members.iter().find(|(name, _)| *name == member.name);
            // A member without a stated byte order has that of the compound.
            let own_storage = match known {
                Some((_, of)) => ElementStorage { endian: of.endian.or(storage.endian), ..of.clone() },
                None => order_of(storage),
            };
            let mut of = self.nested(&member.datatype, &own_storage)?;
            if storage.endian.is_some() && of.storage.endian.is_none() && is_enumeration(&of.datatype) {
                of.storage.endian = Some(ByteOrder::Little);
            }
            let name = nested.stored_name(&member.name, self.flavour);
            let inner = of.fields.into_iter().map(|(path, original)| (format!("{name}/{path}"), original));
            nested.fields.extend(inner);
            nested.notes.extend(of.notes);
            nested.is_resized |= of.is_resized;
            let inherited = ElementStorage { endian: storage.endian, ..ElementStorage::default() };
            if of.storage != inherited && !of.storage.is_empty() {
                nested.storage.members.push((name.clone(), of.storage));
            }
            own.push(Member { name, datatype: of.datatype });
        }
        if nested.is_resized {
            (nested.storage.offsets, nested.storage.itemsize) = (None, None);
        }
        nested.datatype = Datatype::Compound(own);
        Ok(nested)
    }

    fn text(&mut self, text: Text, storage: &ElementStorage) -> Result<LoweredType> {
        let (len, is_fixed) = match text {
            Text::Fixed { len, .. } => (len, true),
            Text::Variable => (u32::try_from(self.longest.max(1)).unwrap_or(u32::MAX), false),
        };
        if !is_fixed && self.flavour.is_enhanced() {
            return Ok(LoweredType::new(Datatype::String(Text::Variable), variable(storage.charset)));
        };
        let is_utf32 = storage.charset == Some(CharacterSet::Utf32);
        if is_utf32 && self.flavour.is_enhanced() {
            let texts =
                LoweredType::new(Datatype::String(Text::Variable), variable(Some(CharacterSet::Utf8)));
            return Ok(LoweredType { change: Change::ToTexts, ..texts }.noting(&TEXTS));
        }
        if len == 0 {
            return Err(self.flavour.without("strings of no characters"));
        }
        let (datatype, mut of_character) = character();
        let is_character = is_fixed && len == 1;
        if is_character && self.flavour.is_enhanced() && storage.charset == Some(CharacterSet::Utf8) {
            of_character.charset = Some(CharacterSet::Utf8);
        }
        let mut lowered = LoweredType::new(datatype, of_character);
        if len > 1 {
            (lowered.inner, lowered.has_characters) = (vec![len.into()], true);
            lowered.notes.push(&CHARACTERS);
        }
        if !is_fixed {
            lowered.change = Change::ToCharacters(len);
            // At least one character, regardless of the lengths of the other strings.
            (lowered.inner, lowered.has_characters) = (vec![len.into()], true);
            lowered.notes = vec![&SHORT_TEXTS];
        }
        Ok(match storage.charset {
            Some(CharacterSet::Utf32) => lowered.telling("_Encoding", "utf-8"),
            None if !is_fixed && self.is_unicode => lowered.telling("_Encoding", "utf-8"),
            // NetCDF readers show single characters as bytes, regardless of their character set.
            Some(CharacterSet::Utf8) if !is_character => lowered.telling("_Encoding", "utf-8"),
            Some(CharacterSet::Utf8 | CharacterSet::Ascii) | None => lowered,
        })
    }
}

struct Nested {
    datatype: Datatype,
    storage: ElementStorage,
    /// Whether the stored size of elements changes.
    is_resized: bool,
    notes: Vec<&'static Lowered>,
    /// The original names of members of compounds and enumerations.
    fields: Names,
}

impl Nested {
    /// The name under which a member is stored. If it differs from the original, the original name is kept and the
    /// change is noted.
    fn stored_name(&mut self, original: &str, flavour: Flavour) -> String {
        let (name, renamed) = super::name::stored(original, flavour);
        self.notes.extend(renamed);
        if name != original {
            self.fields.insert(name.to_string(), original.to_owned());
        }
        name.into_owned()
    }
}

/// Whether NetCDF has a type only as a named type.
pub(in crate::format) fn is_user_defined(datatype: &Datatype) -> bool {
    matches!(
        datatype.resolved(),
        Datatype::Enum { .. } | Datatype::Compound(_) | Datatype::Vlen(_) | Datatype::Opaque { .. }
    )
}

/// Whether elements are enumerations, or arrays or sequences of them.
fn is_enumeration(datatype: &Datatype) -> bool {
    match datatype.resolved() {
        Datatype::Enum { .. } => true,
        Datatype::Array { base, .. } | Datatype::Vlen(base) => is_enumeration(base),
        _ => false,
    }
}

/// The width of the integer that can hold the given number of bits; `None` if there is none.
fn width(bits: u16) -> Option<u16> {
    [8, 16, 32, 64].into_iter().find(|wide| *wide >= bits)
}

/// A single character as NetCDF stores it.
pub(in crate::format) fn character() -> (Datatype, ElementStorage) {
    super::characters(1)
}

/// The storage of variable-length strings.
pub(in crate::format) fn variable(charset: Option<CharacterSet>) -> ElementStorage {
    let charset = match charset {
        Some(CharacterSet::Ascii) => CharacterSet::Ascii,
        _ => CharacterSet::Utf8,
    };
    ElementStorage {
        charset: Some(charset),
        length: Some(Length::Variable),
        pad: Some(Pad::NulTerminated),
        ..ElementStorage::default()
    }
}

/// The part of the storage of elements that NetCDF can represent: the byte order.
fn order_of(storage: &ElementStorage) -> ElementStorage {
    ElementStorage { endian: storage.endian, ..ElementStorage::default() }
}

/// Whether a datatype is the h5py boolean type, without a name by which readers can recognise it.
fn is_unnamed_boolean(of: &Datatype) -> bool {
    matches!(of, Datatype::Enum { .. }) && is_boolean(of)
}

fn datetime(unit: &TimeUnit, storage: &ElementStorage) -> LoweredType {
    let lowered = LoweredType::new(Datatype::int(64, true), order_of(storage));
    let conventions = of_datetimes(unit);
    match conventions.is_empty() {
        true => lowered.noting(&DATETIME_UNIT),
        false => {
            let lowered = lowered.noting(&DATETIME);
            conventions.into_iter().fold(lowered, |lowered, (name, text)| lowered.telling(name, text))
        }
    }
}

#[cfg(test)]
mod tests;
