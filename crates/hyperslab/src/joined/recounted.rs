//! An array of times whose counts become those of another unit and epoch.

use crate::source::{ArraySource, ArrayView};
use hyperslab_cf::meaning::{Missing, single};
use hyperslab_cf::time::Recount;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, Elements, Float, Reference};
use std::sync::Arc;

pub(super) struct Recounted {
    array: Arc<dyn ArraySource>,
    recount: Recount,
    /// Values that are not counts.
    missing: Missing,
}

impl Recounted {
    pub(super) fn new(array: Arc<dyn ArraySource>, recount: Recount, missing: Missing) -> Recounted {
        Recounted { array, recount, missing }
    }
}

impl ArrayView for Recounted {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.array
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.array.read_part(region, rows, heap, scratch)?;
        let datatype = self.array.datatype();
        rows.slices(region).try_for_each(|(_, out)| recounted(out, datatype, &self.recount, &self.missing))
    }
}

/// Replaces counts in rows.
fn recounted(rows: &mut [u8], datatype: &Datatype, recount: &Recount, missing: &Missing) -> Result<()> {
    let size = datatype.row_size().unwrap_or(1).max(1);
    let heap = Heap::default();
    for row in rows.chunks_exact_mut(size) {
        let Some(element) = Elements::of(datatype, row, &heap).next().map(|element| element.get()) else {
            continue;
        };
        if missing.is_missing(&element) {
            continue;
        }
        let (old, new) = match (&element, datatype.resolved()) {
            (Element::Int(count), Datatype::Int { signed, .. }) => {
                (count.to_string(), recount.integer(*count).and_then(|new| bytes_of(new, size, *signed)))
            }
            (Element::Float(count), Datatype::Float(Float::Single)) => {
                let new = recount.number(*count, |number| f64::from(single(number)));
                (count.to_string(), new.map(|new| single(new).to_ne_bytes().to_vec()))
            }
            (Element::Float(count), Datatype::Float(Float::Double)) => (
                count.to_string(),
                recount.number(*count, |number| number).map(|new| new.to_ne_bytes().to_vec()),
            ),
            _ => return Err(Error::unsupported(format!("counts of type {datatype} since another epoch"))),
        };
        match new {
            Some(new) if new.len() == row.len() => row.copy_from_slice(&new),
            _ => return Err(Error::invalid(format!("count {old} has no exact equal in the other units"))),
        }
    }
    Ok(())
}

/// An integer of this size in memory; `None` if it does not fit.
fn bytes_of(value: i128, size: usize, signed: bool) -> Option<Vec<u8>> {
    Some(match (size, signed) {
        (1, true) => i8::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (1, false) => u8::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (2, true) => i16::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (2, false) => u16::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (4, true) => i32::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (4, false) => u32::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (8, true) => i64::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (8, false) => u64::try_from(value).ok()?.to_ne_bytes().to_vec(),
        _ => return None,
    })
}
