//! Converts elements between the form of the codec `bytes` and rows.
//!
//! Spec: Zarr v3 "Bytes codec", zarr-extensions/data-types/struct "Bytes codec encoding"

use super::{ByteOrder, DataType};
use hyperslab_core::rows::{ElementLayout, ElementPart};
use hyperslab_core::{Error, Result};

/// The layout of a stored element, and its conversion to a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    stored: usize,
    row: usize,
    step: Step,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Copies bytes.
    Copy(usize),
    /// Swaps the byte order of units of `unit` bytes.
    Swap {
        unit: usize,
        len: usize,
    },
    /// Takes one number from the low bits of a byte.
    Narrow {
        bits: u8,
        signed: bool,
    },
    /// Skips padding, which rows do not have.
    Skip(usize),
    Repeat {
        count: usize,
        step: Box<Step>,
    },
    Sequence(Vec<Step>),
}

impl Layout {
    /// The layout of elements with the byte order `order`. Fields can have their own byte order.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if a byte order is required and missing,
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for elements of variable size.
    pub fn new(data_type: &DataType, order: Option<ByteOrder>) -> Result<Layout> {
        let size = |size: Option<u64>| size.and_then(|size| usize::try_from(size).ok());
        let (Some(stored), Some(row)) = (size(data_type.stored_size()), size(Some(data_type.row_size())))
        else {
            return Err(Error::invalid("elements of variable size have no layout"));
        };
        if stored == 0 || row == 0 {
            return Err(Error::invalid("elements of 0 bytes have no layout"));
        }
        Ok(Layout { stored, row, step: step(data_type, order)? })
    }

    /// The size of one stored element in bytes.
    pub fn stored_size(&self) -> usize {
        self.stored
    }

    /// The size of one row in bytes.
    pub fn row_size(&self) -> usize {
        self.row
    }

    /// The places of the bytes of a row in a stored element. `None` if a conversion does more than move or reverse bytes.
    pub fn element(&self) -> Option<ElementLayout> {
        let mut element = ElementLayout::new(self.stored);
        self.step.add_to(&mut element, &mut 0)?;
        Some(element)
    }

    /// Whether stored elements and rows have the same bytes.
    pub fn is_plain(&self) -> bool {
        matches!(self.step, Step::Copy(_))
    }

    /// Decodes stored elements to rows.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the numbers of elements and rows differ.
    pub fn decode(&self, stored: &[u8], rows: &mut [u8]) -> Result<()> {
        self.check(stored.len(), rows.len())?;
        match self.step {
            Step::Copy(_) => rows.copy_from_slice(stored),
            Step::Swap { unit, .. } => swap(unit, stored, rows),
            ref step => {
                for (stored, row) in stored.chunks_exact(self.stored).zip(rows.chunks_exact_mut(self.row)) {
                    step.decode(&mut &*stored, &mut &mut *row);
                }
            }
        }
        Ok(())
    }

    /// Encodes rows as stored elements. Padding is zero.
    ///
    /// # Errors
    /// As [`Layout::decode`].
    pub fn encode(&self, rows: &[u8], stored: &mut [u8]) -> Result<()> {
        self.check(stored.len(), rows.len())?;
        match self.step {
            Step::Copy(_) => stored.copy_from_slice(rows),
            Step::Swap { unit, .. } => swap(unit, rows, stored),
            ref step => {
                for (stored, row) in stored.chunks_exact_mut(self.stored).zip(rows.chunks_exact(self.row)) {
                    step.encode(&mut &*row, &mut &mut *stored);
                }
            }
        }
        Ok(())
    }

    fn check(&self, stored: usize, rows: usize) -> Result<()> {
        let count = stored / self.stored;
        match stored.is_multiple_of(self.stored) && count.checked_mul(self.row) == Some(rows) {
            true => Ok(()),
            false => Err(Error::malformed(format!(
                "{stored} bytes of elements of {}, expected {}",
                self.stored,
                rows / self.row
            ))),
        }
    }
}

fn step(data_type: &DataType, order: Option<ByteOrder>) -> Result<Step> {
    let len = usize::try_from(data_type.stored_size().unwrap_or_default()).unwrap_or(usize::MAX);
    Ok(match data_type {
        DataType::Struct(structure) => {
            let mut steps = Vec::with_capacity(structure.fields().len());
            let mut end = 0;
            for field in structure.fields() {
                push_skip(&mut steps, field.offset.saturating_sub(end));
                end = field.offset.saturating_add(field.data_type.stored_size().unwrap_or_default());
                steps.push(step(&field.data_type, field.byte_order.or(order))?);
            }
            push_skip(&mut steps, structure.stored_size().saturating_sub(end));
            match steps.iter().try_fold(0, |len: usize, step| match step {
                Step::Copy(more) => len.checked_add(*more),
                _ => None,
            }) {
                Some(len) => Step::Copy(len),
                None => Step::Sequence(steps),
            }
        }
        DataType::Array { element, shape } => match step(element, order)? {
            Step::Copy(_) => Step::Copy(len),
            Step::Swap { unit, .. } => Step::Swap { unit, len },
            step => {
                let count = shape.iter().fold(1, |count: u64, dim| count.saturating_mul(*dim));
                Step::Repeat { count: usize::try_from(count).unwrap_or(usize::MAX), step: Box::new(step) }
            }
        },
        DataType::Integer { signed, bits: bits @ 0..8 } => Step::Narrow { bits: *bits, signed: *signed },
        DataType::Float(float) if float.bits() < 8 => Step::Narrow { bits: float.bits(), signed: false },
        DataType::Complex(part) if part.bits() < 8 => {
            Step::Repeat { count: 2, step: Box::new(Step::Narrow { bits: part.bits(), signed: false }) }
        }
        other => match (usize::from(other.swapped_together()), order) {
            (1, _) => Step::Copy(len),
            (_, Some(order)) if order == NATIVE => Step::Copy(len),
            (unit, Some(_)) => Step::Swap { unit, len },
            (_, None) => {
                return Err(Error::malformed("numbers of several bytes without a byte order (endian)"));
            }
        },
    })
}

fn push_skip(steps: &mut Vec<Step>, len: u64) {
    if len > 0 {
        steps.push(Step::Skip(usize::try_from(len).unwrap_or(usize::MAX)));
    }
}

impl Step {
    /// Adds the parts of this step to `element`, beginning at the stored byte `at`.
    fn add_to(&self, element: &mut ElementLayout, at: &mut usize) -> Option<()> {
        let mut part = |len: usize, unit: usize| {
            let offset = *at;
            *at = offset.checked_add(len)?;
            element.push(ElementPart { offset, len, unit })
        };
        match self {
            Step::Copy(len) => part(*len, 1),
            Step::Swap { unit, len } => part(*len, *unit),
            Step::Narrow { .. } => None,
            Step::Skip(len) => {
                *at = at.checked_add(*len)?;
                Some(())
            }
            Step::Repeat { count, step } => (0..*count).try_for_each(|_| step.add_to(element, at)),
            Step::Sequence(steps) => steps.iter().try_for_each(|step| step.add_to(element, at)),
        }
    }

    /// [`Layout::check`] has checked the lengths of both sides.
    fn decode(&self, stored: &mut &[u8], row: &mut &mut [u8]) {
        match self {
            Step::Copy(len) => take_mut(row, *len).copy_from_slice(take(stored, *len)),
            Step::Swap { unit, len } => swap(*unit, take(stored, *len), take_mut(row, *len)),
            Step::Narrow { bits, signed } => {
                for (stored, row) in take(stored, 1).iter().zip(take_mut(row, 1)) {
                    *row = narrow(*stored, *bits, *signed);
                }
            }
            Step::Skip(len) => {
                take(stored, *len);
            }
            Step::Repeat { count, step } => (0..*count).for_each(|_| step.decode(stored, row)),
            Step::Sequence(steps) => steps.iter().for_each(|step| step.decode(stored, row)),
        }
    }

    fn encode(&self, row: &mut &[u8], stored: &mut &mut [u8]) {
        match self {
            Step::Copy(len) => take_mut(stored, *len).copy_from_slice(take(row, *len)),
            Step::Swap { unit, len } => swap(*unit, take(row, *len), take_mut(stored, *len)),
            Step::Narrow { .. } => take_mut(stored, 1).copy_from_slice(take(row, 1)),
            Step::Skip(len) => take_mut(stored, *len).fill(0),
            Step::Repeat { count, step } => (0..*count).for_each(|_| step.encode(row, stored)),
            Step::Sequence(steps) => steps.iter().for_each(|step| step.encode(row, stored)),
        }
    }
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, rest) = bytes.split_at(len.min(bytes.len()));
    *bytes = rest;
    head
}

fn take_mut<'a>(bytes: &mut &'a mut [u8], len: usize) -> &'a mut [u8] {
    let whole = std::mem::take(bytes);
    let (head, rest) = whole.split_at_mut(len.min(whole.len()));
    *bytes = rest;
    head
}

fn swap(unit: usize, from: &[u8], to: &mut [u8]) {
    match unit {
        2 => swap_units::<2>(from, to),
        4 => swap_units::<4>(from, to),
        _ => swap_units::<8>(from, to),
    }
}

fn swap_units<const N: usize>(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.as_chunks::<N>().0.iter().zip(to.as_chunks_mut::<N>().0) {
        *to = *from;
        to.reverse();
    }
}

fn narrow(byte: u8, bits: u8, signed: bool) -> u8 {
    let unused = 8_u8.saturating_sub(bits);
    let high = byte << unused;
    match signed {
        true => (high.cast_signed() >> unused).cast_unsigned(),
        false => high >> unused,
    }
}

const NATIVE: ByteOrder = if cfg!(target_endian = "little") { ByteOrder::Little } else { ByteOrder::Big };
