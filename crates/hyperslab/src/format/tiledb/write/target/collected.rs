//! Collected arrays while they are being written.

use super::{TileDbTarget, no_group};
use crate::format::tiledb::write::array::{DenseStore, TileDbArrayTarget};
use crate::format::tiledb::write::collected::{Collected, Collection, array_names};
use crate::target::{ArrayTarget, Facts, Filters};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Node, NodePath};
use hyperslab_tiledb::format::group::ObjectType;
use hyperslab_tiledb::format::metadata::Metadata;
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_zarr::json::{Json, Object};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// An array whose attributes represent several arrays.
pub(super) struct CollectedArray {
    writer: Arc<ArrayWriter>,
    dense: Arc<DenseStore>,
    metadata: Metadata,
}

impl CollectedArray {
    /// Completes and commits what was written.
    pub(super) fn finish(&self, time: u64) -> Result<()> {
        self.dense.finish()?;
        self.writer.put_metadata(&self.metadata, time)
    }
}

impl TileDbTarget {
    /// Begins an attribute of an array that combines several arrays of a group; `None` for a separate array.
    pub(super) fn collected(
        &self,
        path: &NodePath,
        node: &Node,
        facts: Facts,
    ) -> Result<Option<Box<dyn ArrayTarget + '_>>> {
        let Some((group, place, member)) = self.state().collections.place(path) else { return Ok(None) };
        let lost = || Error::invalid("an array that was not declared");
        self.open_collection(&group, place)?;
        let mut state = self.state();
        let collection = state.collections.get(&group, place).ok_or_else(lost)?;
        let Collected { attribute, parts, record, .. } =
            collection.members.get(member).cloned().ok_or_else(lost)?;
        let own = collection.schema.attributes.get(attribute).cloned().ok_or_else(lost)?;
        let array = state.collected.get_mut(&(group, place)).ok_or_else(lost)?;
        let metadata = self.array_metadata((path, &own), node, record)?;
        array.metadata.entries.extend(metadata.entries);
        let is_scalar = node.shape(path).is_some_and(|shape| shape.dims().is_empty());
        // All attributes of a fragment contain all cells.
        let kinds = (true, false, is_scalar, facts.filters == Filters::Asked);
        let dense = Arc::clone(&array.dense);
        let nothing = || Box::new(|| Ok(()));
        Ok(Some(Box::new(TileDbArrayTarget::new(dense, attribute, parts, kinds, nothing(), nothing())?)))
    }

    /// Creates the array of a collection when it is first requested.
    fn open_collection(&self, group: &NodePath, place: usize) -> Result<()> {
        let state = self.state();
        if state.collected.contains_key(&(group.clone(), place)) {
            return Ok(());
        }
        let names = &state.groups.get(group).ok_or_else(|| no_group(group))?.names;
        let name = array_names(state.collections.of(group), names).into_iter().nth(place);
        let (Some(name), Some(own)) = (name, state.collections.get(group, place)) else {
            return Err(no_group(group));
        };
        let (schema, enumerations, extents) =
            (own.schema.clone(), own.enumerations.clone(), own.extents.clone());
        drop(state);
        let key = self.place(&group.child(&name), ObjectType::Array)?;
        let (store, options) = (Arc::clone(&self.store), self.write.clone());
        let writer = Arc::new(ArrayWriter::create(store, &key, schema, enumerations, self.time, options)?);
        let first = vec![0; extents.len()];
        let dense = Arc::new(DenseStore::new(Arc::clone(&writer), &first, &extents, self.time)?);
        let array = CollectedArray { writer, dense, metadata: Metadata::default() };
        self.state().collected.insert((group.clone(), place), array);
        Ok(())
    }

    /// The arrays of the collections of a group, with the names of the arrays that are their attributes.
    pub(super) fn collected_names(&self, group: &NodePath, taken: &FxHashSet<String>) -> Object {
        let state = self.state();
        let all = state.collections.of(group);
        let names =
            array_names(all, taken).into_iter().zip(all).filter(|(_, own)| own.schema.attributes.len() > 1);
        let of = |own: &Collection| own.members.iter().map(|member| Json::from(member.path.name())).collect();
        names.map(|(name, own)| (name, Json::Array(of(own)))).collect()
    }
}
