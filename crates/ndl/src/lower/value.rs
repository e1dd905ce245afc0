//! Values, and their arrangement in lines.

use super::reference::reference;
use super::{Lower, refused};
use crate::number::Number;
use crate::time;
use crate::tree::{Arrangement, Key, Rows, Scalar, Tree};
use half::{bf16, f16};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, ElementRef, Elements, Float, Reference, Text, Values};
use std::borrow::Cow;

/// The number of empty rows up to which an array without elements has a value.
const EMPTY_ROWS: u64 = 1 << 16;

/// How elements are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Whether compounds have the names of their members.
    pub(crate) named: bool,
    /// Whether all types must be in NDL 0.6.1.
    pub(crate) pure: bool,
    /// Whether NaN is written with its bits, unless these are the default ones.
    pub(crate) exact: bool,
}

impl Lower<'_> {
    /// The elements of an array. `None` if nothing can be written.
    pub(super) fn value<'a>(
        &mut self,
        datatype: &'a Datatype,
        values: &'a Values,
        shape: &[u64],
    ) -> Result<Option<Tree<'a>>> {
        let (datatype, shape) = flattened(datatype, shape);
        if datatype.row_size() == Some(0) {
            return Ok(None);
        }
        let mut elements = Elements::new(datatype, values);
        let count = hyperslab_core::nd::element_count(&shape);
        if count != u64::try_from(elements.len()).ok() {
            return Err(Error::invalid(format!("{} elements for shape {shape:?}", elements.len())));
        }
        if count == Some(0) && empty_rows(&shape) > EMPTY_ROWS {
            return Ok(None);
        }
        check(elements.clone(), self.pure)?;
        let form = Form { named: shape.is_empty(), pure: self.pure, exact: true };
        if shape.is_empty() {
            return Ok(elements.next().map(|one| element(one, form)));
        }
        let arrangement = arrangement(datatype, self.pure);
        Ok(Some(Tree::Rows(Box::new(Rows { elements, shape, arrangement, form }))))
    }
}

/// The leaf for an element. An element that does not fit its type, which [`check`] reports, becomes null.
pub(crate) fn element(element: ElementRef<'_>, form: Form) -> Tree<'_> {
    let Some((datatype, row)) = present(&element) else { return Tree::Scalar(Scalar::Null) };
    Tree::Scalar(match (datatype, element.get()) {
        (Datatype::Float(float), _) => float_scalar(float, row, form),
        (Datatype::Complex(float), _) => return complex(float, row, form),
        (Datatype::Datetime(unit), Element::Int(count)) if !form.pure => match time::iso8601(unit, count) {
            _ if count == time::NOT_A_TIME => Scalar::Text("NaT".into()),
            Some(text) => Scalar::Text(text.into()),
            None => Scalar::Int(count),
        },
        (_, Element::Int(value)) => Scalar::Int(value),
        (_, Element::Bool(value)) if form.pure => Scalar::Text(if value { "TRUE" } else { "FALSE" }.into()),
        (_, Element::Bool(value)) => Scalar::Bool(value),
        (_, Element::Bits(bytes)) if form.pure => match bytes.len() {
            1 | 2 | 4 | 8 => {
                Scalar::Int(bytes.iter().rev().fold(0, |all, byte| all << 8 | i128::from(*byte)))
            }
            _ => Scalar::Hex(bytes),
        },
        (_, Element::Bits(bytes)) => Scalar::Bits(bytes),
        (_, Element::Text(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => Scalar::Text(text.into()),
            Err(_) => Scalar::Bytes(bytes.into()),
        },
        (_, Element::Opaque(bytes)) => Scalar::Hex(bytes),
        (_, Element::Enum(_, Some(name))) => Scalar::Text(name.into()),
        (_, Element::Enum(code, None)) => Scalar::Int(code),
        (_, Element::Reference(to)) => return reference(to),
        (_, Element::Compound(fields)) if form.named => {
            let entries = fields.map(|(name, member)| (Key::Name(name), self::element(member, form)));
            return Tree::map(entries.collect());
        }
        (_, Element::Compound(fields)) => {
            return Tree::list(fields.map(|(_, member)| self::element(member, form)));
        }
        (_, Element::Vlen(elements)) => {
            let count = u64::try_from(elements.len()).unwrap_or(u64::MAX);
            return part(elements, vec![count], form);
        }
        (_, Element::Array(elements, shape)) => match elements.len() {
            0 => return Tree::list([]),
            _ => return part(elements, shape.to_vec(), form),
        },
        (
            _,
            Element::Null | Element::Broken | Element::Float(_) | Element::RawFloat(_) | Element::Complex(_),
        ) => Scalar::Null,
    })
}

fn part<'a>(elements: Elements<'a>, shape: Vec<u64>, form: Form) -> Tree<'a> {
    let form = Form { named: false, ..form };
    Tree::Rows(Box::new(Rows { elements, shape, arrangement: Arrangement::Flow, form }))
}

/// The type and row of an element, without names of types and nullability. `None` if it is null.
fn present<'a>(element: &ElementRef<'a>) -> Option<(&'a Datatype, &'a [u8])> {
    let (mut datatype, mut row) = (element.datatype(), element.row());
    loop {
        match datatype {
            Datatype::Named(_, of) => datatype = of,
            Datatype::Nullable(of) => {
                let (valid, rest) = row.split_first()?;
                if *valid == 0 {
                    return None;
                }
                (datatype, row) = (of, rest);
            }
            _ => return Some((datatype, row)),
        }
    }
}

/// A number, or the stored bytes, least significant first, of a format without a number type.
fn float_scalar<'a>(float: &Float, row: &'a [u8], form: Form) -> Scalar<'a> {
    let number = match (float, row) {
        (Float::Half, [a, b, ..]) => Number::Half(f16::from_ne_bytes([*a, *b])),
        (Float::BFloat, [a, b, ..]) => Number::BFloat(bf16::from_ne_bytes([*a, *b])),
        (Float::Single, row) => match row.first_chunk() {
            Some(bytes) => Number::Single(f32::from_ne_bytes(*bytes)),
            None => return Scalar::Hex(row),
        },
        (Float::Double, row) => match row.first_chunk() {
            Some(bytes) => Number::Double(f64::from_ne_bytes(*bytes)),
            None => return Scalar::Hex(row),
        },
        _ => return Scalar::Hex(row),
    };
    match number.is_unusual_nan() && form.exact {
        true => Scalar::Bytes(little_endian(row)),
        false => Scalar::Number(number),
    }
}

fn little_endian(row: &[u8]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "big") {
        true => row.iter().rev().copied().collect(),
        false => row.into(),
    }
}

fn complex<'a>(float: &Float, row: &'a [u8], form: Form) -> Tree<'a> {
    let (re, im) = row.split_at_checked(float.row_size()).unwrap_or((row, &[]));
    let [re, im] = [re, im].map(|part| Tree::Scalar(float_scalar(float, part, form)));
    match form {
        Form { named: true, pure: true, .. } => Tree::map(vec![(Key::Word("r"), re), (Key::Word("i"), im)]),
        _ => Tree::list([re, im]),
    }
}

/// The innermost elements of arrays of arrays, and the shape of all levels together.
fn flattened<'a>(datatype: &'a Datatype, shape: &[u64]) -> (&'a Datatype, Vec<u64>) {
    let (mut datatype, mut shape) = (datatype.resolved(), shape.to_vec());
    while let Datatype::Array { base, shape: inner } = datatype {
        shape.extend(inner);
        datatype = base.resolved();
    }
    (datatype, shape)
}

/// The number of rows of an array without elements.
fn empty_rows(shape: &[u64]) -> u64 {
    shape.iter().take_while(|extent| **extent != 0).fold(1, |rows, extent| rows.saturating_mul(*extent))
}

fn arrangement(datatype: &Datatype, pure: bool) -> Arrangement {
    match datatype {
        Datatype::Named(_, of) => arrangement(of, pure),
        Datatype::Nullable(of) => arrangement(of, pure),
        Datatype::Int { .. } | Datatype::Time { .. } | Datatype::Float(_) => Arrangement::Columns,
        Datatype::Datetime(unit) if pure || unit.duration => Arrangement::Columns,
        Datatype::Bitfield { .. } if pure => Arrangement::Columns,
        Datatype::Complex(_)
        | Datatype::Compound(_)
        | Datatype::Vlen(_)
        | Datatype::Array { .. }
        | Datatype::ObjRef
        | Datatype::RegRef
        | Datatype::Reference => Arrangement::Lines,
        Datatype::Datetime(_)
        | Datatype::Bitfield { .. }
        | Datatype::Bool
        | Datatype::String(_)
        | Datatype::Opaque { .. }
        | Datatype::Enum { .. } => Arrangement::Rows,
    }
}

/// Reports elements that do not fit their type or that pure NDL cannot express.
pub(super) fn check(mut elements: Elements<'_>, pure: bool) -> Result<()> {
    match fits(elements.datatype()) {
        true => Ok(()),
        false => elements.try_for_each(|element| check_one(element, pure)),
    }
}

fn check_one(element: ElementRef<'_>, pure: bool) -> Result<()> {
    match element.get() {
        Element::Broken => {
            Err(Error::invalid(format!("a row that does not fit its type, {}", element.datatype())))
        }
        Element::Compound(mut fields) => fields.try_for_each(|(_, member)| match fits(member.datatype()) {
            true => Ok(()),
            false => check_one(member, pure),
        }),
        Element::Vlen(elements) | Element::Array(elements, _) => match elements.datatype().row_size() {
            // The count of a sequence comes from the file and can be wrong, so it is not trusted.
            Some(0) => Err(Error::unsupported(format!("elements of no bytes, {}", element.datatype()))),
            _ => check(elements, pure),
        },
        Element::Reference(
            Reference::Attribute(..) | Reference::Dangling(_) | Reference::External { .. },
        ) if pure => Err(refused("a reference to neither an object nor a region of this file")),
        _ => Ok(()),
    }
}

/// Whether every row of the right size fits the type.
fn fits(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Int { bits, .. } | Datatype::Time { bits } => *bits <= 128,
        Datatype::Float(_)
        | Datatype::Complex(_)
        | Datatype::Bool
        | Datatype::Datetime(_)
        | Datatype::Bitfield { .. }
        | Datatype::Opaque { .. }
        | Datatype::String(Text::Fixed { .. }) => true,
        Datatype::Enum { base, .. } => matches!(**base, Datatype::Int { bits, .. } if bits <= 128),
        Datatype::Compound(members) => members.iter().all(|member| fits(&member.datatype)),
        Datatype::Array { base, .. } => base.row_size() != Some(0) && fits(base),
        Datatype::Nullable(of) => fits(of),
        Datatype::Named(_, of) => fits(of),
        Datatype::String(Text::Variable)
        | Datatype::ObjRef
        | Datatype::RegRef
        | Datatype::Reference
        | Datatype::Vlen(_) => false,
    }
}
