//! Converts stored elements to rows in memory, and back.
//!
//! For rows, see [`hyperslab_core::rows`]. A [`Converter`] is compiled once from a datatype. If the stored form
//! equals the row, converting is a copy. Both directions of a datatype class are in one file.
//!
//! Spec: HDF5 IV.B Disk Format: Level 2b - Data Object Data Storage

mod compile;
pub(crate) mod conversion;
mod float_kind;
mod heap_elements;
mod number;
mod program;
mod reference;
mod variable_length;

pub use float_kind::FloatKind;
pub use heap_elements::{HeapElements, IdVisitor};

use crate::format::infrastructure::GlobalHeapId;
use crate::format::message::datatype::Datatype;
use crate::format::{Address, Sizes};
use crate::navigate::Reader;
use crate::navigate::global_heap::GlobalHeap;
use crate::reference::Reference;
use hyperslab_core::rows::{ElementLayout, Heap};
use hyperslab_core::{Error, Result};
use program::{Program, Run, Store};
use std::sync::Arc;

/// Converts elements of one datatype.
pub struct Converter {
    program: Program,
    sizes: Sizes,
    global_heap: Arc<GlobalHeap>,
}

impl std::fmt::Debug for Converter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Converter of {} bytes to rows of {}", self.stored_size(), self.row_size())
    }
}

impl Converter {
    /// A converter for elements of `datatype` in a file with these sizes.
    ///
    /// # Errors
    /// For integers of more than 16 bytes, and for inconsistent datatypes.
    pub fn new(datatype: &Datatype, sizes: &Sizes) -> Result<Self> {
        Self::with_global_heap(datatype, sizes, Arc::default())
    }

    /// A converter that shares the cache of a global heap with others.
    ///
    /// # Errors
    /// As [`Converter::new`].
    pub fn with_global_heap(
        datatype: &Datatype,
        sizes: &Sizes,
        global_heap: Arc<GlobalHeap>,
    ) -> Result<Self> {
        Ok(Converter { program: Program::compile(datatype, sizes)?, sizes: *sizes, global_heap })
    }

    /// The widths of addresses and lengths of the file.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The size of a stored element in bytes.
    pub fn stored_size(&self) -> usize {
        self.program.stored
    }

    /// The size of a row in bytes.
    pub fn row_size(&self) -> usize {
        self.program.row
    }

    /// The places of the bytes of a row in the stored element. `None` if converting does more than move or reverse bytes.
    pub fn layout(&self) -> Option<ElementLayout> {
        self.program.layout()
    }

    /// Whether stored elements equal rows, so that no conversion is needed.
    pub fn is_identity(&self) -> bool {
        self.program.is_identity()
    }

    /// The stored elements, to replace the IDs of heap objects in them. `None` if they never contain any.
    pub fn heap_elements(&self) -> Option<HeapElements<'_>> {
        HeapElements::new(&self.program, &self.sizes)
    }

    /// Decodes all elements in `stored` to `rows`.
    ///
    /// Adds the targets of slots to `heap`. Their memory counts against the budget of the reader for as long as the
    /// heap exists, since a few bytes of a file can refer to much data.
    ///
    /// # Errors
    /// If `stored` does not hold whole elements or `rows` has a different number of rows; if a heap object does not
    /// exist or is too short.
    pub fn convert(
        &self,
        reader: &Reader,
        stored: &[u8],
        rows: &mut [u8],
        heap: &mut Heap<Reference>,
    ) -> Result<()> {
        self.check(stored.len(), rows.len())?;
        let mut run = Run::new(reader, &self.sizes, &self.global_heap, heap);
        self.program.run(&mut run, stored, rows)
    }

    /// Encodes all rows in `rows` to `stored`: the inverse of [`Converter::convert`].
    ///
    /// Takes the targets of slots from `heap` and passes them to `objects`, in the order of the elements.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if `rows` does not hold whole rows or
    /// `stored` has a different number of elements, if a slot points outside of the heap, and for a value out of range
    /// of the datatype; any error of `objects`.
    pub fn store(
        &self,
        rows: &[u8],
        heap: &Heap<Reference>,
        stored: &mut [u8],
        objects: &mut dyn GlobalHeapObjects,
    ) -> Result<()> {
        self.check(stored.len(), rows.len())?;
        self.program.store(&mut Store { sizes: &self.sizes, heap, objects }, rows, stored)
    }

    /// Checks that both sides hold whole items of the same count.
    fn check(&self, stored: usize, rows: usize) -> Result<()> {
        let Program { stored: size, row, .. } = self.program;
        let count = stored.checked_div(size).unwrap_or(0);
        match count.checked_mul(size) == Some(stored) && count.checked_mul(row) == Some(rows) {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "{stored} bytes of elements of {size} bytes and {rows} bytes of rows of {row} bytes, expected whole items of the same count"
            ))),
        }
    }
}

/// The target for heap objects when elements are encoded, and the source of dataset ranks for references.
pub trait GlobalHeapObjects {
    /// Stores an object in the global heap and returns its ID.
    ///
    /// # Errors
    /// If it cannot be stored.
    fn put(&mut self, object: &[u8]) -> Result<GlobalHeapId>;

    /// The number of dimensions of the dataset at an address. A reference to all or none of its elements stores it.
    ///
    /// # Errors
    /// If there is no dataset at the address.
    fn rank(&mut self, dataset: Address) -> Result<u32>;
}

/// The size of a row of `datatype` in bytes.
pub(crate) fn plan_row_size(datatype: &Datatype, sizes: &Sizes) -> Result<usize> {
    Ok(Program::compile(datatype, sizes)?.row)
}

#[cfg(test)]
mod tests;
