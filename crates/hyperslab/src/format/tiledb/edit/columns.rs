//! Converts elements of the model to their stored form in TileDB, the inverse of how they are shown.

use super::super::objects::{ArrayObject, Field};
use crate::strings::{member_name, name_bytes};
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Column as Elements, Datatype, Values};
use hyperslab_tiledb::format::array_schema::Attribute;
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::write::evolve::Evolution;
use hyperslab_tiledb::write::sparse::Column;

/// The cells for elements of an attribute or dimension that is shown with the datatype `shown`. Members of enumerations
/// are looked up by name among `values`, which may be more than those that are shown.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the elements have a different datatype, or a
/// member that the enumeration does not have.
pub(super) fn column(elements: &Elements, shown: &Datatype, values: Option<&Enumeration>) -> Result<Column> {
    let Elements { name, datatype, values: found } = elements;
    let (nullable, inner) = match shown {
        Datatype::Nullable(inner) => (true, &**inner),
        other => (false, other),
    };
    let own = datatype.resolved();
    let (has_mask, element) = match own {
        Datatype::Nullable(element) => (true, element.resolved()),
        other => (false, other),
    };
    if !is_same(element, inner) || (has_mask && !nullable) {
        return Err(Error::invalid(format!("{name} has type {datatype}, expected {shown}")));
    }
    let row = own.row_size().ok_or_else(|| Error::unsupported(format!("type {datatype}")))?.max(1);
    let mut column = Column::default();
    for row in found.rows.chunks_exact(row) {
        let (valid, bytes) = match row.split_first() {
            Some((mask, bytes)) if has_mask => (*mask, bytes),
            _ => (1, row),
        };
        if nullable {
            column.validity.push(u8::from(valid != 0));
        }
        match element.has_slots() {
            true => {
                column.offsets.push(column.values.len() as u64);
                if valid != 0 {
                    column.values.extend_from_slice(content(bytes, element, found)?);
                }
            }
            false => column.values.extend_from_slice(bytes),
        }
    }
    match (element, inner, values) {
        (Datatype::Enum { members, base }, Datatype::Enum { .. }, Some(values)) => {
            count_again(&mut column, name, (members, base), values)?;
        }
        (Datatype::Enum { members: own, .. }, Datatype::Enum { members, .. }, None) if own != members => {
            return Err(Error::invalid(format!("{name} has type {datatype}, expected {shown}")));
        }
        _ => {}
    }
    Ok(column)
}

/// The cells given for an attribute, as of the state after all planned changes.
///
/// # Errors
/// As [`column`].
pub(super) fn attribute_column(
    evolution: &Evolution<'_>,
    array: &ArrayObject,
    of: &Attribute,
    given: &Elements,
) -> Result<Column> {
    let values = of.enumeration.as_deref().map(|name| evolution.enumeration(name)).transpose()?;
    column(given, &shown(array, of, values.as_ref())?, values.as_ref())
}

/// The name under which an attribute is or will be shown.
pub(super) fn attribute_name(array: &ArrayObject, of: &Attribute) -> String {
    let position = array.array.attribute(&of.name);
    match position.and_then(|position| array.name(Field::Attribute(position))) {
        Some(name) => name.to_owned(),
        None => member_name(&of.name),
    }
}

/// `count` cells with the fill value of an attribute.
pub(super) fn fill(of: &Attribute, count: usize) -> Result<Column> {
    let fill = of.fill_cell()?;
    let offsets = match of.cell_val_num.is_var() {
        true => (0..count as u64).map(|cell| cell * fill.len() as u64).collect(),
        false => Vec::new(),
    };
    let validity = if of.nullable { vec![of.fill_value_validity; count] } else { Vec::new() };
    Ok(Column { values: fill.repeat(count), offsets, validity })
}

/// The datatype with which an attribute is shown after all planned changes, with the values of its enumeration.
fn shown(array: &ArrayObject, of: &Attribute, enumeration: Option<&Enumeration>) -> Result<Datatype> {
    // Planned changes are not in the array yet, and neither is the enumeration.
    let without = Attribute { enumeration: None, ..of.clone() };
    let (datatype, _) = array.datatype(&without)?;
    let Some(members) = enumeration.and_then(super::super::datatype::members) else { return Ok(datatype) };
    Ok(match datatype {
        Datatype::Nullable(base) => Datatype::Nullable(Box::new(Datatype::Enum { base, members })),
        base => Datatype::Enum { base: Box::new(base), members },
    })
}

/// The bytes of a string or a sequence.
fn content<'v>(row: &[u8], datatype: &Datatype, values: &'v Values) -> Result<&'v [u8]> {
    let cut = || Error::invalid("an element that points to nothing");
    let slot = Slot::get(row).ok_or_else(cut)?;
    let size = match datatype {
        Datatype::Vlen(base) if base.has_slots() => {
            return Err(Error::unsupported(format!("type {datatype}, which TileDB does not have")));
        }
        Datatype::Vlen(base) => base.row_size().unwrap_or(1),
        _ => 1,
    };
    let len = usize::try_from(slot.count).ok().and_then(|count| count.checked_mul(size)).ok_or_else(cut)?;
    values.heap.bytes(slot, len).ok_or_else(cut)
}

/// Replaces the numbers of members of an enumeration by those that the array has for the same names.
fn count_again(
    column: &mut Column,
    name: &str,
    (members, base): (&[(String, i128)], &Datatype),
    values: &Enumeration,
) -> Result<()> {
    let size = base.row_size().unwrap_or(1).max(1);
    let known: Vec<Vec<u8>> =
        values.values().map(|values| values.map(<[u8]>::to_vec).collect()).unwrap_or_default();
    let signed = matches!(base.resolved(), Datatype::Int { signed: true, .. });
    for (cell, bytes) in column.values.chunks_exact_mut(size).enumerate() {
        if column.validity.get(cell) == Some(&0) {
            continue;
        }
        let negative = signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut wide = [if negative { 0xff } else { 0 }; 16];
        if let Some(to) = wide.get_mut(..size) {
            to.copy_from_slice(bytes);
        }
        let number = i128::from_le_bytes(wide);
        let member = members.iter().find(|(_, own)| *own == number).map(|(member, _)| member);
        let member =
            member.ok_or_else(|| Error::invalid(format!("{number} in {name}, which is not a member")))?;
        let stored = name_bytes(member);
        let position = known.iter().position(|value| *value == stored).ok_or_else(|| {
            Error::invalid(format!("{member:?} in {name}, which is not a value of its enumeration"))
                .with_hint("extend the enumeration first")
        })?;
        let position = (position as u64).to_le_bytes();
        if let Some(position) = position.get(..size) {
            bytes.copy_from_slice(position);
        }
    }
    Ok(())
}

/// Whether elements of both datatypes are stored in the same way. Enumerations are compared later, by the names of
/// members.
fn is_same(one: &Datatype, other: &Datatype) -> bool {
    match (one, other.resolved()) {
        (Datatype::Enum { base: one, .. }, Datatype::Enum { base: other, .. }) => {
            is_same(one.resolved(), other)
        }
        (Datatype::String(one), Datatype::String(other)) => match (one, other) {
            (
                hyperslab_model::Text::Fixed { len: one, .. },
                hyperslab_model::Text::Fixed { len: other, .. },
            ) => one == other,
            (one, other) => one == other,
        },
        (Datatype::Vlen(one), Datatype::Vlen(other)) => is_same(one.resolved(), other),
        (one, other) => one == other,
    }
}
