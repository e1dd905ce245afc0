//! The file's representation of elements to rows in memory, and back.
//!
//! Rows are those of [`hyperslab_core::rows`]. A [`Converter`] is compiled once from a datatype; where the
//! stored form is the row, converting is a copy. Both directions of a class stand side by side.
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

use crate::format::infrastructure::GlobalHeapId;
use crate::format::message::datatype::Datatype;
use crate::format::{Address, Sizes};
use crate::navigate::Reader;
use crate::navigate::global_heap::GlobalHeap;
use crate::reference::Reference;
use hyperslab_core::rows::{ElementLayout, Heap};
use hyperslab_core::{Error, Result};
use plan::{Plan, Run, Store};
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

    /// Where the bytes of the row lie in the file's element. `None` if there is more to do than to move or to reverse
    /// them.
    pub fn layout(&self) -> Option<ElementLayout> {
        self.plan.layout()
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
        self.check(stored.len(), rows.len())?;
        let mut run = Run::new(reader, &self.sizes, &self.global_heap, heap);
        self.plan.run(&mut run, stored, rows)
    }

    /// Makes stored elements of as many rows as `rows` holds: the inverse of [`Converter::convert`].
    ///
    /// What slots point to is taken from `heap` and given to `objects`, in the order of the elements.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if `rows` is not of whole rows or
    /// `stored` not of as many elements, if a slot points to nothing, and for a value that the datatype cannot hold; what
    /// `objects` fails with.
    pub fn store(
        &self,
        rows: &[u8],
        heap: &Heap<Reference>,
        stored: &mut [u8],
        objects: &mut dyn GlobalHeapObjects,
    ) -> Result<()> {
        self.check(stored.len(), rows.len())?;
        self.plan.store(&mut Store { sizes: &self.sizes, heap, objects }, rows, stored)
    }

    /// Refuses elements and rows that are not whole or not equally many.
    fn check(&self, stored: usize, rows: usize) -> Result<()> {
        let Plan { stored: size, row, .. } = self.plan;
        let count = stored.checked_div(size).unwrap_or(0);
        match count.checked_mul(size) == Some(stored) && count.checked_mul(row) == Some(rows) {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "{stored} bytes of elements of {size} and {rows} bytes of rows of {row} do not go together"
            ))),
        }
    }
}

/// Where stored elements put what does not stand in themselves, and what references must know.
pub trait GlobalHeapObjects {
    /// Stores an object in the global heap.
    ///
    /// # Errors
    /// If it cannot be stored.
    fn put(&mut self, object: &[u8]) -> Result<GlobalHeapId>;

    /// The number of dimensions of the dataset at an address, which a reference to all of it or none states.
    ///
    /// # Errors
    /// If there is no dataset.
    fn rank(&mut self, dataset: Address) -> Result<u32>;
}

/// Bytes of an element of `datatype` in memory.
pub(crate) fn plan_row_size(datatype: &Datatype, sizes: &Sizes) -> Result<usize> {
    Ok(Plan::compile(datatype, sizes)?.row)
}

#[cfg(test)]
mod tests;
