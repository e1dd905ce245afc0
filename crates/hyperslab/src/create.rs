//! What a store made from a document would hold, and what stands against making it.

use crate::check::CheckOptions;
use crate::convert::layout::Layout;
pub use crate::format::Document;
use crate::format::{OpenOptions, read_document};
use crate::list::Counts;
use crate::source::{ArraySource, Entry, Handle, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::nd::element_count;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, Result};
use hyperslab_model::{NodePath, Shape};

/// What creating would make.
#[derive(Debug, Default)]
pub struct Plan {
    /// Objects by kind; the root is none of them.
    pub counts: Counts,
    /// Attributes of all objects.
    pub attributes: u64,
    /// Bytes of the elements of all arrays, uncompressed.
    pub bytes: u64,
    /// Bytes of those elements that the document has values for; the others are fill.
    pub written: u64,
    /// What of it cannot be read, object by object.
    pub errors: Vec<Error>,
}

/// Reads an NDL document.
///
/// # Errors
/// If it cannot be read at all.
pub fn document(text: &dyn ReadAt, open: &OpenOptions, options: &CheckOptions) -> Result<Document> {
    read_document(text, &open.limits, options)
}

/// Plans a store with everything that `source` describes, laid out so.
///
/// ```
/// use hyperslab::convert::layout::Layout;
/// use hyperslab::{OpenOptions, create, open};
///
/// let document = open("../../examples/buoys.yaml".as_ref(), &OpenOptions::default())?;
/// let plan = create::plan(&*document, &Layout::default())?;
/// assert!(plan.errors.is_empty());
/// assert!(plan.written > 0);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If the document has no readable root.
pub fn plan(source: &dyn Source, layout: &Layout) -> Result<Plan> {
    let root = source.find(&NodePath::root())?;
    let mut plan = Plan::default();
    walk(source, &root.handle, &mut |step| {
        match step {
            Step::Enter(group, _) => {
                if !group.path.is_root() {
                    plan.counts.add(&Item::Group);
                }
                plan.object(source, layout, group);
            }
            Step::Member(entry) => {
                plan.counts.add(&entry.item);
                plan.member(source, layout, entry);
            }
            Step::Leave(_) => {}
        }
        Ok(())
    })?;
    plan.errors.extend(layout.unused().into_iter().map(Error::invalid));
    Ok(plan)
}

impl Plan {
    fn member(&mut self, source: &dyn Source, layout: &Layout, entry: &Entry) {
        if let Item::Array { datatype: Some(_), shape: Shape::Dims(_), .. } = &entry.item {
            match source.array(&entry.handle) {
                Ok(array) => self.array(&*array),
                Err(error) => self.errors.push(error.in_object(&entry.handle.path)),
            }
        }
        self.object(source, layout, &entry.handle);
    }

    fn array(&mut self, array: &dyn ArraySource) {
        let row = array.datatype().row_size().unwrap_or(usize::MAX) as u64;
        let count = element_count(array.extents().unwrap_or(&[0])).unwrap_or(u64::MAX);
        let bytes = count.saturating_mul(row);
        self.bytes = self.bytes.saturating_add(bytes);
        if !array.is_unwritten().unwrap_or(true) {
            self.written = self.written.saturating_add(bytes);
        }
    }

    fn object(&mut self, source: &dyn Source, layout: &Layout, handle: &Handle) {
        match source.load(handle) {
            Ok(mut node) => {
                self.attributes += node.attributes().map_or(0, |attributes| attributes.len() as u64);
                self.errors.extend(layout.apply(&handle.path, &mut node).err());
            }
            Err(error) => self.errors.push(error.in_object(&handle.path)),
        }
    }
}
