//! How often objects are used by others: HDF5 stores this number with each object.

use hyperslab_model::{Datatype, Node, NodePath};
use rustc_hash::FxHashMap;

/// The number of additional hard links to each object, and of messages that share a committed datatype.
#[derive(Debug, Default)]
pub(super) struct Uses(FxHashMap<NodePath, u32>);

impl Uses {
    /// Whether each object has only its first link.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an additional hard link to an object.
    pub(super) fn add_link(&mut self, object: &NodePath) {
        match self.0.get_mut(object) {
            Some(count) => *count = count.saturating_add(1),
            None => drop(self.0.insert(object.clone(), 1)),
        }
    }

    /// Adds the committed datatypes that an object shares: those of its elements and of its attributes.
    pub(super) fn add(&mut self, node: &Node) {
        let of_attributes = node.attributes().into_iter().flatten();
        let of_attributes = of_attributes.filter_map(|(_, attribute)| attribute.as_ref().ok());
        for datatype in of_attributes.map(|attribute| &attribute.datatype).chain(node.datatype()) {
            if let Datatype::Named(name, _) = &**datatype {
                self.add_link(name);
            }
        }
    }

    /// The reference count of an object: its first link and all other uses.
    pub(super) fn reference_count(&self, object: &NodePath) -> u32 {
        self.0.get(object).map_or(1, |count| count.saturating_add(1))
    }
}
