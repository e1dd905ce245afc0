//! The file's representation of elements to rows in memory.
//!
//! Rows are those of [`hyperslab_core::rows`]. A [`Converter`] is compiled once from a datatype; where the
//! stored form is the row, converting is a copy.
//!
//! Spec: HDF5 IV.B Disk Format: Level 2b - Data Object Data Storage

mod compile;
pub(crate) mod conversion;
mod float_kind;
mod number;
mod plan;
mod reference;
mod variable_length;

pub use float_kind::FloatKind;

use crate::format::Sizes;
use crate::format::message::datatype::Datatype;
use crate::navigate::Reader;
use crate::navigate::global_heap::GlobalHeap;
use crate::reference::Reference;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use plan::{Plan, Run};
use std::sync::Arc;

/// Converts elements of one datatype.
pub struct Converter {
    plan: Plan,
    sizes: Sizes,
    global_heap: Arc<GlobalHeap>,
}

impl std::fmt::Debug for Converter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Converter of {} bytes to rows of {}", self.stored_size(), self.row_size())
    }
}

impl Converter {
    /// A converter for elements of `datatype` in a file of these sizes.
    ///
    /// # Errors
    /// For integers of more than 16 bytes, and for types whose parts do not fit together.
    pub fn new(datatype: &Datatype, sizes: &Sizes) -> Result<Self> {
        Self::with_global_heap(datatype, sizes, Arc::default())
    }

    /// The same over a global heap that others use too, so that what it keeps is shared.
    ///
    /// # Errors
    /// As [`Converter::new`].
    pub fn with_global_heap(
        datatype: &Datatype,
        sizes: &Sizes,
        global_heap: Arc<GlobalHeap>,
    ) -> Result<Self> {
        Ok(Converter { plan: Plan::compile(datatype, sizes)?, sizes: *sizes, global_heap })
    }

    /// Bytes of an element in the file.
    pub fn stored_size(&self) -> usize {
        self.plan.stored
    }

    /// Bytes of an element in memory.
    pub fn row_size(&self) -> usize {
        self.plan.row
    }

    /// Whether the stored form is the row, so that nothing needs to be converted.
    pub fn is_identity(&self) -> bool {
        self.plan.is_identity()
    }

    /// Converts as many elements as `stored` holds.
    ///
    /// What slots point to is added to `heap`. What is made for it counts against the reader's budget as long as
    /// the heap is kept: a few bytes of a file can ask for much.
    ///
    /// # Errors
    /// If `stored` is not of whole elements or `rows` not of as many rows; if an element points to a heap
    /// object that does not exist or is too short.
    pub fn convert(
        &self,
        reader: &Reader,
        stored: &[u8],
        rows: &mut [u8],
        heap: &mut Heap<Reference>,
    ) -> Result<()> {
        let count = stored.len().checked_div(self.plan.stored).unwrap_or(0);
        let fits = count.checked_mul(self.plan.stored) == Some(stored.len())
            && count.checked_mul(self.plan.row) == Some(rows.len());
        if !fits {
            return Err(Error::invalid(format!(
                "{} bytes of elements of {} and {} bytes of rows of {} do not go together",
                stored.len(),
                self.plan.stored,
                rows.len(),
                self.plan.row
            )));
        }
        let mut run = Run::new(reader, &self.sizes, &self.global_heap, heap);
        self.plan.run(&mut run, stored, rows)
    }
}

/// Bytes of an element of `datatype` in memory.
pub(crate) fn plan_row_size(datatype: &Datatype, sizes: &Sizes) -> Result<usize> {
    Ok(Plan::compile(datatype, sizes)?.row)
}

#[cfg(test)]
mod tests;
