//! Previews a store made from a document, with everything that prevents creating it.

use crate::convert::layout::Layout;
use crate::format::OpenOptions;
pub use crate::formats::Document;
use crate::formats::read_document;
use crate::list::Counts;
use crate::operation::Operation;
use crate::report::CheckOptions;
use crate::source::{ArraySource, Entry, Handle, Item, Source, SourceView, Stored};
use crate::walk::{Step, walk};
use hyperslab_core::nd::element_count;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Node, NodePath, Shape};
use std::sync::Arc;

/// The content of the store that would be created.
#[derive(Debug, Default)]
pub struct Preview {
    /// The number of objects by kind, without the root.
    pub counts: Counts,
    /// The number of attributes of all objects.
    pub attributes: u64,
    /// The size of the elements of all arrays in bytes, uncompressed.
    pub bytes: u64,
    /// The size in bytes of the elements that have values in the document; the others are fill values.
    pub written: u64,
    /// The errors, object by object.
    pub errors: Vec<Error>,
}

/// Reads an NDL document.
///
/// # Errors
/// If it cannot be read at all.
pub fn document(text: &dyn ReadAt, open: &OpenOptions, options: &CheckOptions) -> Result<Document> {
    let mut document = read_document(text, &open.limits, options)?;
    let source = document.source.take();
    document.source =
        source.map(|source| Arc::new(Operation::new(source, open.pool.clone())) as Arc<dyn Source>);
    Ok(document)
}

/// Counts the content of the store that would be made from `source` in this layout.
///
/// ```
/// use hyperslab::convert::layout::Layout;
/// use hyperslab::{OpenOptions, create, open};
///
/// let document = open("../../examples/buoys.yaml".as_ref(), &OpenOptions::default())?;
/// let preview = create::preview(&*document, &Layout::default())?;
/// assert!(preview.errors.is_empty());
/// assert!(preview.written > 0);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If the document has no readable root; if the layout does not fit.
pub fn preview(source: &dyn Source, layout: &Layout) -> Result<Preview> {
    let root = source.find(&NodePath::root())?;
    let mut preview = Preview::default();
    walk(source, &root.handle, &mut |step| {
        match step {
            Step::Enter(group, _) => {
                if !group.path.is_root() {
                    preview.counts.add(&Item::Group);
                }
                preview.object(source, layout, group)?;
            }
            Step::Member(entry) => {
                preview.counts.add(&entry.item);
                preview.member(source, layout, entry)?;
            }
            Step::Leave(_) => {}
        }
        Ok(())
    })?;
    match layout.unused().into_iter().next() {
        Some(unused) => Err(unused),
        None => Ok(preview),
    }
}

impl Preview {
    fn member(&mut self, source: &dyn Source, layout: &Layout, entry: &Entry) -> Result<()> {
        if let Item::Array { datatype: Some(_), shape: Shape::Dims(_), .. } = &entry.item {
            match source.array(&entry.handle) {
                Ok(array) => self.array(&*array),
                Err(error) => self.errors.push(error.in_object(&entry.handle.path)),
            }
        }
        self.object(source, layout, &entry.handle)
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

    fn object(&mut self, source: &dyn Source, layout: &Layout, handle: &Handle) -> Result<()> {
        match source.load(handle) {
            Ok(mut node) => {
                self.attributes += node.attributes().map_or(0, |attributes| attributes.len() as u64);
                layout.apply(&handle.path, &mut node)?;
            }
            Err(error) => self.errors.push(error.in_object(&handle.path)),
        }
        Ok(())
    }
}

/// A source with another layout of its arrays.
pub struct LaidOut {
    source: Arc<dyn Source>,
    layout: Layout,
}

impl LaidOut {
    /// Applies `layout` to the arrays of `source`.
    pub fn new(source: Arc<dyn Source>, layout: Layout) -> Self {
        LaidOut { source, layout }
    }
}

impl SourceView for LaidOut {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry(&self, mut entry: Entry) -> Result<Entry> {
        if let Item::Array { stored, datatype: Some(_), .. } = &mut entry.item {
            let mut node = self.load(&entry.handle)?;
            if let Some(storage) = node.storage_mut().filter(|storage| storage.chunk.is_some()) {
                *stored = Stored::Chunks(Arc::new(std::mem::take(storage)));
            }
        }
        Ok(entry)
    }

    fn node(&self, object: &Handle, mut node: Node) -> Result<Node> {
        self.layout.apply(&object.path, &mut node)?;
        Ok(node)
    }
}
