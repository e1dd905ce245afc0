//! A part of the record of a cell: the coordinate or the value of one column, as bytes that compare in the order of the
//! elements.

use super::scratch::broken;
use crate::canonical::{canonical, is_verbatim};
use hyperslab_core::rows::{Heap, Slot, int_row};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Column, Datatype, Element, ElementRef, Pad, Text, Values};
use std::ops::Range;

/// How an element is encoded as part of a record.
pub(super) enum Part {
    /// An integer, most significant byte first. The sign bit is flipped, so that negative numbers come first.
    Integer { size: usize, signed: bool },
    /// A floating-point number as 64 bits in the order of the numbers. All NaNs are the same, and so are both zeros.
    Float,
    /// A string that ends with two zero bytes. A zero byte in it is followed by 255.
    Text(Text),
    /// A mark, 0 for null and 1 for a value, and the value.
    Nullable { of: Box<Part>, row: usize },
    /// The canonical bytes.
    Canonical { datatype: Datatype, row: usize, is_verbatim: bool },
}

/// Elements that are read back: rows, and the bytes that their slots point to.
#[derive(Clone, Default)]
pub(super) struct Unpacked {
    pub(super) rows: Vec<u8>,
    pub(super) content: Vec<u8>,
}

impl Unpacked {
    pub(super) fn values(self) -> Values {
        let mut heap = Heap::default();
        if !self.content.is_empty() {
            heap.buffers.push(self.content.into());
        }
        Values { rows: self.rows.into(), heap }
    }
}

impl Part {
    /// A coordinate, in the order of coordinates.
    pub(super) fn coordinate(datatype: &Datatype) -> Part {
        let row = datatype.row_size().unwrap_or(0);
        match datatype.resolved() {
            // Integers of 128 bits are signed.
            Datatype::Int { signed, .. } => Part::Integer { size: row, signed: *signed || row == 16 },
            Datatype::Time { .. } => Part::Integer { size: row, signed: row == 16 },
            Datatype::Datetime(_) => Part::Integer { size: row, signed: true },
            Datatype::Enum { base, .. } => Part::coordinate(base),
            Datatype::Float(float) if float.keyword().is_some() && row < 16 => Part::Float,
            Datatype::String(text) => Part::Text(*text),
            Datatype::Nullable(of) => Part::Nullable { of: Box::new(Part::coordinate(of)), row },
            _ => Part::canonical(datatype),
        }
    }

    /// A value, in the order of canonical bytes.
    pub(super) fn canonical(datatype: &Datatype) -> Part {
        Part::Canonical {
            datatype: datatype.clone(),
            row: datatype.row_size().unwrap_or(0),
            is_verbatim: is_verbatim(datatype),
        }
    }

    /// Whether the element can be read back.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Part::Float => false,
            Part::Nullable { of, .. } => of.is_exact(),
            Part::Integer { .. } | Part::Text(_) | Part::Canonical { .. } => true,
        }
    }

    /// The size of all such parts, if it is the same.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Part::Integer { size, .. } => Some(*size),
            Part::Float => Some(8),
            Part::Text(_) | Part::Nullable { .. } => None,
            Part::Canonical { row, is_verbatim: true, .. } => Some(*row),
            Part::Canonical { datatype, .. } => matches!(datatype.resolved(), Datatype::Bool).then_some(1),
        }
    }

    /// Writes the elements of some cells into records of `size` bytes, starting at byte `at`.
    pub(super) fn encode_each(
        &self,
        column: &Column,
        cells: Range<usize>,
        records: &mut [u8],
        size: usize,
        at: usize,
    ) -> Result<()> {
        let mut elements = column.elements();
        elements.split(cells.start);
        let elements = elements.split(cells.len());
        let flip = |signed: &bool| if *signed { 0x80 } else { 0 };
        let places = Places { size, at };
        match self {
            Part::Integer { size: 1, signed } => places.integers::<1>(elements.rows(), flip(signed), records),
            Part::Integer { size: 2, signed } => places.integers::<2>(elements.rows(), flip(signed), records),
            Part::Integer { size: 4, signed } => places.integers::<4>(elements.rows(), flip(signed), records),
            Part::Integer { size: 8, signed } => places.integers::<8>(elements.rows(), flip(signed), records),
            Part::Canonical { row: 8, is_verbatim: true, .. } => places.copy::<8>(elements.rows(), records),
            Part::Canonical { row: 4, is_verbatim: true, .. } => places.copy::<4>(elements.rows(), records),
            _ => {
                let mut part = Vec::new();
                for (record, element) in records.chunks_exact_mut(size).zip(elements) {
                    part.clear();
                    self.encode(element, &mut part)?;
                    let place = record.get_mut(at..at.saturating_add(part.len())).ok_or_else(broken)?;
                    place.copy_from_slice(&part);
                }
            }
        }
        Ok(())
    }

    /// Appends an element.
    pub(super) fn encode(&self, element: ElementRef<'_>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Part::Integer { signed, .. } => {
                let start = out.len();
                out.extend_from_slice(element.row());
                let place = out.get_mut(start..).unwrap_or_default();
                if cfg!(target_endian = "little") {
                    place.reverse();
                }
                if let (true, Some(first)) = (signed, place.first_mut()) {
                    *first ^= 0x80;
                }
            }
            Part::Float => {
                let Element::Float(number) = element.get() else { return Err(unfit()) };
                out.extend_from_slice(&in_order(number).to_be_bytes());
            }
            Part::Text(_) => {
                let Element::Text(text) = element.get() else { return Err(unfit()) };
                for (index, piece) in text.split(|byte| *byte == 0).enumerate() {
                    if index > 0 {
                        out.extend_from_slice(&[0, 255]);
                    }
                    out.extend_from_slice(piece);
                }
                out.extend_from_slice(&[0, 0]);
            }
            Part::Nullable { of, .. } => match element.present() {
                None => out.push(0),
                Some(value) => {
                    out.push(1);
                    of.encode(value, out)?;
                }
            },
            Part::Canonical { is_verbatim: true, .. } => out.extend_from_slice(element.row()),
            // If the rank of its target is unknown, a reference to all elements has other bytes; but there are no
            // references here.
            Part::Canonical { .. } => canonical(&|_| 0, element, out)?,
        }
        Ok(())
    }

    /// Reads the elements back from records of `size` bytes, starting at byte `at`.
    pub(super) fn decode_each(
        &self,
        records: &[u8],
        size: usize,
        at: usize,
        out: &mut Unpacked,
    ) -> Result<()> {
        let flip = |signed: &bool| if *signed { 0x80 } else { 0 };
        let places = Places { size, at };
        match self {
            Part::Integer { size: 4, signed } => places.rows::<4>(records, flip(signed), true, &mut out.rows),
            Part::Integer { size: 8, signed } => places.rows::<8>(records, flip(signed), true, &mut out.rows),
            Part::Canonical { row: 4, is_verbatim: true, .. } => {
                places.rows::<4>(records, 0, false, &mut out.rows);
            }
            Part::Canonical { row: 8, is_verbatim: true, .. } => {
                places.rows::<8>(records, 0, false, &mut out.rows);
            }
            _ => {
                for record in records.chunks_exact(size) {
                    self.decode(&mut record.get(at..).unwrap_or_default(), out)?;
                }
            }
        }
        Ok(())
    }

    /// Reads an element back from the beginning of `bytes`, which then begin after it.
    pub(super) fn decode(&self, bytes: &mut &[u8], out: &mut Unpacked) -> Result<()> {
        let Unpacked { rows, content } = out;
        match self {
            Part::Integer { size, signed } => {
                let start = rows.len();
                rows.extend_from_slice(take(bytes, *size)?);
                let place = rows.get_mut(start..).unwrap_or_default();
                if let (true, Some(first)) = (signed, place.first_mut()) {
                    *first ^= 0x80;
                }
                if cfg!(target_endian = "little") {
                    place.reverse();
                }
            }
            Part::Float => return Err(broken()),
            Part::Text(text) => {
                let start = content.len();
                unescape(bytes, content)?;
                put_text(*text, start, rows, content)?;
            }
            Part::Nullable { of, row } => match take(bytes, 1)? {
                [0] => rows.resize(rows.len().saturating_add(*row), 0),
                _ => {
                    rows.push(1);
                    of.decode(bytes, out)?;
                }
            },
            Part::Canonical { row, is_verbatim: true, .. } => rows.extend_from_slice(take(bytes, *row)?),
            Part::Canonical { datatype, .. } => from_canonical(datatype, bytes, rows, content)?,
        }
        Ok(())
    }

    /// Skips an element at the beginning of `bytes`.
    pub(super) fn skip(&self, bytes: &mut &[u8]) -> Result<()> {
        match self {
            Part::Nullable { of, .. } => match take(bytes, 1)? {
                [0] => Ok(()),
                _ => of.skip(bytes),
            },
            // Other parts are read back, and so are never skipped.
            part => take(bytes, part.size().ok_or_else(broken)?).map(drop),
        }
    }
}

/// Where parts of one column lie in records of fixed size.
struct Places {
    size: usize,
    at: usize,
}

impl Places {
    fn of<'a, const ROW: usize>(&self, records: &'a mut [u8]) -> impl Iterator<Item = &'a mut [u8; ROW]> {
        let at = self.at;
        records.chunks_exact_mut(self.size).filter_map(move |record| record.get_mut(at..)?.first_chunk_mut())
    }

    fn integers<const ROW: usize>(&self, rows: &[u8], flip: u8, records: &mut [u8]) {
        for (place, row) in self.of::<ROW>(records).zip(rows.as_chunks::<ROW>().0) {
            *place = *row;
            if cfg!(target_endian = "little") {
                place.reverse();
            }
            if let Some(first) = place.first_mut() {
                *first ^= flip;
            }
        }
    }

    fn copy<const ROW: usize>(&self, rows: &[u8], records: &mut [u8]) {
        self.of::<ROW>(records).zip(rows.as_chunks::<ROW>().0).for_each(|(place, row)| *place = *row);
    }

    fn rows<const ROW: usize>(&self, records: &[u8], flip: u8, is_number: bool, rows: &mut Vec<u8>) {
        rows.reserve(records.len() / self.size.max(1) * ROW);
        for record in records.chunks_exact(self.size) {
            let Some(mut row) = record.get(self.at..).and_then(|part| part.first_chunk::<ROW>()).copied()
            else {
                return;
            };
            if let Some(first) = row.first_mut() {
                *first ^= flip;
            }
            if is_number && cfg!(target_endian = "little") {
                row.reverse();
            }
            rows.extend_from_slice(&row);
        }
    }
}

/// Whether elements have references, which cannot be read back.
pub(super) fn has_references(datatype: &Datatype) -> bool {
    datatype.any(&|part| matches!(part, Datatype::ObjRef | Datatype::RegRef | Datatype::Reference))
}

/// A number as bits in the order of the numbers.
fn in_order(number: f64) -> u64 {
    match number {
        _ if number.is_nan() => u64::MAX,
        0.0 => 1 << 63,
        _ if number.is_sign_negative() => !number.to_bits(),
        _ => number.to_bits() | 1 << 63,
    }
}

/// Reads the canonical bytes of an element, as [`canonical`] writes them, and appends its row.
fn from_canonical(
    datatype: &Datatype,
    bytes: &mut &[u8],
    rows: &mut Vec<u8>,
    content: &mut Vec<u8>,
) -> Result<()> {
    if is_verbatim(datatype) {
        rows.extend_from_slice(take(bytes, datatype.row_size().ok_or_else(broken)?)?);
        return Ok(());
    }
    match datatype {
        Datatype::Named(_, of) => from_canonical(of, bytes, rows, content)?,
        Datatype::Int { bits, signed } => integer(*bits, *signed, bytes, rows)?,
        Datatype::Time { bits } => integer(*bits, false, bytes, rows)?,
        Datatype::Datetime(_) => integer(64, true, bytes, rows)?,
        Datatype::Enum { base, .. } => from_canonical(base, bytes, rows, content)?,
        Datatype::Float(float) if float.keyword().is_some() && float.row_size() < 16 => {
            number(float.row_size(), bytes, rows)?;
        }
        Datatype::Complex(float) => {
            number(float.row_size(), bytes, rows)?;
            number(float.row_size(), bytes, rows)?;
        }
        Datatype::Float(_) | Datatype::Bool | Datatype::Bitfield { .. } | Datatype::Opaque { .. } => {
            rows.extend_from_slice(take(bytes, datatype.row_size().ok_or_else(broken)?)?);
        }
        Datatype::String(text) => {
            let len = usize::try_from(count(bytes)?).map_err(|_| broken())?;
            let start = content.len();
            content.extend_from_slice(take(bytes, len)?);
            put_text(*text, start, rows, content)?;
        }
        Datatype::Vlen(base) => {
            let count = u32::try_from(count(bytes)?).map_err(|_| broken())?;
            let mut elements = Vec::new();
            for _ in 0..count {
                from_canonical(base, bytes, &mut elements, content)?;
            }
            if base.row_size() != Some(1) {
                // Rows of numbers must be aligned so that they can be read as numbers.
                content.resize(content.len().next_multiple_of(16), 0);
            }
            rows.extend(Slot::at(0, count, content.len() as u64).to_bytes());
            content.extend_from_slice(&elements);
        }
        Datatype::Array { base, shape } => {
            let count = shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent));
            for _ in 0..count.ok_or_else(broken)? {
                from_canonical(base, bytes, rows, content)?;
            }
        }
        Datatype::Compound(members) => {
            for member in members {
                from_canonical(&member.datatype, bytes, rows, content)?;
            }
        }
        Datatype::Nullable(of) => match take(bytes, 1)? {
            [0] => rows.resize(rows.len().saturating_add(datatype.row_size().ok_or_else(broken)?), 0),
            _ => {
                rows.push(1);
                from_canonical(of, bytes, rows, content)?;
            }
        },
        Datatype::ObjRef | Datatype::RegRef | Datatype::Reference => return Err(broken()),
    }
    Ok(())
}

/// Reads an integer, least significant byte first, and sign-extends it to its row.
fn integer(bits: u16, signed: bool, bytes: &mut &[u8], rows: &mut Vec<u8>) -> Result<()> {
    let stored = take(bytes, usize::from(bits).div_ceil(8))?;
    let start = rows.len();
    rows.extend_from_slice(stored);
    let negative = signed && stored.last().is_some_and(|last| last & 0x80 != 0);
    rows.resize(start.saturating_add(int_row(stored.len())), if negative { 0xff } else { 0 });
    if cfg!(target_endian = "big") {
        rows.get_mut(start..).unwrap_or_default().reverse();
    }
    Ok(())
}

/// Reads a number, least significant byte first.
fn number(size: usize, bytes: &mut &[u8], rows: &mut Vec<u8>) -> Result<()> {
    let start = rows.len();
    rows.extend_from_slice(take(bytes, size)?);
    if cfg!(target_endian = "big") {
        rows.get_mut(start..).unwrap_or_default().reverse();
    }
    Ok(())
}

fn count(bytes: &mut &[u8]) -> Result<u64> {
    let (count, rest) = bytes.split_first_chunk().ok_or_else(broken)?;
    *bytes = rest;
    Ok(u64::from_le_bytes(*count))
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or_else(broken)?;
    *bytes = rest;
    Ok(taken)
}

/// Reads a string in the form of [`Part::Text`] and appends it.
fn unescape(bytes: &mut &[u8], content: &mut Vec<u8>) -> Result<()> {
    loop {
        let zero = bytes.iter().position(|byte| *byte == 0).ok_or_else(broken)?;
        content.extend_from_slice(take(bytes, zero)?);
        match take(bytes, 2)? {
            [_, 0] => return Ok(()),
            _ => content.push(0),
        }
    }
}

/// Appends the row of the string that begins at `start` in `content`.
fn put_text(text: Text, start: usize, rows: &mut Vec<u8>, content: &mut Vec<u8>) -> Result<()> {
    match text {
        Text::Variable => {
            let count = u32::try_from(content.len().saturating_sub(start)).map_err(|_| broken())?;
            rows.extend(Slot::at(0, count, start as u64).to_bytes());
        }
        Text::Fixed { len, pad } => {
            let end = rows.len().saturating_add(usize::try_from(len).map_err(|_| broken())?);
            rows.extend_from_slice(content.get(start..).unwrap_or_default());
            content.truncate(start);
            if rows.len() > end {
                return Err(broken());
            }
            rows.resize(end, if pad == Pad::Space { b' ' } else { 0 });
        }
    }
    Ok(())
}

fn unfit() -> Error {
    Error::malformed("an element does not fit its type")
}
