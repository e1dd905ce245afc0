//! Texts and sequences of the global heap.

use super::plan::{Plan, Run};
use crate::format::Structure;
use crate::format::infrastructure::{GlobalHeapCollection, GlobalHeapId};
use hyperslab_core::rows::Slot;
use hyperslab_core::{Decoder, Error, Result};

/// What a heap object consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// Characters of this many bytes.
    Characters(u32),
    /// Elements.
    Elements(Box<Plan>),
}

/// The slot of an element: a length and a heap ID.
pub(super) fn read(run: &mut Run<'_>, items: &Variable, stored: &[u8]) -> Result<Slot> {
    let mut d = Decoder::new("variable-length element", 0, stored);
    let count = d.u32()?;
    let id = GlobalHeapId::decode(&mut d, run.sizes)?;
    // Address 0 is that of no heap object.
    if count == 0 || id.collection.0 == 0 {
        return Ok(Slot::default());
    }
    let object = run.collection(id.collection)?.find(id.index)?;
    let size = match items {
        Variable::Characters(size) => u64::from(*size),
        Variable::Elements(plan) => plan.stored as u64,
    };
    let len = match usize::try_from(u64::from(count).saturating_mul(size)) {
        Ok(len) if len <= object.len() => len,
        _ => {
            let detail =
                format!("object {} has {} bytes, expected {count} items of {size}", id.index, object.len());
            let collection = run.reader.offset(GlobalHeapCollection::NAME, id.collection)?;
            return Err(Error::malformed(detail).at(GlobalHeapCollection::NAME, collection));
        }
    };
    let offset = object.start as u64;
    match items {
        Variable::Elements(plan) if !plan.is_identity() => {
            let row = u64::from(count).saturating_mul(plan.row as u64);
            let stored = run.collection(id.collection)?.bytes().slice(object.start..object.start + len);
            run.charge(row)?;
            let mut rows =
                vec![0; usize::try_from(row).map_err(|_| Error::malformed("a row of over 2^64 bytes"))?];
            plan.run(run, &stored, &mut rows)?;
            Ok(Slot { buffer: run.heap.push(rows.into())?, count, offset: 0 })
        }
        Variable::Elements(_) => Ok(Slot { buffer: run.collection_buffer()?, count, offset }),
        Variable::Characters(_) => {
            let count = u32::try_from(len).map_err(|_| Error::unsupported("a text of over 2^32 bytes"))?;
            Ok(Slot { buffer: run.collection_buffer()?, count, offset })
        }
    }
}
