//! What a store made from a document would hold, and what stands against making it.

use crate::check::{CheckOptions, Report};
use crate::format::{OpenOptions, read_document};
use crate::list::Counts;
use crate::source::{ArraySource, Entry, Handle, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::nd::element_count;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{NodeKind, NodePath, Shape};
use std::sync::Arc;

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
    /// Why it cannot be made, object by object; empty if it can.
    pub refusals: Vec<Error>,
}

/// Reads an NDL document: what is wrong with it, and unless something is an error, what it describes.
///
/// # Errors
/// If it cannot be read at all.
pub fn document(
    text: &dyn ReadAt,
    open: &OpenOptions,
    options: &CheckOptions,
) -> Result<(Report, Option<Arc<dyn Source>>)> {
    read_document(text, &open.limits, options)
}

/// Plans a store with everything that `source` describes.
///
/// ```
/// use hyperslab::{OpenOptions, create, open};
///
/// let document = open("../../examples/buoys.yaml".as_ref(), &OpenOptions::default())?;
/// let plan = create::plan(&*document)?;
/// assert!(plan.refusals.is_empty());
/// assert!(plan.written > 0);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If the document has no readable root.
pub fn plan(source: &dyn Source) -> Result<Plan> {
    let root = source.find(&NodePath::root())?;
    let mut plan = Plan::default();
    walk(source, &root.handle, &mut |step| {
        match step {
            Step::Enter(group, _) => {
                if !group.path.is_root() {
                    plan.counts.add(&Item::Group);
                }
                plan.object(source, group);
            }
            Step::Member(entry) => {
                plan.counts.add(&entry.item);
                plan.member(source, entry);
            }
            Step::Leave(_) => {}
        }
        Ok(())
    })?;
    Ok(plan)
}

impl Plan {
    fn member(&mut self, source: &dyn Source, entry: &Entry) {
        let path = &entry.handle.path;
        match &entry.item {
            Item::Unreadable(unreadable) => {
                let text = format!("could not be read when it was described: {}", unreadable.reason);
                self.refusals.push(Error::new(ErrorKind::InvalidArgument, text).in_object(path));
            }
            Item::Array { kind: NodeKind::Ndarray, datatype: None, .. } => {
                let text = "has no type: a partial description can be checked against, not created";
                self.refusals.push(Error::new(ErrorKind::InvalidArgument, text).in_object(path));
                self.object(source, &entry.handle);
            }
            Item::Array { datatype: Some(_), shape, .. } if *shape != Shape::Null => {
                match source.array(&entry.handle) {
                    Ok(array) => self.array(&*array),
                    Err(error) => self.refusals.push(error.in_object(path)),
                }
                self.object(source, &entry.handle);
            }
            Item::Link(_) => {}
            _ => self.object(source, &entry.handle),
        }
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

    fn object(&mut self, source: &dyn Source, handle: &Handle) {
        match source.load(handle) {
            Ok(node) => {
                for (name, attribute) in node.attributes().into_iter().flatten() {
                    self.attributes += 1;
                    if let Err(unreadable) = attribute {
                        let text = format!("could not be read when it was described: {}", unreadable.reason);
                        let place = format!("{}@{name}", handle.path);
                        self.refusals.push(Error::new(ErrorKind::InvalidArgument, text).in_object(place));
                    }
                }
            }
            Err(error) => self.refusals.push(error.in_object(&handle.path)),
        }
    }
}
