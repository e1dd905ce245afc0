//! Converts elements of the model to cells of TileDB and back. A datatype that TileDB has is stored unchanged. Others
//! become a datatype with the same bytes, or strings, and a record keeps the original datatype.

use super::datatype::{data_type, stored};
use crate::format::zarr::keep::lowering::Lowering;
use crate::target::Facts;
use crate::target::conventions::is_boolean;
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Result};
use hyperslab_model::{CharacterSet, Datatype, ElementStorage, Text, Values};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_zarr::data_type as zarr;
use hyperslab_zarr::write::Version;
use std::borrow::Cow;
use std::sync::Arc;

/// How the elements of a datatype are stored.
#[derive(Clone, Debug)]
pub(super) struct StoredElements {
    pub(super) data_type: DataType,
    pub(super) cell_val_num: CellValNum,
    pub(super) nullable: bool,
    /// The names of the values of an enumeration whose values count from 0.
    pub(super) labels: Option<Vec<String>>,
    /// Whether the datatype can be derived from what is stored.
    pub(super) is_told: bool,
    /// The size of strings that are stored without trailing zeros: UTF-32 strings, which TileDB-Py would show as bytes.
    pub(super) text_size: Option<usize>,
    lowering: Option<Lowering>,
}

/// Elements as cells.
pub(super) struct StoredCells<'v> {
    pub(super) values: Cow<'v, [u8]>,
    /// The start of each cell, if cells differ in size.
    pub(super) offsets: Vec<u64>,
    /// A byte for each cell, if cells can be null.
    pub(super) validity: Vec<u8>,
}

impl StoredElements {
    /// Determines how elements of a datatype are stored, given the known facts about them. `named` is the datatype that
    /// a directive states.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for elements of 0 bytes;
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if `named` is a different datatype.
    pub(super) fn new(
        datatype: &Arc<Datatype>,
        element: &ElementStorage,
        named: Option<DataType>,
        facts: Facts,
    ) -> Result<StoredElements> {
        let resolved = datatype.resolved();
        let nullable = matches!(resolved, Datatype::Nullable(_));
        let inner = resolved.non_null();
        // TileDB has its own booleans, which replace those of h5py.
        let is_flag = named.is_none() && is_boolean(inner);
        let labels = if is_flag { None } else { labels(inner) };
        let base = match inner {
            Datatype::Enum { base, .. } => base,
            other => other,
        };
        if named.is_none()
            && element.charset == Some(CharacterSet::Utf32)
            && let Datatype::String(Text::Fixed { .. }) = inner
        {
            return Ok(StoredElements {
                data_type: DataType::StringUtf8,
                cell_val_num: CellValNum::Var,
                nullable,
                labels: None,
                is_told: true,
                text_size: inner.row_size(),
                lowering: None,
            });
        }
        let is_unicode = facts.is_unicode || !matches!(base.resolved(), Datatype::String(_));
        let native = match is_unicode && is_padded_with_zeros(base) && !is_flag {
            true => stored(base, element, named),
            false => Err(Error::unsupported("strings or booleans that are stored differently")),
        };
        let (data_type, cell_val_num, lowering) = match native {
            Ok((data_type, cell_val_num)) if cell_val_num != CellValNum::Fixed(0) => {
                let of = if named.is_none() { readable(data_type, cell_val_num) } else { data_type };
                (of, cell_val_num, None)
            }
            Err(error) if named.is_some() => return Err(error),
            _ => {
                let plain = ElementStorage::default();
                let of_inner = Lowering::new(&Arc::new(inner.clone()), &plain, Version::V3, facts)?;
                let lowering = match nullable && !of_inner.is_identity() {
                    true => Lowering::new(datatype, &plain, Version::V3, facts)?,
                    false => of_inner,
                };
                let (data_type, cell_val_num) = lowered(&lowering, element)?;
                (data_type, cell_val_num, Some(lowering))
            }
        };
        let nullable = nullable && lowering.as_ref().is_none_or(Lowering::is_identity);
        let mut shown = data_type_of(data_type, cell_val_num);
        if let (Some(_), Datatype::Enum { members, .. }) = (&labels, inner) {
            shown = Datatype::Enum { base: Box::new(shown), members: members.clone() };
        }
        if nullable {
            shown = Datatype::Nullable(Box::new(shown));
        }
        let has_tag = resolved.any(&|of| matches!(of, Datatype::Opaque { tag, .. } if !tag.is_empty()));
        let is_told = shown.same_content(resolved) && !has_tag && facts.can_pad;
        Ok(StoredElements { data_type, cell_val_num, nullable, labels, is_told, text_size: None, lowering })
    }

    /// Whether stored rows are those of the model and can be read in place.
    pub(super) fn is_in_place(&self) -> bool {
        self.text_size.is_none() && self.lowering.as_ref().is_none_or(Lowering::is_in_place)
    }

    /// Whether cells are the rows of the model, so that chunks contain the same bytes as in other formats.
    pub(super) fn is_identity(&self) -> bool {
        !self.nullable && self.text_size.is_none() && self.lowering.as_ref().is_none_or(Lowering::is_identity)
    }

    /// The size of a cell in bytes. `None` if cells differ in size.
    pub(super) fn cell_size(&self) -> Option<usize> {
        (!self.cell_val_num.is_var()).then(|| self.row_size())
    }

    /// Whether trailing spaces of strings are stored as zeros.
    pub(super) fn replaces_spaces(&self) -> bool {
        self.lowering.as_ref().is_some_and(|lowering| lowering.pads().1)
    }

    /// The same for strings whose spaces were replaced.
    #[must_use]
    pub(super) fn with_spaces_back(self, spaces_return: bool) -> StoredElements {
        let lowering = self.lowering.map(|lowering| lowering.with_spaces_back(spaces_return));
        StoredElements { lowering, ..self }
    }

    /// Converts stored rows to elements.
    ///
    /// # Errors
    /// If the rows are not the result of [`StoredElements::cells`].
    pub(super) fn lift(&self, values: Values) -> Result<Values> {
        match &self.lowering {
            Some(lowering) => lowering.lift(values),
            None => Ok(values),
        }
    }

    /// Converts elements to cells.
    ///
    /// # Errors
    /// If rows do not fit the datatype.
    pub(super) fn cells<'v>(&self, values: &'v Values) -> Result<StoredCells<'v>> {
        if let Some(size) = self.text_size {
            return Ok(self.texts(&values.rows, size));
        }
        let (rows, heap) = match &self.lowering {
            Some(lowering) => lowering.lower(values)?,
            None => (Cow::Borrowed(&*values.rows), Cow::Borrowed(&values.heap)),
        };
        let (rows, validity) = match self.nullable {
            true => apart(&rows, self.row_size()),
            false => (rows, Vec::new()),
        };
        if !self.cell_val_num.is_var() {
            return Ok(StoredCells { values: rows, offsets: Vec::new(), validity });
        }
        let size = self.data_type.size();
        let (mut bytes, mut offsets) = (Vec::new(), Vec::with_capacity(rows.len() / Slot::SIZE));
        for slot in Slot::each(&rows) {
            offsets.push(bytes.len() as u64);
            if slot.count == 0 {
                continue;
            }
            let len = usize::try_from(slot.count).ok().and_then(|count| count.checked_mul(size));
            let content = len.and_then(|len| heap.bytes(slot, len));
            let content = content.ok_or_else(|| Error::invalid("rows that are not of their type"))?;
            bytes.extend_from_slice(content);
        }
        Ok(StoredCells { values: Cow::Owned(bytes), offsets, validity })
    }

    /// Fixed-length strings without their trailing zeros.
    fn texts(&self, rows: &[u8], size: usize) -> StoredCells<'static> {
        let (rows, validity) = match self.nullable {
            true => apart(rows, size),
            false => (Cow::Borrowed(rows), Vec::new()),
        };
        let (mut bytes, mut offsets) = (Vec::with_capacity(rows.len()), Vec::new());
        for text in rows.chunks_exact(size.max(1)) {
            offsets.push(bytes.len() as u64);
            let zeros = text.iter().rev().take_while(|byte| **byte == 0).count();
            bytes.extend_from_slice(text.get(..text.len().saturating_sub(zeros)).unwrap_or_default());
        }
        StoredCells { values: Cow::Owned(bytes), offsets, validity }
    }

    /// The size of a stored row in bytes, without the byte that marks null values.
    fn row_size(&self) -> usize {
        match self.cell_val_num {
            CellValNum::Var => Slot::SIZE,
            CellValNum::Fixed(count) => {
                usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(self.data_type.size())
            }
        }
    }
}

/// The names of the values of an enumeration, if they count from 0.
fn labels(datatype: &Datatype) -> Option<Vec<String>> {
    let Datatype::Enum { base, members } = datatype.resolved() else { return None };
    let counts = members.iter().zip(0_i128..).all(|((_, value), number)| *value == number);
    let is_stored = matches!(base.resolved(), Datatype::Int { .. }) && stored_base(base);
    let names: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
    (counts && is_stored && !names.is_empty()).then_some(names)
}

fn stored_base(base: &Datatype) -> bool {
    stored(base, &ElementStorage::default(), None).is_ok()
}

/// The datatype that readers support for arrays with several bytes per cell: TileDB-Py reads `CHAR`, but neither `BLOB`
/// nor `STRING_UTF8`.
fn readable(data_type: DataType, values: CellValNum) -> DataType {
    match (data_type, values) {
        (DataType::Blob | DataType::StringUtf8, CellValNum::Fixed(_)) => DataType::Char,
        (other, _) => other,
    }
}

/// Whether all bytes of a string are significant except for trailing zeros.
fn is_padded_with_zeros(datatype: &Datatype) -> bool {
    use hyperslab_model::Pad;
    !datatype.any(&|of| matches!(of, Datatype::String(Text::Fixed { pad, .. }) if *pad != Pad::Nul))
}

fn data_type_of(of: DataType, values: CellValNum) -> Datatype {
    data_type(of, values).0
}

/// The TileDB datatype for stored rows of a Zarr data type.
fn lowered(lowering: &Lowering, element: &ElementStorage) -> Result<(DataType, CellValNum)> {
    use zarr::{DataType as Zarr, Float};
    let count = lowering.trailing.iter().try_fold(1_u64, |count, side| count.checked_mul(*side));
    let bytes = |len: u64| (DataType::Char, len);
    let (data_type, values) = match &lowering.data_type {
        Zarr::String => return Ok((DataType::StringUtf8, CellValNum::Var)),
        Zarr::Bytes => return Ok((DataType::Blob, CellValNum::Var)),
        Zarr::Bool => (DataType::Bool, 1),
        Zarr::Integer { signed, bits } => (
            match (signed, bits) {
                (true, 8) => DataType::Int8,
                (true, 16) => DataType::Int16,
                (true, 32) => DataType::Int32,
                (true, _) => DataType::Int64,
                (false, 8) => DataType::UInt8,
                (false, 16) => DataType::UInt16,
                (false, 32) => DataType::UInt32,
                (false, _) => DataType::UInt64,
            },
            1,
        ),
        Zarr::Float(Float::Float32) => (DataType::Float32, 1),
        Zarr::Float(Float::Float64) => (DataType::Float64, 1),
        Zarr::Complex(Float::Float32) => (DataType::Float32, 2),
        Zarr::Complex(Float::Float64) => (DataType::Float64, 2),
        Zarr::NullTerminatedBytes { length } => match element.charset {
            Some(CharacterSet::Ascii) => (DataType::StringAscii, *length),
            _ => (DataType::Char, *length),
        },
        other => bytes(other.row_size()),
    };
    let cells = count.and_then(|count| count.checked_mul(values)).and_then(|count| u32::try_from(count).ok());
    match cells.filter(|count| *count > 0 && *count < u32::MAX) {
        Some(count) => Ok((data_type, CellValNum::Fixed(count))),
        None => Err(Error::unsupported("elements of no bytes, or of 4 GiB and more")),
    }
}

/// Separates the values from the bytes that precede each of them and mark null values.
fn apart<'r>(rows: &[u8], size: usize) -> (Cow<'r, [u8]>, Vec<u8>) {
    let count = rows.len() / size.saturating_add(1);
    let (mut values, mut validity) =
        (Vec::with_capacity(count.saturating_mul(size)), Vec::with_capacity(count));
    for row in rows.chunks_exact(size.saturating_add(1)) {
        if let Some((valid, value)) = row.split_first() {
            validity.push(*valid);
            values.extend_from_slice(value);
        }
    }
    (Cow::Owned(values), validity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::{Elements, Float, Member, Pad};

    fn cells_of(datatype: Datatype, values: &Values) -> (StoredElements, Values) {
        let datatype = Arc::new(datatype);
        let stored =
            StoredElements::new(&datatype, &ElementStorage::default(), None, Facts::default()).unwrap();
        let spaces_return = stored.replaces_spaces();
        let stored = stored.with_spaces_back(spaces_return);
        let StoredCells { values: bytes, offsets, validity } = stored.cells(values).unwrap();
        // In the form in which a reader makes rows from cells.
        let mut heap = hyperslab_core::rows::Heap::default();
        let rows = match stored.cell_val_num {
            CellValNum::Fixed(_) => bytes.to_vec(),
            CellValNum::Var => {
                let ends = offsets.iter().skip(1).copied().chain([bytes.len() as u64]);
                let cells = offsets.iter().zip(ends).flat_map(|(start, end)| {
                    let range = usize::try_from(*start).unwrap()..usize::try_from(end).unwrap();
                    let count = u32::try_from(range.len() / stored.data_type.size()).unwrap();
                    heap.push_items(bytes[range].to_vec().into(), count).unwrap().to_bytes()
                });
                cells.collect()
            }
        };
        assert!(validity.is_empty());
        let lifted = stored.lift(Values { rows: rows.into(), heap }).unwrap();
        let same = Elements::new(&datatype, values).zip(Elements::new(&datatype, &lifted));
        assert!(same.clone().all(|(one, other)| one.same(other)), "{datatype}");
        (stored, lifted)
    }

    #[test]
    fn types_that_tiledb_lacks_become_bytes_of_the_same_size() {
        let compound = Datatype::Compound(vec![
            Member { name: "a".into(), datatype: Datatype::int(16, true) },
            Member { name: "b".into(), datatype: Datatype::Float(Float::Double) },
        ]);
        let (stored, _) = cells_of(compound, &Values { rows: (0..20).collect(), ..Values::default() });
        assert_eq!((stored.data_type, stored.cell_val_num), (DataType::Char, CellValNum::Fixed(10)));
        assert!(!stored.is_told && stored.is_in_place());
        let complex = Datatype::Complex(Float::Single);
        let (stored, _) = cells_of(complex, &Values { rows: vec![0; 16].into(), ..Values::default() });
        assert_eq!((stored.data_type, stored.cell_val_num), (DataType::Float32, CellValNum::Fixed(2)));
        let text = Datatype::String(Text::Fixed { len: 4, pad: Pad::Space });
        let (stored, _) = cells_of(text, &Values { rows: b"ab  ".to_vec().into(), ..Values::default() });
        assert_eq!((stored.data_type, stored.cell_val_num), (DataType::Char, CellValNum::Fixed(4)));
        assert!(stored.replaces_spaces());
    }

    #[test]
    fn enumerations_that_count_from_0_are_enumerations() {
        let of = |values: &[(&str, i128)]| Datatype::Enum {
            base: Box::new(Datatype::int(8, false)),
            members: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        };
        let values = Values { rows: vec![0, 1, 1].into(), ..Values::default() };
        let (stored, _) = cells_of(of(&[("red", 0), ("green", 1)]), &values);
        assert_eq!(stored.labels, Some(vec!["red".to_owned(), "green".to_owned()]));
        assert!(stored.is_told);
        let (stored, _) = cells_of(of(&[("red", 1), ("green", 0)]), &values);
        assert_eq!((stored.labels, stored.is_told, stored.data_type), (None, false, DataType::UInt8));
    }
}
