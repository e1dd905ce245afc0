//! References that lead to nothing in the target.

use super::Parts;
use crate::source::engine::stream;
use crate::source::{Handle, Source};
use hyperslab_core::Result;
use hyperslab_core::nd::Region;
use hyperslab_model::{Datatype, Node, NodePath, Reference, Values};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Finds dangling references in the target.
pub(super) struct References<'a> {
    source: &'a dyn Source,
    /// What is converted; `None` for all.
    parts: Option<&'a Parts>,
    /// Whether elements that lead to no object are also found, because the format cannot store them. The format reports
    /// such attributes itself.
    with_dangling: bool,
    /// Whether there is an object at paths that references name.
    known: RefCell<FxHashMap<NodePath, bool>>,
}

impl<'a> References<'a> {
    pub(super) fn new(
        source: &'a dyn Source,
        parts: Option<&'a Parts>,
        with_dangling: bool,
    ) -> References<'a> {
        References { source, parts, with_dangling, known: RefCell::default() }
    }

    /// The references of an object to objects that are not converted or do not exist: its path for elements, and
    /// `PATH@NAME` for attributes.
    pub(super) fn leading_out(&self, handle: &Handle, node: &Node) -> Result<Vec<String>> {
        self.places(handle, node, &|reference, is_element| match reference {
            Reference::Object(path) | Reference::Region(path, _) | Reference::Attribute(path, _) => {
                self.parts.is_some_and(|parts| !parts.has_path(path))
                    || self.with_dangling && !self.exists(path)
            }
            // An object of another file that no followed link leads to.
            Reference::External { address, .. } => *address == u64::MAX,
            Reference::Dangling(_) => self.with_dangling && is_element,
            Reference::Null => false,
        })
    }

    /// As [`leading_out`](References::leading_out), for references to objects that `is_left_out`.
    pub(super) fn leading_to(
        &self,
        handle: &Handle,
        node: &Node,
        is_left_out: &dyn Fn(&NodePath) -> bool,
    ) -> Result<Vec<String>> {
        self.places(handle, node, &|reference, _| match reference {
            Reference::Object(path) | Reference::Region(path, _) | Reference::Attribute(path, _) => {
                is_left_out(path)
            }
            Reference::External { .. } | Reference::Dangling(_) | Reference::Null => false,
        })
    }

    fn places(
        &self,
        handle: &Handle,
        node: &Node,
        leads_out: &dyn Fn(&Reference, bool) -> bool,
    ) -> Result<Vec<String>> {
        let mut places = Vec::new();
        let any = |values: &Values, is_element| {
            values.heap.references.iter().any(|reference| leads_out(reference, is_element))
        };
        for (name, attribute) in node.attributes().into_iter().flatten() {
            if attribute.as_ref().is_ok_and(|attribute| any(&attribute.value, false)) {
                places.push(format!("{}@{name}", handle.path));
            }
        }
        if node.datatype().is_none_or(|datatype| !datatype.any(&is_reference)) {
            return Ok(places);
        }
        let array = self.source.array(handle)?;
        let Some(extents) = array.extents().filter(|extents| !extents.contains(&0)) else {
            return Ok(places);
        };
        if array.is_unwritten()? {
            return Ok(places);
        }
        let mut leads = false;
        let mut look = |region: &Region| match leads {
            true => Ok(()),
            false => stream(&*array, region, &mut |_, values| {
                leads |= any(values, true);
                Ok(())
            }),
        };
        // A large array may have few written chunks.
        let is_chunked = array.written(&mut |start| {
            let left = extents.iter().zip(start).map(|(extent, start)| extent.saturating_sub(*start));
            let count = left.zip(array.chunk()).map(|(left, size)| left.min(*size)).collect();
            look(&Region::new(start.to_vec(), count))
        })?;
        if !is_chunked {
            look(&Region::all(extents))?;
        }
        if leads {
            places.push(handle.path.to_string());
        }
        Ok(places)
    }

    fn exists(&self, path: &NodePath) -> bool {
        if let Some(known) = self.known.borrow().get(path) {
            return *known;
        }
        let exists = self.source.find(path).is_ok();
        self.known.borrow_mut().insert(path.clone(), exists);
        exists
    }
}

fn is_reference(of: &Datatype) -> bool {
    matches!(of, Datatype::ObjRef | Datatype::RegRef | Datatype::Reference)
}
