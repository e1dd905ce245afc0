//! Builds Arrow arrays from elements.

use super::{Home, data_type, resolution};
use crate::tabular::plain;
use arrow_array::builder::{FixedSizeBinaryBuilder, LargeStringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Int32Array, LargeListArray,
    LargeStringArray, PrimitiveArray, StructArray,
};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Datatype, Element, ElementRef, Elements, Float, Reference};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The elements as an array.
pub(super) fn array(elements: Elements<'_>, home: Home<'_>) -> Result<ArrayRef> {
    if let Some(numbers) = numbers(&elements) {
        return Ok(numbers);
    }
    let datatype = elements.datatype();
    let rows = || elements.rows().chunks_exact(elements.row_size().max(1));
    match datatype.resolved() {
        Datatype::Bool | Datatype::Enum { .. } if data_type(datatype, home) == DataType::Boolean => {
            let bits = rows().map(|row| row.first().is_some_and(|byte| *byte != 0));
            return Ok(Arc::new(BooleanArray::from(bits.collect::<Vec<_>>())));
        }
        Datatype::Opaque { size: 1.., .. } => {
            if let DataType::FixedSizeBinary(size) = data_type(datatype, home) {
                let bytes = arrow_buffer::Buffer::from(elements.rows());
                let array = FixedSizeBinaryArray::try_new(size, bytes, None);
                return Ok(Arc::new(array.map_err(super::failed)?));
            }
        }
        _ => {}
    }
    let cells: Vec<Option<ElementRef<'_>>> = elements.map(Some).collect();
    of_cells(datatype, &cells, home)
}

/// Rows of numbers, or of numbers and nulls, converted without examining the type of each element.
fn numbers(elements: &Elements<'_>) -> Option<ArrayRef> {
    macro_rules! rows {
        ($kind:ty, $native:ty) => {
            primitive::<$kind>(elements, |row| {
                row.first_chunk().map(|bytes| <$native>::from_ne_bytes(*bytes)).unwrap_or_default()
            })
        };
    }
    Some(match elements.datatype().non_null() {
        Datatype::Float(Float::Half) => rows!(Float16Type, half::f16),
        Datatype::Float(Float::Single) => rows!(Float32Type, f32),
        Datatype::Float(Float::Double) => rows!(Float64Type, f64),
        Datatype::Int { signed: true, .. } => match data_type(elements.datatype(), Home::Memory) {
            DataType::Int8 => rows!(Int8Type, i8),
            DataType::Int16 => rows!(Int16Type, i16),
            DataType::Int32 => rows!(Int32Type, i32),
            DataType::Int64 => rows!(Int64Type, i64),
            _ => return None,
        },
        Datatype::Int { signed: false, .. } | Datatype::Time { .. } => {
            match data_type(elements.datatype(), Home::Memory) {
                DataType::UInt8 => rows!(UInt8Type, u8),
                DataType::UInt16 => rows!(UInt16Type, u16),
                DataType::UInt32 => rows!(UInt32Type, u32),
                DataType::UInt64 => rows!(UInt64Type, u64),
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn primitive<T: ArrowPrimitiveType>(
    elements: &Elements<'_>,
    number: impl Fn(&[u8]) -> T::Native,
) -> ArrayRef {
    let rows = elements.rows().chunks_exact(elements.row_size().max(1));
    match elements.datatype().resolved() {
        Datatype::Nullable(_) => {
            let cell = |row: &[u8]| match row.split_first() {
                None | Some((0, _)) => None,
                Some((_, row)) => Some(number(row)),
            };
            Arc::new(rows.map(cell).collect::<PrimitiveArray<T>>())
        }
        _ => Arc::new(PrimitiveArray::<T>::from_iter_values(rows.map(number))),
    }
}

/// Cells, some of which may be null, as an array.
fn of_cells(datatype: &Datatype, cells: &[Option<ElementRef<'_>>], home: Home<'_>) -> Result<ArrayRef> {
    let kind = data_type(datatype, home);
    Ok(match &kind {
        DataType::Boolean => {
            let cell = |cell: &Option<ElementRef<'_>>| match cell.as_ref()?.get() {
                Element::Bool(value) => Some(value),
                Element::Enum(value, _) => Some(value != 0),
                _ => None,
            };
            Arc::new(cells.iter().map(cell).collect::<BooleanArray>())
        }
        DataType::Int8 => ints::<Int8Type>(cells),
        DataType::Int16 => ints::<Int16Type>(cells),
        DataType::Int32 => ints::<Int32Type>(cells),
        DataType::Int64 => ints::<Int64Type>(cells),
        DataType::UInt8 => ints::<UInt8Type>(cells),
        DataType::UInt16 => ints::<UInt16Type>(cells),
        DataType::UInt32 => ints::<UInt32Type>(cells),
        DataType::UInt64 => ints::<UInt64Type>(cells),
        DataType::Float16 => floats::<Float16Type>(cells, half::f16::from_f64),
        #[allow(clippy::cast_possible_truncation, reason = "an exact float32")]
        DataType::Float32 => floats::<Float32Type>(cells, |number| number as f32),
        DataType::Float64 => floats::<Float64Type>(cells, |number| number),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second | TimeUnit::Millisecond => times::<TimestampMillisecondType>(datatype, cells),
            TimeUnit::Microsecond => times::<TimestampMicrosecondType>(datatype, cells),
            TimeUnit::Nanosecond => times::<TimestampNanosecondType>(datatype, cells),
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second | TimeUnit::Millisecond => times::<DurationMillisecondType>(datatype, cells),
            TimeUnit::Microsecond => times::<DurationMicrosecondType>(datatype, cells),
            TimeUnit::Nanosecond => times::<DurationNanosecondType>(datatype, cells),
        },
        DataType::FixedSizeBinary(size) => opaque(*size, cells)?,
        DataType::LargeList(item) => lists(datatype, item, cells, home)?,
        DataType::Struct(fields) => structs(datatype, fields, cells, home)?,
        DataType::Dictionary(..) => enumeration(datatype, cells)?,
        _ => texts(cells, home)?,
    })
}

/// The elements that are not null.
fn value<'a>(cell: &Option<ElementRef<'a>>) -> Option<Element<'a>> {
    match cell.as_ref()?.get() {
        Element::Null => None,
        element => Some(element),
    }
}

fn ints<T: ArrowPrimitiveType>(cells: &[Option<ElementRef<'_>>]) -> ArrayRef
where
    T::Native: TryFrom<i128>,
{
    let cell = |cell: &Option<ElementRef<'_>>| match value(cell)? {
        Element::Int(number) => T::Native::try_from(number).ok(),
        Element::Bits(bytes) => {
            let number = bytes.iter().rev().fold(0_i128, |number, byte| number << 8 | i128::from(*byte));
            T::Native::try_from(number).ok()
        }
        _ => None,
    };
    Arc::new(cells.iter().map(cell).collect::<PrimitiveArray<T>>())
}

fn floats<T: ArrowPrimitiveType>(
    cells: &[Option<ElementRef<'_>>],
    of: impl Fn(f64) -> T::Native,
) -> ArrayRef {
    let cell = |cell: &Option<ElementRef<'_>>| match value(cell)? {
        Element::Float(number) => Some(of(number)),
        _ => None,
    };
    Arc::new(cells.iter().map(cell).collect::<PrimitiveArray<T>>())
}

/// Times in the Arrow unit. Times beyond its range are null, as NaT is.
fn times<T: ArrowPrimitiveType<Native = i64>>(
    datatype: &Datatype,
    cells: &[Option<ElementRef<'_>>],
) -> ArrayRef {
    let step = match datatype.non_null() {
        Datatype::Datetime(of) => resolution(&of.unit).map_or(1, |(_, step)| step),
        _ => 1,
    };
    let cell = |cell: &Option<ElementRef<'_>>| match value(cell)? {
        Element::Int(count) => {
            i64::try_from(count).ok().filter(|count| *count != i64::MIN)?.checked_mul(step)
        }
        _ => None,
    };
    Arc::new(cells.iter().map(cell).collect::<PrimitiveArray<T>>())
}

fn opaque(size: i32, cells: &[Option<ElementRef<'_>>]) -> Result<ArrayRef> {
    let mut built = FixedSizeBinaryBuilder::with_capacity(cells.len(), size);
    for cell in cells {
        match value(cell) {
            Some(Element::Opaque(bytes)) => built.append_value(bytes).map_err(super::failed)?,
            _ => built.append_null(),
        }
    }
    Ok(Arc::new(built.finish()))
}

fn texts(cells: &[Option<ElementRef<'_>>], home: Home<'_>) -> Result<ArrayRef> {
    let mut built = LargeStringBuilder::new();
    for cell in cells {
        let Some(cell) = cell else {
            built.append_null();
            continue;
        };
        match cell.get() {
            Element::Null | Element::Reference(Reference::Null) => built.append_null(),
            Element::Text(bytes) => match (str::from_utf8(bytes), home) {
                (Ok(text), _) => built.append_value(text),
                (Err(_), Home::File(table)) => built.append_value(table.text(*cell)),
                (Err(_), Home::Memory) => {
                    let shown = plain(*cell);
                    return Err(Error::malformed(format!("the text {shown} is not UTF-8"))
                        .with_remedy(Remedy::ReadTextsAsBytes));
                }
            },
            _ => built.append_value(plain(*cell)),
        }
    }
    Ok(Arc::new(built.finish()))
}

/// The names of an enumeration as a dictionary: the names of all members, then the numbers of unnamed values.
fn enumeration(datatype: &Datatype, cells: &[Option<ElementRef<'_>>]) -> Result<ArrayRef> {
    let mut names: Vec<String> = match datatype.non_null() {
        Datatype::Enum { members, .. } => members.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    };
    let mut keys: FxHashMap<i128, Option<i32>> = FxHashMap::default();
    let key = |cell: &Option<ElementRef<'_>>| {
        let Some(Element::Enum(code, name)) = value(cell) else { return None };
        *keys.entry(code).or_insert_with(|| {
            let known = name.and_then(|name| names.iter().position(|own| own == name));
            let key = known.unwrap_or_else(|| {
                names.push(code.to_string());
                names.len() - 1
            });
            i32::try_from(key).ok()
        })
    };
    let keys: Int32Array = cells.iter().map(key).collect();
    let names = LargeStringArray::from_iter_values(names);
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(names)).map_err(super::failed)?))
}

fn lists(
    datatype: &Datatype,
    item: &Arc<Field>,
    cells: &[Option<ElementRef<'_>>],
    home: Home<'_>,
) -> Result<ArrayRef> {
    let (base, inside) = match datatype.non_null() {
        Datatype::Vlen(base) => (&**base, &[][..]),
        Datatype::Array { base, shape } => (&**base, shape.get(1..).unwrap_or_default()),
        _ => (datatype, &[][..]),
    };
    // The number of elements in each item of the outermost list.
    let each = inside.iter().try_fold(1_usize, |all, size| all.checked_mul(usize::try_from(*size).ok()?));
    let each = each.ok_or_else(|| Error::invalid("an element of more elements than memory holds"))?;
    let mut inner = Vec::new();
    let mut lengths = Vec::with_capacity(cells.len());
    let mut valid = Vec::with_capacity(cells.len());
    for cell in cells {
        let before = inner.len();
        match value(cell) {
            Some(Element::Vlen(elements) | Element::Array(elements, _)) => {
                inner.extend(elements.map(Some));
                valid.push(true);
            }
            _ => valid.push(false),
        }
        // For arrays without elements, the list is empty, however many arrays there are.
        lengths.push((inner.len() - before).checked_div(each).unwrap_or(0));
    }
    let total: usize = lengths.iter().sum();
    let items = nested(of_cells(base, &inner, home)?, inside, total)?;
    let offsets = arrow_buffer::OffsetBuffer::from_lengths(lengths);
    let nulls = Some(valid.into()).filter(|nulls: &arrow_buffer::NullBuffer| nulls.null_count() > 0);
    let list = LargeListArray::try_new(Arc::clone(item), offsets, items, nulls);
    Ok(Arc::new(list.map_err(super::failed)?))
}

/// `count` nested lists of the elements, with these lengths.
fn nested(elements: ArrayRef, lengths: &[u64], count: usize) -> Result<ArrayRef> {
    let Some((length, inside)) = lengths.split_first() else { return Ok(elements) };
    let length = usize::try_from(*length)
        .map_err(|_| Error::invalid("an element of more elements than memory holds"))?;
    let items = nested(elements, inside, count.saturating_mul(length))?;
    let item = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let offsets = arrow_buffer::OffsetBuffer::from_lengths(std::iter::repeat_n(length, count));
    Ok(Arc::new(LargeListArray::try_new(item, offsets, items, None).map_err(super::failed)?))
}

fn structs(
    datatype: &Datatype,
    fields: &Fields,
    cells: &[Option<ElementRef<'_>>],
    home: Home<'_>,
) -> Result<ArrayRef> {
    let valid: Vec<bool> = cells.iter().map(|cell| value(cell).is_some()).collect();
    let columns = match datatype.non_null() {
        Datatype::Complex(float) => {
            let part = |at: usize| {
                let cell = |cell: &Option<ElementRef<'_>>| match value(cell) {
                    Some(Element::Complex(parts)) => match parts.get(at) {
                        Some(Element::Float(number)) => *number,
                        _ => 0.0,
                    },
                    _ => 0.0,
                };
                let numbers = cells.iter().map(cell);
                let array: ArrayRef = match float {
                    Float::Half => Arc::new(PrimitiveArray::<Float16Type>::from_iter_values(
                        numbers.map(half::f16::from_f64),
                    )),
                    #[allow(clippy::cast_possible_truncation, reason = "an exact float32")]
                    Float::Single | Float::BFloat => Arc::new(
                        PrimitiveArray::<Float32Type>::from_iter_values(numbers.map(|number| number as f32)),
                    ),
                    _ => Arc::new(PrimitiveArray::<Float64Type>::from_iter_values(numbers)),
                };
                array
            };
            vec![part(0), part(1)]
        }
        Datatype::Compound(members) => {
            let mut parts: Vec<Vec<Option<ElementRef<'_>>>> =
                members.iter().map(|_| Vec::with_capacity(cells.len())).collect();
            for cell in cells {
                match value(cell) {
                    Some(Element::Compound(own)) => {
                        parts.iter_mut().zip(own).for_each(|(part, (_, element))| part.push(Some(element)));
                    }
                    _ => parts.iter_mut().for_each(|part| part.push(None)),
                }
            }
            let of = members.iter().zip(&parts).map(|(member, part)| of_cells(&member.datatype, part, home));
            of.collect::<Result<_>>()?
        }
        _ => Vec::new(),
    };
    let nulls = Some(valid.into()).filter(|nulls: &arrow_buffer::NullBuffer| nulls.null_count() > 0);
    let built = StructArray::try_new(fields.clone(), columns, nulls);
    Ok(Arc::new(built.map_err(super::failed)?))
}
