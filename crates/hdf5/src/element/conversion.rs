//! Converts rows of one datatype to rows of another, by the rules of libhdf5 when it reads.

mod float;
mod number;

use super::plan_row_size;
use crate::format::Sizes;
use crate::format::message::datatype::{
    Datatype, DatatypeClass, FloatingPoint, StringPadding, VariableLengthKind,
};
use crate::reference::Reference;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use number::{Number, Value};

/// Converts rows of one datatype to rows of another.
#[derive(Debug)]
pub(crate) struct Conversion {
    from: usize,
    to: usize,
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// Both rows have the same bytes.
    Copy,
    Number(Number, Number),
    /// Enumeration values, matched by name. A value without a name becomes all bits set.
    Names {
        from: Number,
        to: Number,
        values: Vec<(i128, i128)>,
    },
    Text {
        from: StringPadding,
        to: StringPadding,
    },
    /// Compound members, matched by name: the offset in both rows.
    Members(Vec<(usize, usize, Conversion)>),
    Items(Box<Conversion>),
    Sequence(Box<Conversion>),
}

impl Conversion {
    /// A conversion from rows of `from` to rows of `to`, each with the sizes of its file.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if libhdf5 has no such conversion.
    pub(crate) fn between(from: (&Datatype, &Sizes), to: (&Datatype, &Sizes)) -> Result<Conversion> {
        let sizes = (plan_row_size(from.0, from.1)?, plan_row_size(to.0, to.1)?);
        let step = step(from, to)?;
        Ok(Conversion { from: sizes.0, to: sizes.1, step })
    }

    /// The size of a source row in bytes.
    pub(crate) fn row_size(&self) -> usize {
        self.from
    }

    /// Whether the conversion changes nothing.
    pub(crate) fn is_identity(&self) -> bool {
        matches!(self.step, Step::Copy)
    }

    /// Converts whole rows. Compound members that `from` lacks keep their bytes in `to`.
    ///
    /// # Errors
    /// If a slot points outside of the heap.
    pub(crate) fn convert(&self, from: &[u8], to: &mut [u8], heap: &mut Heap<Reference>) -> Result<()> {
        let rows = from.chunks_exact(self.from.max(1)).zip(to.chunks_exact_mut(self.to.max(1)));
        match &self.step {
            Step::Copy => rows.for_each(|(from, to)| to.copy_from_slice(from)),
            Step::Number(own, other) => rows.for_each(|(from, to)| other.write(own.read(from), to)),
            Step::Names { from: own, to: other, values } => {
                for (from, to) in rows {
                    match own.read(from) {
                        Value::Integer(value) => match values.binary_search_by_key(&value, |(from, _)| *from)
                        {
                            Ok(place) => {
                                let value = values.get(place).map_or(0, |(_, to)| *to);
                                other.write(Value::Integer(value), to);
                            }
                            Err(_) => to.fill(0xff),
                        },
                        Value::Float(_) | Value::Exact { .. } => to.fill(0xff),
                    }
                }
            }
            Step::Text { from: own, to: other } => rows.for_each(|(from, to)| text(*own, *other, from, to)),
            Step::Members(members) => {
                for (from, to) in rows {
                    for (at, other, member) in members {
                        let from = from.get(*at..at.saturating_add(member.from)).unwrap_or_default();
                        let to = to.get_mut(*other..other.saturating_add(member.to)).unwrap_or_default();
                        member.convert(from, to, heap)?;
                    }
                }
            }
            Step::Items(item) => rows.into_iter().try_for_each(|(from, to)| item.convert(from, to, heap))?,
            Step::Sequence(item) => {
                for (from, to) in rows {
                    let slot = item.sequence(Slot::get(from).unwrap_or_default(), heap)?;
                    to.copy_from_slice(&slot.to_bytes());
                }
            }
        }
        Ok(())
    }

    fn sequence(&self, slot: Slot, heap: &mut Heap<Reference>) -> Result<Slot> {
        let count = usize::try_from(slot.count).unwrap_or(usize::MAX);
        let lost = || Error::malformed("slot of a sequence points outside of the heap");
        let len = count.checked_mul(self.from).ok_or_else(lost)?;
        let items = heap.bytes(slot, len).ok_or_else(lost)?.to_vec();
        let mut rows = vec![0; count.checked_mul(self.to).ok_or_else(lost)?];
        self.convert(&items, &mut rows, heap)?;
        if rows.is_empty() {
            return Ok(Slot::default());
        }
        heap.push_items(rows.into(), slot.count)
    }
}

fn step(from: (&Datatype, &Sizes), to: (&Datatype, &Sizes)) -> Result<Step> {
    use DatatypeClass as Class;
    let nested = |own: &Datatype, other: &Datatype| Conversion::between((own, from.1), (other, to.1));
    let refused = || {
        Err(Error::unsupported(format!(
            "cannot convert elements of the source dataset ({}) to those of the virtual dataset ({})",
            class_name(&from.0.class),
            class_name(&to.0.class)
        )))
    };
    if let (Some(own), Some(other)) = (Number::of(from.0), Number::of(to.0)) {
        return Ok(if own == other { Step::Copy } else { Step::Number(own, other) });
    }
    let same = from.0.size == to.0.size;
    match (&from.0.class, &to.0.class) {
        // Of any size, as rows have the byte order of this machine: those of 128 bits unsigned are no `Number`.
        (Class::FixedPoint(own), Class::FixedPoint(other))
            if same && (own.signed, own.bit_precision) == (other.signed, other.bit_precision) =>
        {
            Ok(Step::Copy)
        }
        (Class::String(own), Class::String(other)) if own.character_set == other.character_set => {
            Ok(match same && own.padding == other.padding {
                true => Step::Copy,
                false => Step::Text { from: own.padding, to: other.padding },
            })
        }
        (Class::FloatingPoint(own), Class::FloatingPoint(other)) if same && layout(own) == layout(other) => {
            Ok(Step::Copy)
        }
        (Class::Opaque(own), Class::Opaque(other)) if same && own.tag == other.tag => Ok(Step::Copy),
        (Class::BitField(own), Class::BitField(other))
            if same && own.bit_precision == other.bit_precision =>
        {
            Ok(Step::Copy)
        }
        (Class::Time(_), Class::Time(_)) if same => Ok(Step::Copy),
        (Class::Reference(own), Class::Reference(other)) if own == other => Ok(Step::Copy),
        (Class::Enumeration(own), Class::Enumeration(other)) => {
            let (Some(base), Some(other_base)) = (Number::of(&own.base), Number::of(&other.base)) else {
                return refused();
            };
            let number = |base: Number, stored: &Datatype, value: &[u8]| stored_integer(base, stored, value);
            let others: Vec<(&[u8], i128)> = other
                .members()
                .filter_map(|(name, value)| Some((name, number(other_base, &other.base, value)?)))
                .collect();
            let mut values: Vec<(i128, i128)> = own
                .members()
                .filter_map(|(name, value)| {
                    let to = others.iter().find(|(other, _)| *other == name)?.1;
                    Some((number(base, &own.base, value)?, to))
                })
                .collect();
            values.sort_unstable();
            values.dedup_by_key(|(from, _)| *from);
            let all = values.len() == own.names.len() && values.iter().all(|(from, to)| from == to);
            Ok(match all {
                true if base == other_base => Step::Copy,
                _ => Step::Names { from: base, to: other_base, values },
            })
        }
        (Class::Enumeration(own), Class::FixedPoint(_) | Class::FloatingPoint(_)) => {
            match (Number::of(&own.base), Number::of(to.0)) {
                (Some(own), Some(other)) => Ok(Step::Number(own, other)),
                _ => refused(),
            }
        }
        (Class::Compound(own), Class::Compound(other)) => {
            let starts = |members: &[crate::format::message::datatype::Member], sizes: &Sizes| {
                let mut at = 0_usize;
                members
                    .iter()
                    .map(|member| {
                        let start = at;
                        at = at.saturating_add(plan_row_size(&member.datatype, sizes)?);
                        Ok(start)
                    })
                    .collect::<Result<Vec<usize>>>()
            };
            let (own_starts, other_starts) = (starts(&own.members, from.1)?, starts(&other.members, to.1)?);
            let mut members = Vec::new();
            for (member, at) in other.members.iter().zip(other_starts) {
                let found = own.members.iter().zip(&own_starts).find(|(own, _)| own.name == member.name);
                if let Some((found, from)) = found {
                    members.push((*from, at, nested(&found.datatype, &member.datatype)?));
                }
            }
            let copies = members.len() == own.members.len()
                && members.len() == other.members.len()
                && members.iter().all(|(from, to, member)| from == to && member.is_identity());
            Ok(if copies { Step::Copy } else { Step::Members(members) })
        }
        (Class::Array(own), Class::Array(other)) if own.dimensions == other.dimensions => {
            items(nested(&own.base, &other.base)?)
        }
        (Class::Complex(own), Class::Complex(other)) => items(nested(&own.base, &other.base)?),
        (Class::VariableLength(own), Class::VariableLength(other)) => match (own.kind, other.kind) {
            (VariableLengthKind::String { .. }, VariableLengthKind::String { .. }) => Ok(Step::Copy),
            (VariableLengthKind::Sequence, VariableLengthKind::Sequence) => {
                let item = nested(&own.base, &other.base)?;
                Ok(if item.is_identity() { Step::Copy } else { Step::Sequence(Box::new(item)) })
            }
            _ => refused(),
        },
        _ => refused(),
    }
}

fn items(item: Conversion) -> Result<Step> {
    Ok(if item.is_identity() { Step::Copy } else { Step::Items(Box::new(item)) })
}

fn class_name(class: &DatatypeClass) -> &'static str {
    match class {
        DatatypeClass::FixedPoint(_) => "integers",
        DatatypeClass::FloatingPoint(_) => "floating-point numbers",
        DatatypeClass::Time(_) => "times",
        DatatypeClass::String(_) => "strings of fixed length",
        DatatypeClass::BitField(_) => "bit fields",
        DatatypeClass::Opaque(_) => "opaque bytes",
        DatatypeClass::Compound(_) => "compounds",
        DatatypeClass::Reference(_) => "references",
        DatatypeClass::Enumeration(_) => "enumerations",
        DatatypeClass::VariableLength(_) => "elements of variable length",
        DatatypeClass::Array(_) => "arrays",
        DatatypeClass::Complex(_) => "complex numbers",
    }
}

/// The layout of a floating-point number without its byte order.
fn layout(class: &FloatingPoint) -> FloatingPoint {
    FloatingPoint { byte_order: crate::format::message::datatype::FloatByteOrder::LittleEndian, ..*class }
}

/// An integer as an enumeration stores it.
fn stored_integer(number: Number, base: &Datatype, value: &[u8]) -> Option<i128> {
    let program = super::program::Program::compile(base, &Sizes::DEFAULT).ok()?;
    let mut row = vec![0; program.row];
    program.run_numbers(value, &mut row);
    match number.read(&row) {
        Value::Integer(value) => Some(value),
        Value::Float(_) | Value::Exact { .. } => None,
    }
}

/// Truncates or pads strings by the rules of libhdf5.
fn text(own: StringPadding, other: StringPadding, from: &[u8], to: &mut [u8]) {
    let len = match own {
        StringPadding::NullTerminate | StringPadding::NullPad => {
            from.iter().position(|byte| *byte == 0).unwrap_or(from.len())
        }
        StringPadding::SpacePad => from.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1),
    };
    let room = match other {
        StringPadding::NullTerminate => to.len().saturating_sub(1),
        StringPadding::NullPad | StringPadding::SpacePad => to.len(),
    };
    let len = len.min(room);
    let (head, tail) = to.split_at_mut_checked(len).unwrap_or_default();
    head.copy_from_slice(from.get(..len).unwrap_or_default());
    tail.fill(if other == StringPadding::SpacePad { b' ' } else { 0 });
}
