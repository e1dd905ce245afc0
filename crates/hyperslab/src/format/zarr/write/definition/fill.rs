//! The fill value of an array and its meaning to readers: in version 2, some treat it as missing.

use super::super::attributes;
use super::super::lowerings::{FILL, MASKED_FILL, UNDEFINED_FILL};
use super::Described;
use crate::format::zarr::keep::lowering::Lowering;
use crate::format::zarr::keep::record;
use crate::target::Losses;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::push_zero;
use hyperslab_model::{Datatype, Element, Elements, Fill, Float, Values};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_zarr::data_type::DataType;
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::write::{ArrayDefinition, Version};

/// The fill value of a definition.
pub(super) struct Filling {
    /// Whether the fill value is only in the record, not in the Zarr metadata.
    pub(super) is_hidden: bool,
    /// Whether readers show it even if it is not stated, because it is zero.
    pub(super) is_implied: bool,
    /// The value of `_FillValue`, if readers give the fill value of Zarr this meaning.
    marker: Option<FillRow>,
}

impl Described<'_> {
    /// Decides whether the Zarr metadata can contain the fill value. If not, it is recorded.
    pub(super) fn filling(
        &self,
        lowering: &Lowering,
        is_short: bool,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Result<Filling> {
        let is_v2 = self.version == Version::V2;
        let marker = if is_v2 { self.marker(lowering) } else { None };
        let can_hide = self.facts.is_whole || self.facts.can_fill;
        let is_implied = is_v2 && !can_hide && marker.is_none() && self.is_zero(lowering);
        let is_hidden = self.hides_fill(lowering, marker.as_ref(), can_hide || is_implied);
        if is_hidden {
            self.record_fill(lowering, marker.is_some(), record, losses)?;
        } else if is_v2 && !is_short && self.is_masked(lowering, marker.as_ref()) {
            losses.note(&MASKED_FILL, self.place(), None);
        }
        Ok(Filling { is_hidden, is_implied: is_hidden && is_implied, marker })
    }

    /// Adds the fill value to the definition.
    pub(super) fn filled(
        &self,
        definition: ArrayDefinition,
        filling: Filling,
        lowering: &Lowering,
        losses: &mut dyn Losses,
    ) -> Result<ArrayDefinition> {
        let is_v2 = self.version == Version::V2;
        Ok(match &self.storage.fill {
            _ if filling.is_hidden && is_v2 => match self.shown_fill(filling, lowering)? {
                Some(Some(row)) if definition.clone().fill(row.clone()).documents(self.version).is_ok() => {
                    definition.fill(row).store_fill()
                }
                Some(None) => definition.store_fill(),
                _ => definition.undefined_fill(),
            },
            _ if filling.is_hidden => definition,
            Fill::Default => definition,
            Fill::Undefined => match empty_row(lowering, self.datatype)?.filter(|_| !self.facts.is_whole) {
                None if is_v2 => definition.undefined_fill(),
                row => {
                    losses.note(&UNDEFINED_FILL, self.place(), None);
                    row.into_iter().fold(definition, ArrayDefinition::fill)
                }
            },
            Fill::Value(value) => match fill_row(lowering, value)? {
                Some(row) => definition.fill(row),
                None => definition,
            },
        })
    }

    /// The fill value that replaces a hidden one in the metadata, if missing elements are to be marked: that of
    /// `_FillValue`, or the hidden one itself. There, every NaN is replaced by the usual one.
    fn shown_fill(&self, filling: Filling, lowering: &Lowering) -> Result<Option<FillRow>> {
        let shown = match (filling.marker, &self.storage.fill) {
            (None, Fill::Value(value)) if self.facts.fill_is_missing => fill_row(lowering, value).ok(),
            (marker, _) => marker,
        };
        let usual = |row: Vec<u8>| lowering.data_type.with_usual_nan(&row).unwrap_or(row);
        Ok(shown.map(|row| row.map(usual)))
    }

    /// The JSON of `_FillValue` for readers of version 3, if readers of the source treat the fill value as missing.
    pub(super) fn missing(&self, of: &DataType, lowering: &Lowering) -> Result<Option<Json>> {
        let size = self.datatype.row_size().unwrap_or(0);
        let value = match &self.storage.fill {
            _ if !lowering.is_identity() || self.attributes.contains_key(FILL_VALUE) => return Ok(None),
            Fill::Value(value) => value.clone(),
            Fill::Default => Values { rows: vec![0; size].into(), ..Values::default() },
            Fill::Undefined => return Ok(None),
        };
        attributes::missing(of, self.datatype, value)
    }

    /// Whether the fill value is better left out of the metadata, and no element needs it. In version 2, xarray treats
    /// the fill value as missing and ignores `_FillValue`, which is correct only if the source does so as well. Version
    /// 2 cannot represent NaN with unusual bits. For an array datatype, Zarr may not be able to represent the fill
    /// value.
    fn hides_fill(&self, lowering: &Lowering, marker: Option<&FillRow>, can_hide: bool) -> bool {
        let row = match &self.storage.fill {
            Fill::Value(value) => fill_row(lowering, value),
            Fill::Default | Fill::Undefined => Ok(None),
        };
        let cannot_store = row.is_err();
        let is_unusual =
            row.ok().flatten().is_some_and(|row| lowering.data_type.with_usual_nan(&row).is_some());
        let is_v2 = self.version == Version::V2;
        let is_better_hidden = is_v2 && (is_unusual || self.is_masked(lowering, marker));
        self.facts.is_whole && cannot_store || can_hide && is_better_hidden
    }

    /// Whether the fill value is zero: zarr-python, tensorstore and others show missing chunks as zeros if a version 2
    /// array has no fill value.
    fn is_zero(&self, lowering: &Lowering) -> bool {
        match &self.storage.fill {
            Fill::Value(value) => matches!(fill_row(lowering, value), Ok(None)),
            Fill::Default => true,
            Fill::Undefined => false,
        }
    }

    /// Whether xarray would treat the fill value as missing in version 2, but the source does not.
    fn is_masked(&self, lowering: &Lowering, marker: Option<&FillRow>) -> bool {
        let own = match &self.storage.fill {
            Fill::Undefined => return false,
            _ if self.facts.fill_is_missing => return false,
            Fill::Value(value) => fill_row(lowering, value).ok(),
            Fill::Default => Some(None),
        };
        // An attribute that is not an element of the array does not mark any element as missing.
        marker.is_none_or(|marker| own.as_ref() != Some(marker))
    }

    /// The value of the attribute `_FillValue` as a fill value of the array.
    fn marker(&self, lowering: &Lowering) -> Option<FillRow> {
        let Some(Ok(attribute)) = self.attributes.get(FILL_VALUE) else { return None };
        let mut elements = Elements::new(&attribute.datatype, &attribute.value);
        let (Some(one), None) = (elements.next(), elements.next()) else { return None };
        let datatype = self.datatype.resolved();
        if datatype.same_content(attribute.datatype.resolved()) {
            return fill_row(lowering, &attribute.value).ok();
        }
        // An attribute read from JSON may have a different number type from the array.
        let rows = number_row(datatype, &one.get())?;
        fill_row(lowering, &Values { rows: rows.into(), heap: Heap::default() }).ok()
    }

    fn record_fill(
        &self,
        lowering: &Lowering,
        has_marker: bool,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Result<()> {
        let zeros;
        let value = match &self.storage.fill {
            Fill::Value(value) if has_marker || !matches!(fill_row(lowering, value), Ok(None)) => value,
            Fill::Default if has_marker => {
                let (mut rows, mut heap) = (Vec::new(), Heap::default());
                push_zero(self.datatype, &mut rows, &mut heap)?;
                zeros = Values { rows: rows.into(), heap };
                &zeros
            }
            _ => return Ok(()),
        };
        record.insert("fill", record::element_json(self.datatype, value)?);
        losses.note(&FILL, self.place(), None);
        Ok(())
    }
}

/// The bytes of a number in a datatype; `None` if the datatype cannot represent it.
fn number_row(datatype: &Datatype, element: &Element<'_>) -> Option<Vec<u8>> {
    let value = match element {
        Element::Int(value) => *value,
        Element::Float(value) => {
            return match datatype {
                Datatype::Float(Float::Double) => Some(value.to_ne_bytes().to_vec()),
                Datatype::Float(Float::Single) => {
                    let single = value.to_string().parse::<f32>().ok()?;
                    (f64::from(single) == *value || value.is_nan()).then(|| single.to_ne_bytes().to_vec())
                }
                // Numbers are written without an exponent, and whole numbers without a decimal point.
                _ => number_row(datatype, &Element::Int(value.to_string().parse().ok()?)),
            };
        }
        _ => return None,
    };
    Some(match datatype {
        Datatype::Int { bits: 8, signed: true } => i8::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Datatype::Int { bits: 8, signed: false } => u8::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Datatype::Int { bits: 16, signed: true } => i16::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Datatype::Int { bits: 16, signed: false } => u16::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Datatype::Int { bits: 32, signed: true } => i32::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Datatype::Int { bits: 32, signed: false } => u32::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Datatype::Int { bits: 64, signed: true } => i64::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Datatype::Int { bits: 64, signed: false } => u64::try_from(value).ok()?.to_ne_bytes().to_vec(),
        _ => return None,
    })
}

/// The bytes of a fill value in a definition; `None` for zeros.
type FillRow = Option<Vec<u8>>;

/// The stored form of a fill value; `None` for zeros or an empty string.
///
/// # Errors
/// If Zarr cannot store it.
pub(super) fn fill_row(lowering: &Lowering, value: &Values) -> Result<FillRow> {
    let (rows, heap) = lowering.lower(value)?;
    let row = match lowering.data_type {
        // In a variable-length type, only empty content is the default, not content that consists of zero bytes.
        DataType::String | DataType::Bytes => {
            return content(&rows, &heap).map(|content| (!content.is_empty()).then_some(content));
        }
        // The elements of an array datatype share one fill value.
        _ if !lowering.trailing.is_empty() => {
            let size = lowering.row_size();
            let first = rows.get(..size).unwrap_or_default();
            match rows.chunks_exact(size.max(1)).all(|row| row == first) {
                true => first.to_vec(),
                false => return Err(Error::unsupported("a fill value of elements that differ")),
            }
        }
        _ => rows.to_vec(),
    };
    Ok(row.iter().any(|byte| *byte != 0).then_some(row))
}

/// The fill value if none is defined: zeros, or spaces for space-padded strings.
fn empty_row(lowering: &Lowering, datatype: &Datatype) -> Result<FillRow> {
    // Variable-length elements that were never written are empty in Zarr as well.
    if datatype.has_slots() {
        return Ok(None);
    }
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    push_zero(datatype, &mut rows, &mut heap)?;
    fill_row(lowering, &Values { rows: rows.into(), heap })
}

fn content<R>(rows: &[u8], heap: &Heap<R>) -> Result<Vec<u8>> {
    let slot = Slot::get(rows).ok_or_else(|| Error::invalid("no fill value"))?;
    heap.content(slot)
        .map(<[u8]>::to_vec)
        .ok_or_else(|| Error::invalid("a fill value without content in the heap"))
}
