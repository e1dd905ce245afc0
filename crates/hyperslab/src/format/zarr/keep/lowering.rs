//! Lowers datatypes of the model that Zarr does not have to Zarr data types, and lifts them back.
//!
//! One plan serves both directions: a writer uses it to lower elements, and a reader derives the same plan from the
//! datatype in the record and uses it to lift them.

use crate::format::zarr::read::datatype::{make_utf32, utf32_spans};
use crate::target::Facts;
use crate::target::conventions::{is_boolean, tagged_time};
use hyperslab_core::rows::{Heap, Packed, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::push_zero;
use hyperslab_model::{
    CharacterSet, Datatype, Directive, Element, ElementStorage, Elements, Float, Pad, Reference, Text,
    TimeUnit, Values,
};
use hyperslab_zarr::data_type::{self as zarr, DataType, Struct};
use hyperslab_zarr::write::Version;
use std::borrow::Cow;
use std::sync::Arc;

/// The stored form of elements of a datatype.
#[derive(Clone, Debug)]
pub(in crate::format) struct Lowering {
    /// The datatype of the stored elements.
    pub(in crate::format) data_type: DataType,
    /// Additional trailing dimensions: those of an array datatype.
    pub(in crate::format) trailing: Vec<u64>,
    /// The original datatype.
    datatype: Arc<Datatype>,
    conversion: Conversion,
    /// Whether lifted strings get back the spaces that were replaced by zeros.
    spaces_return: bool,
}

/// Stored rows and the targets of their slots.
type LoweredRows<'v> = (Cow<'v, [u8]>, Cow<'v, Heap<Reference>>);

#[derive(Clone, Debug)]
enum Conversion {
    /// The rows are identical.
    None,
    /// Fixed-length strings in rows.
    Texts {
        /// The strings that are padded with zeros: their offset, length and original padding.
        padding: Vec<(usize, usize, Pad)>,
        /// The strings that are stored in UTF-32: their offset and length.
        utf32: Vec<(usize, usize)>,
    },
    /// Sequences of elements of this size in bytes become sequences of bytes.
    Sequence(u32),
    /// Elements become NDL text; object references become their path.
    Text,
}

impl Lowering {
    /// The plan for a datatype whose elements are stored as `storage` states, given the known facts about the elements.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for elements of 0 bytes.
    pub(in crate::format) fn new(
        datatype: &Arc<Datatype>,
        storage: &ElementStorage,
        version: Version,
        facts: Facts,
    ) -> Result<Lowering> {
        let of = |data_type, trailing, conversion| {
            let datatype = Arc::clone(datatype);
            Ok(Lowering { data_type, trailing, datatype, conversion, spaces_return: false })
        };
        let mut element = datatype.resolved();
        match element {
            Datatype::String(Text::Variable) => {
                let data_type = if facts.is_unicode { DataType::String } else { DataType::Bytes };
                return of(data_type, Vec::new(), Conversion::None);
            }
            Datatype::Vlen(base) if !base.has_slots() => {
                let size = base.row_size().and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0);
                let size = size.ok_or_else(|| Error::unsupported("sequences of elements of no bytes"))?;
                let conversion = if size == 1 { Conversion::None } else { Conversion::Sequence(size) };
                return of(DataType::Bytes, Vec::new(), conversion);
            }
            other if other.has_slots() => return of(DataType::String, Vec::new(), Conversion::Text),
            _ => {}
        }
        let trailing = trailing(element);
        while let Datatype::Array { base, .. } = element {
            element = base.resolved();
        }
        if datatype.row_size() == Some(0) {
            return Err(Error::unsupported(format!("elements of type {datatype}, which have no bytes")));
        }
        let mut padding = Vec::new();
        push_padding(element, 0, &mut padding);
        if !facts.can_pad {
            padding.retain(|(.., pad)| *pad != Pad::Space);
        }
        let mut data_type = plain(element, version)?;
        if let Some(texts) = in_utf32(&data_type, element, storage)? {
            data_type = texts;
        }
        let utf32 = utf32_spans(&data_type)?;
        let conversion = match padding.is_empty() && utf32.is_empty() {
            true => Conversion::None,
            false => Conversion::Texts { padding, utf32 },
        };
        of(data_type, trailing, conversion)
    }

    /// The plan for stored elements of this data type. Earlier releases stored booleans as integers, complex numbers
    /// as compounds and tagged times as raw bytes, with the same bytes.
    #[must_use]
    pub(in crate::format) fn stored_as(mut self, stored: &DataType) -> Lowering {
        if has_same_bytes(&self.data_type, stored) {
            self.data_type = stored.clone();
        }
        self
    }

    /// The plan for strings whose space padding was replaced by zeros.
    #[must_use]
    pub(in crate::format) fn with_spaces_back(self, spaces_return: bool) -> Lowering {
        Lowering { spaces_return, ..self }
    }

    /// The size of a stored row in bytes.
    pub(in crate::format) fn row_size(&self) -> usize {
        usize::try_from(self.data_type.row_size()).unwrap_or(usize::MAX)
    }

    /// Whether rows are stored unchanged, so that chunks contain the same bytes as in other formats.
    pub(in crate::format) fn is_identity(&self) -> bool {
        matches!(self.conversion, Conversion::None)
    }

    /// Whether strings in rows are stored with different padding, and whether zeros replace spaces.
    pub(in crate::format) fn pads(&self) -> (bool, bool) {
        let Conversion::Texts { padding, .. } = &self.conversion else { return (false, false) };
        (!padding.is_empty(), padding.iter().any(|(.., pad)| *pad == Pad::Space))
    }

    /// Replaces zeros by spaces, in rows in their memory form.
    pub(in crate::format) fn put_spaces_back(&self, rows: &mut [u8]) {
        if let Conversion::Texts { padding, .. } = &self.conversion
            && self.spaces_return
        {
            put_spaces(rows, self.row_size(), padding);
        }
    }

    /// The stored rows and the targets of their slots.
    ///
    /// # Errors
    /// If rows do not fit the datatype, or a string that must be UTF-8 is not.
    pub(in crate::format) fn lower<'v>(&self, values: &'v Values) -> Result<LoweredRows<'v>> {
        let Values { rows, heap } = values;
        match &self.conversion {
            Conversion::None => Ok((Cow::Borrowed(rows), Cow::Borrowed(heap))),
            Conversion::Texts { padding, utf32 } => {
                let mut rows = rows.to_vec();
                pad(&mut rows, self.row_size(), padding);
                make_utf32(&mut rows, self.row_size(), utf32)?;
                Ok((Cow::Owned(rows), Cow::Borrowed(heap)))
            }
            Conversion::Sequence(size) => {
                let mut rows = rows.to_vec();
                Slot::change_each(&mut rows, |slot| {
                    let count = slot.count.checked_mul(*size);
                    Ok(Slot { count: count.ok_or_else(|| too_long(slot.count))?, ..slot })
                })?;
                Ok((Cow::Owned(rows), Cow::Borrowed(heap)))
            }
            Conversion::Text => {
                let mut texts = Packed::default();
                for element in Elements::new(&self.datatype, values) {
                    let text = match element.get() {
                        Element::Reference(Reference::Null) => String::new(),
                        Element::Reference(Reference::Object(path)) if self.is_objref() => path.to_string(),
                        Element::Broken => return Err(Error::invalid("rows that are not of their type")),
                        _ => hyperslab_ndl::exact_json(element),
                    };
                    texts.push(text.as_bytes())?;
                }
                let Values { rows, heap } = texts.finish();
                Ok((Cow::Owned(rows.into()), Cow::Owned(heap)))
            }
        }
    }

    /// Lifts stored rows to elements.
    ///
    /// # Errors
    /// If the stored rows are not the result of lowering.
    pub(in crate::format) fn lift(&self, stored: Values) -> Result<Values> {
        match &self.conversion {
            Conversion::None => Ok(stored),
            Conversion::Texts { .. } => {
                let mut rows = stored.rows.to_vec();
                self.put_spaces_back(&mut rows);
                Ok(Values { rows: rows.into(), heap: stored.heap })
            }
            Conversion::Sequence(size) => {
                let mut rows = stored.rows.to_vec();
                Slot::change_each(&mut rows, |slot| match slot.count % size {
                    0 => Ok(Slot { count: slot.count / size, ..slot }),
                    _ => Err(Error::malformed(format!(
                        "{} bytes of elements of {size} bytes each",
                        slot.count
                    ))),
                })?;
                Ok(Values { rows: rows.into(), heap: stored.heap })
            }
            Conversion::Text => self.of_texts(&stored),
        }
    }

    /// Whether elements can be read in place because lifting changes nothing.
    pub(in crate::format) fn is_in_place(&self) -> bool {
        matches!(self.conversion, Conversion::None | Conversion::Texts { .. })
    }

    fn is_objref(&self) -> bool {
        matches!(self.datatype.resolved(), Datatype::ObjRef)
    }

    fn of_texts(&self, stored: &Values) -> Result<Values> {
        let text = Datatype::String(Text::Variable);
        let mut items = Vec::new();
        let mut nulls = Vec::new();
        for element in Elements::new(&text, stored) {
            let Element::Text(bytes) = element.get() else {
                return Err(Error::invalid("rows that are not of their type"));
            };
            let text =
                std::str::from_utf8(bytes).map_err(|_| Error::malformed("a text that is not UTF-8"))?;
            nulls.push(text.is_empty());
            match text {
                "" => {}
                // The target of a reference that is not an object is JSON, which does not begin like a path.
                path if self.is_objref() && path.starts_with('/') => {
                    items.push(hyperslab_zarr::json::Json::from(path).emit_compact());
                }
                other => items.push(other.to_owned()),
            }
        }
        let values = elements(&self.datatype, &items)?;
        if !nulls.contains(&true) {
            return Ok(values);
        }
        // A null reference is an empty string; for other datatypes, an empty string is the value of elements never
        // written.
        let size = self.datatype.row_size().unwrap_or(0);
        let Values { rows, mut heap } = values;
        let mut null = Vec::with_capacity(size);
        push_zero(&self.datatype, &mut null, &mut heap)?;
        let mut all = Vec::with_capacity(nulls.len().saturating_mul(size));
        let mut written = rows.chunks_exact(size.max(1));
        for is_null in nulls {
            all.extend_from_slice(if is_null { &null } else { written.next().unwrap_or(&null) });
        }
        Ok(Values { rows: all.into(), heap })
    }
}

/// Whether elements of the first data type have the same bytes in the second, in which earlier releases stored them.
fn has_same_bytes(own: &DataType, stored: &DataType) -> bool {
    match (own, stored) {
        (DataType::Bool, DataType::Integer { bits: 8, .. }) => true,
        (DataType::DateTime64(_) | DataType::TimeDelta64(_), DataType::Raw { length: 8 }) => true,
        (DataType::Complex(part), DataType::Struct(of)) => {
            of.packed().fields().iter().map(|field| &field.data_type).eq([&DataType::Float(*part); 2])
        }
        (DataType::Struct(own), DataType::Struct(stored)) => {
            let (own, stored) = (own.packed(), stored.packed());
            let pairs = own.fields().iter().zip(stored.fields());
            own.fields().len() == stored.fields().len()
                && pairs.into_iter().all(|(own, stored)| {
                    own.name == stored.name && has_same_bytes(&own.data_type, &stored.data_type)
                })
        }
        (
            DataType::Array { element: own, shape: own_shape },
            DataType::Array { element: stored, shape: stored_shape },
        ) => own_shape == stored_shape && has_same_bytes(own, stored),
        (own, stored) => own == stored,
    }
}

/// The additional dimensions of arrays with this datatype.
pub(in crate::format) fn trailing(datatype: &Datatype) -> Vec<u64> {
    let mut trailing = Vec::new();
    let mut element = datatype.resolved();
    while let Datatype::Array { base, shape } = element
        && !element.has_slots()
    {
        trailing.extend(shape);
        element = base.resolved();
    }
    trailing
}

/// Parses elements from their NDL text in JSON.
fn elements(datatype: &Arc<Datatype>, items: &[String]) -> Result<Values> {
    let list = format!("[{}]", items.join(", "));
    hyperslab_ndl::elements_of_text(&list, datatype, items.len() as u64).map_err(|error| {
        Error::malformed(format!("an element that is not one of {datatype}: {}", error.reason()))
    })
}

/// The datatype for elements without slots; raw bytes if Zarr has no equivalent.
fn plain(of: &Datatype, version: Version) -> Result<DataType> {
    let raw = || {
        let length = of.row_size().filter(|size| *size > 0);
        let length = length.ok_or_else(|| Error::unsupported(format!("elements of type {of}")))?;
        Ok(DataType::Raw { length: length as u64 })
    };
    let integer = |signed: bool| match of.row_size() {
        Some(bytes @ (1 | 2 | 4 | 8)) => {
            Ok(DataType::Integer { signed, bits: u8::try_from(8 * bytes).unwrap_or(64) })
        }
        _ => raw(),
    };
    match of {
        Datatype::Int { signed, .. } => integer(*signed),
        Datatype::Time { .. } | Datatype::Bitfield { .. } => integer(false),
        Datatype::Float(float) => match crate::format::zarr::read::datatype::stored_float(float) {
            // NumPy, whose type names version 2 uses, has only these types.
            Some(float @ (zarr::Float::Float16 | zarr::Float::Float32 | zarr::Float::Float64)) => {
                Ok(DataType::Float(float))
            }
            Some(float) if version == Version::V3 => Ok(DataType::Float(float)),
            _ => raw(),
        },
        Datatype::Complex(Float::Single) => Ok(DataType::Complex(zarr::Float::Float32)),
        Datatype::Complex(Float::Double) => Ok(DataType::Complex(zarr::Float::Float64)),
        Datatype::Bool => Ok(DataType::Bool),
        Datatype::Datetime(unit) => Ok(time(unit).unwrap_or(DataType::Integer { signed: true, bits: 64 })),
        Datatype::String(Text::Fixed { len, .. }) => {
            Ok(DataType::NullTerminatedBytes { length: (*len).into() })
        }
        _ if is_boolean(of) => Ok(DataType::Bool),
        Datatype::Enum { base, .. } => plain(base, version),
        Datatype::Compound(members) => {
            if let Some(part) = complex_part(of) {
                return Ok(DataType::Complex(part));
            }
            let field = |member: &hyperslab_model::Member| {
                plain(&member.datatype, version).map(|data_type| (member.name.clone(), data_type))
            };
            let fields: Vec<_> = members.iter().map(field).collect::<Result<_>>()?;
            // Names that Zarr forbids are kept only in the record.
            Struct::new(fields).map(DataType::Struct).or_else(|_| raw())
        }
        // In NumPy, an array of arrays is one array with more dimensions.
        Datatype::Array { base, shape } if version == Version::V2 => Ok(match plain(base, version)? {
            DataType::Array { element, shape: inner } => {
                DataType::Array { element, shape: [shape.as_slice(), &inner].concat() }
            }
            element => DataType::Array { element: Box::new(element), shape: shape.clone() },
        }),
        Datatype::Named(_, of) => plain(of, version),
        Datatype::Opaque { .. } => tagged_time(of).and_then(|unit| time(&unit)).map_or_else(raw, Ok),
        Datatype::Array { .. }
        | Datatype::Nullable(_)
        | Datatype::Complex(_)
        | Datatype::String(Text::Variable)
        | Datatype::ObjRef
        | Datatype::RegRef
        | Datatype::Reference
        | Datatype::Vlen(_) => raw(),
    }
}

/// The data type of times in a unit; `None` if Zarr does not have the unit.
fn time(unit: &TimeUnit) -> Option<DataType> {
    let digits = unit.unit.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let (scale, name) = unit.unit.split_at_checked(digits).unwrap_or_default();
    let scale = if scale.is_empty() { Some(1) } else { scale.parse().ok() };
    let known = zarr::TimeUnit::new(name, scale?)?;
    Some(if unit.duration { DataType::TimeDelta64(known) } else { DataType::DateTime64(known) })
}

/// The data type with strings in UTF-32 where the storage says so; `None` if there are no such strings.
///
/// # Errors
/// If the fields cannot be combined to a compound again.
fn in_utf32(of: &DataType, datatype: &Datatype, storage: &ElementStorage) -> Result<Option<DataType>> {
    Ok(match (of, datatype.resolved()) {
        (DataType::NullTerminatedBytes { length }, _)
            if storage.charset == Some(CharacterSet::Utf32) && length % 4 == 0 =>
        {
            Some(DataType::FixedLengthUtf32 { length: length / 4 })
        }
        (DataType::Array { element, shape }, Datatype::Array { base, .. }) => {
            let element = in_utf32(element, base, storage)?.map(Box::new);
            element.map(|element| DataType::Array { element, shape: shape.clone() })
        }
        (DataType::Struct(of), Datatype::Compound(members)) => {
            let mut has_texts = false;
            let mut fields = Vec::with_capacity(members.len());
            for (field, member) in of.fields().iter().zip(members) {
                let own = storage.members.iter().find(|(name, _)| *name == member.name);
                let texts = match own {
                    Some((_, own)) => in_utf32(&field.data_type, &member.datatype, own)?,
                    None => None,
                };
                has_texts |= texts.is_some();
                fields.push((field.name.clone(), texts.unwrap_or_else(|| field.data_type.clone())));
            }
            match has_texts {
                true => Some(DataType::Struct(Struct::new(fields)?)),
                false => None,
            }
        }
        _ => None,
    })
}

/// The floating-point type of the compound of `r` and `i` that h5py and PyTables write for complex numbers. `None` for
/// other datatypes.
pub(in crate::format) fn complex_part(of: &Datatype) -> Option<zarr::Float> {
    let Datatype::Compound(members) = of.resolved() else { return None };
    let [real, imaginary] = members.as_slice() else { return None };
    match (real.datatype.resolved(), imaginary.datatype.resolved()) {
        _ if real.name != "r" || imaginary.name != "i" => None,
        (Datatype::Float(Float::Single), Datatype::Float(Float::Single)) => Some(zarr::Float::Float32),
        (Datatype::Float(Float::Double), Datatype::Float(Float::Double)) => Some(zarr::Float::Float64),
        _ => None,
    }
}

/// Adds the positions of strings in rows that are not padded with zeros.
fn push_padding(of: &Datatype, start: usize, spans: &mut Vec<(usize, usize, Pad)>) {
    match of {
        Datatype::String(Text::Fixed { len, pad }) if *pad != Pad::Nul => {
            spans.push((start, usize::try_from(*len).unwrap_or(0), *pad));
        }
        Datatype::Compound(members) => {
            let mut start = start;
            for member in members {
                push_padding(&member.datatype, start, spans);
                start = start.saturating_add(member.datatype.row_size().unwrap_or(0));
            }
        }
        Datatype::Array { base, shape } => {
            let mut one = Vec::new();
            push_padding(base, start, &mut one);
            let size = base.row_size().unwrap_or(0);
            let count = shape.iter().try_fold(1_usize, |n, d| n.checked_mul(usize::try_from(*d).ok()?));
            for index in 0..count.filter(|_| !one.is_empty()).unwrap_or(0) {
                let shift = index.saturating_mul(size);
                spans.extend(one.iter().map(|(start, len, pad)| (start.saturating_add(shift), *len, *pad)));
            }
        }
        Datatype::Named(_, of) => push_padding(of, start, spans),
        _ => {}
    }
}

fn pad(rows: &mut [u8], row: usize, spans: &[(usize, usize, Pad)]) {
    for row in rows.chunks_exact_mut(row.max(1)) {
        for (start, len, pad) in spans {
            let Some(text) = row.get_mut(*start..start.saturating_add(*len)) else { continue };
            let end = pad.trim(text).len();
            if let Some(rest) = text.get_mut(end..) {
                rest.fill(0);
            }
        }
    }
}

/// Pads those strings with spaces that were originally padded with spaces.
fn put_spaces(rows: &mut [u8], row: usize, spans: &[(usize, usize, Pad)]) {
    for row in rows.chunks_exact_mut(row.max(1)) {
        for (start, len, _) in spans.iter().filter(|(.., pad)| *pad == Pad::Space) {
            let Some(text) = row.get_mut(*start..start.saturating_add(*len)) else { continue };
            let end = Pad::Nul.trim(text).len();
            if let Some(rest) = text.get_mut(end..) {
                rest.fill(b' ');
            }
        }
    }
}

fn too_long(count: u32) -> Error {
    Error::unsupported(format!("a sequence of {count} elements, which has 4 GiB or more"))
}

/// Whether a directive marks a string as JSON of Zarr itself.
pub(in crate::format) fn is_json(native: &[(&'static str, Directive)]) -> bool {
    native.iter().any(|(format, directive)| *format == "zarr" && *directive == Directive::Text("json".into()))
}
