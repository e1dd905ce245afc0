//! What stands where nothing is written, and what readers of version 2 take it for.

use super::super::{FILL, MASKED_FILL, UNDEFINED_FILL, attributes};
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

/// What definitions say of elements that nobody wrote.
pub(super) struct Filling {
    /// Whether Zarr is not to know the fill value.
    pub(super) is_hidden: bool,
    /// What an attribute says that missing elements are, where readers take that for the fill value.
    marker: Option<FillRow>,
}

impl Described<'_> {
    /// Finds out whether the fill value can be that of the array in Zarr; where it cannot, it is recorded.
    pub(super) fn filling(
        &self,
        lowering: &Lowering,
        is_short: bool,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Result<Filling> {
        let is_v2 = self.version == Version::V2;
        let marker = if is_v2 { self.marker(lowering) } else { None };
        let is_hidden = self.hides_fill(lowering, marker.as_ref());
        if is_hidden {
            self.record_fill(lowering, marker.is_some(), record, losses)?;
        } else if is_v2 && !is_short && self.is_masked(lowering, marker.as_ref()) {
            losses.note(&MASKED_FILL, self.place(), None);
        }
        Ok(Filling { is_hidden, marker })
    }

    /// The same with its fill value.
    pub(super) fn filled(
        &self,
        definition: ArrayDefinition,
        filling: Filling,
        lowering: &Lowering,
        losses: &mut dyn Losses,
    ) -> Result<ArrayDefinition> {
        let is_v2 = self.version == Version::V2;
        Ok(match &self.storage.fill {
            _ if filling.is_hidden && is_v2 => match filling.marker {
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

    /// What says to readers of version 3 that the fill value counts as missing, as it does where it is from.
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

    /// Whether no element need be the fill value, and Zarr had better not have it: in version 2 xarray takes it for a
    /// missing value, whatever an attribute says, which is right where it counted as one before; of a type that is an array it can be none.
    fn hides_fill(&self, lowering: &Lowering, marker: Option<&FillRow>) -> bool {
        let is_none = matches!(&self.storage.fill, Fill::Value(value) if fill_row(lowering, value).is_err());
        let is_masked = self.version == Version::V2 && self.is_masked(lowering, marker);
        self.facts.is_whole && (is_none || is_masked) || self.facts.can_fill && is_masked
    }

    /// Whether xarray would take the fill value for a missing one in version 2, though it is none.
    fn is_masked(&self, lowering: &Lowering, marker: Option<&FillRow>) -> bool {
        let own = match &self.storage.fill {
            Fill::Undefined => return false,
            _ if self.facts.fill_is_missing => return false,
            Fill::Value(value) => fill_row(lowering, value).ok(),
            Fill::Default => Some(None),
        };
        match marker {
            Some(marker) => own.as_ref() != Some(marker),
            None => !self.attributes.contains_key(FILL_VALUE),
        }
    }

    /// What an attribute says that missing elements are, as a fill value of the array.
    fn marker(&self, lowering: &Lowering) -> Option<FillRow> {
        let Some(Ok(attribute)) = self.attributes.get(FILL_VALUE) else { return None };
        let mut elements = Elements::new(&attribute.datatype, &attribute.value);
        let (Some(one), None) = (elements.next(), elements.next()) else { return None };
        let datatype = self.datatype.resolved();
        if datatype.same_content(attribute.datatype.resolved()) {
            return fill_row(lowering, &attribute.value).ok();
        }
        // JSON has fewer types than arrays.
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
            Fill::Default if has_marker && !self.datatype.has_slots() => {
                let rows = vec![0; self.datatype.row_size().unwrap_or(0)].into();
                zeros = Values { rows, heap: Heap::default() };
                &zeros
            }
            _ => return Ok(()),
        };
        record.insert("fill", record::element_json(self.datatype, value)?);
        losses.note(&FILL, self.place(), None);
        Ok(())
    }
}

/// The row of a number, if its type has it.
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
                _ => None,
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

/// A fill value as definitions want it; none if it is of zeros.
type FillRow = Option<Vec<u8>>;

/// The element where nothing is written, as definitions want it; none if it is of zeros.
pub(super) fn fill_row(lowering: &Lowering, value: &Values) -> Result<FillRow> {
    let (rows, heap) = lowering.lower(value)?;
    let row = match lowering.data_type {
        // Zeros are not nothing where there may be any number of them.
        DataType::String | DataType::Bytes => {
            return content(&rows, &heap).map(|content| (!content.is_empty()).then_some(content));
        }
        // A type that is an array has one fill value for all its elements.
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

/// What stands where nothing is written and nobody says what: zeros, but for texts that end in spaces.
fn empty_row(lowering: &Lowering, datatype: &Datatype) -> Result<FillRow> {
    // An empty text is what any of these is that was never written.
    if datatype.has_slots() {
        return Ok(None);
    }
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    push_zero(datatype, &mut rows, &mut heap)?;
    fill_row(lowering, &Values { rows: rows.into(), heap })
}

fn content<R>(rows: &[u8], heap: &Heap<R>) -> Result<Vec<u8>> {
    let slot = Slot::get(rows).ok_or_else(|| Error::invalid("no fill value"))?;
    heap.content(slot).map(<[u8]>::to_vec).ok_or_else(|| Error::invalid("a fill value that is not there"))
}
