//! The store that is being written: groups with their members, arrays, metadata and records.

mod collected;

use super::array::{DenseStore, TileDbArrayTarget};
use super::cells::TileDbCellTarget;
use super::collected::Collections;
use super::convention::{asked, group_array, hide_other_fill, is_without_suffix};
use super::coordinates::counted;
use super::definition::ArrayPlan;
use super::dimension_names::DimensionNames;
use super::metadata::{Owner, entry, put_attributes, put_hidden, put_native};
use super::names::StoredNames;
use super::planner::{SparseGroups, can_keep};
use super::schema::Made;
use super::{collects, is_array, label, schema, version};
use crate::cells::CellColumn;
use crate::format::tiledb::elements::StoredElements;
use crate::format::tiledb::is_label;
use crate::format::tiledb::parts::StoredParts;
use crate::format::tiledb::record::{COLLECTED, GROUP, ROLE};
use crate::format::tiledb::schema::Members;
use crate::format::zarr::keep::record::members_json;
use crate::pool::Pool;
use crate::target::{
    ArrayTarget, CellTarget, Encoder, Facts, Filters, OrderedMember, Planned, Silent, Target, TargetOptions,
};
use collected::CollectedArray;
use hyperslab_cf::dataspace::{Convention, GROUP_ARRAY};
use hyperslab_core::store::{Key, WritableStore};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, BoxedStorage, Ndarray, Node, NodePath};
use hyperslab_tiledb::format::array_schema::{ArraySchema, Attribute};
use hyperslab_tiledb::format::group::{GroupMember, ObjectType};
use hyperslab_tiledb::format::layout::ArrayType;
use hyperslab_tiledb::format::metadata::Metadata;
use hyperslab_tiledb::read::DenseDomain;
use hyperslab_tiledb::write::array::{ArrayWriter, WriteOptions};
use hyperslab_tiledb::write::dense::DenseEncoder;
use hyperslab_tiledb::write::group::{GroupWriter, relative_member};
use hyperslab_zarr::json::{Json, Object};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store that is being written.
pub(super) struct TileDbTarget {
    store: Arc<dyn WritableStore>,
    options: TargetOptions,
    write: WriteOptions,
    time: u64,
    /// The groups that become sparse arrays.
    sparse: FxHashSet<NodePath>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    groups: FxHashMap<NodePath, GroupState>,
    arrays: FxHashMap<NodePath, ArrayState>,
    names: DimensionNames,
    collections: Collections,
    /// The arrays of collections, by group and position in it.
    collected: FxHashMap<(NodePath, usize), CollectedArray>,
}

/// A group that is stored as a group.
#[derive(Default)]
struct GroupState {
    key: Key,
    attributes: Attributes,
    storage: BoxedStorage,
    members: Vec<GroupMember>,
    /// The names of all members.
    names: FxHashSet<String>,
    /// The names of folders in use.
    folders: FxHashSet<String>,
    /// Members that are neither groups nor arrays.
    kept: Vec<(String, Node)>,
    order: Vec<String>,
}

/// A group that is stored as an array.
struct ArrayState {
    key: Key,
    members: Members,
    names: StoredNames,
    opened: Option<Opened>,
}

/// An array whose schema has been written.
#[derive(Clone)]
struct Opened {
    writer: Arc<ArrayWriter>,
    dense: Option<Arc<DenseStore>>,
}

impl TileDbTarget {
    pub(super) fn new(
        store: Arc<dyn WritableStore>,
        options: &TargetOptions,
        write: WriteOptions,
        planned: &Planned,
    ) -> TileDbTarget {
        let sparse = planned.outcome.as_ref().and_then(|outcome| outcome.downcast_ref::<SparseGroups>());
        let sparse = sparse.map(|groups| groups.0.iter().cloned().collect()).unwrap_or_default();
        let time = write.names.now();
        let names = DimensionNames::new(is_without_suffix(asked(options)));
        let state = Mutex::new(State { names, ..State::default() });
        TileDbTarget { store, options: options.clone(), write, time, sparse, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an object a folder within that of its group, and makes it a member of the group.
    fn place(&self, path: &NodePath, object_type: ObjectType) -> Result<Key> {
        let Some(parent) = path.parent().filter(|_| !path.is_root()) else { return Ok(Key::root()) };
        let mut state = self.state();
        let group = state.groups.get_mut(&parent).ok_or_else(|| no_group(&parent))?;
        let folder = folder_name(path.name(), &group.folders);
        group.folders.insert(folder.clone());
        group.members.push(relative_member(path.name(), &folder, object_type));
        group.key.join(&folder)
    }

    /// The array that represents a group, created when it is first requested.
    fn opened(&self, group: &NodePath) -> Result<Opened> {
        let mut state = self.state();
        let array = state.arrays.get_mut(group).ok_or_else(|| no_group(group))?;
        if let Some(opened) = &array.opened {
            return Ok(opened.clone());
        }
        let array_type = self.sparse.contains(group).then_some(ArrayType::Sparse);
        let Made { schema: own, enumerations, .. } =
            schema::of(&array.members, array_type, version(&self.options)?)?;
        let dimensions = array.members.dimensions.iter().map(|(path, _)| path.name().to_owned());
        let dimensions = dimensions.zip(own.domain.dimensions.iter().map(|of| of.name.clone()));
        let attributes = array.members.attributes.iter().map(|(path, _)| path.name().to_owned());
        let attributes = attributes.zip(own.attributes.iter().map(|of| of.name.clone()));
        array.names = StoredNames(dimensions.chain(attributes).collect());
        let is_dense = own.array_type == ArrayType::Dense;
        let (first, extents) = match is_dense {
            true => shown(&own, &array.members)?,
            false => (Vec::new(), Vec::new()),
        };
        let options = self.write.clone();
        let writer =
            ArrayWriter::create(Arc::clone(&self.store), &array.key, own, enumerations, self.time, options)?;
        let writer = Arc::new(writer);
        let dense = match is_dense {
            true => Some(Arc::new(DenseStore::new(Arc::clone(&writer), &first, &extents, self.time)?)),
            false => None,
        };
        let opened = Opened { writer, dense };
        array.opened = Some(opened.clone());
        Ok(opened)
    }

    /// Writes the array that holds the metadata of a group.
    fn put_group_array(&self, group: &Key, metadata: &Metadata) -> Result<()> {
        let (store, key) = (Arc::clone(&self.store), group.join(GROUP_ARRAY)?);
        let schema = group_array(version(&self.options)?);
        let writer = ArrayWriter::create(store, &key, schema, Vec::new(), self.time, self.write.clone())?;
        writer.put_metadata(metadata, self.time)
    }

    /// Begins an attribute of a dense array with several attributes.
    fn attribute(
        &self,
        path: &NodePath,
        group: &NodePath,
        node: &Node,
        facts: Facts,
    ) -> Result<Box<dyn ArrayTarget + '_>> {
        let opened = self.opened(group)?;
        let (Some(store), Node::Ndarray(array)) = (opened.dense, node) else { return Ok(Box::new(Told)) };
        if is_label(&array.storage) {
            return self.label(path, group, array, &store);
        }
        let name = self.names(group).of(path.name());
        let attributes = &store.writer.schema().attributes;
        let position = attributes.iter().position(|own| own.name == name);
        let (position, own) = position
            .and_then(|at| Some((at, attributes.get(at)?)))
            .ok_or_else(|| Error::invalid("an attribute that was not declared"))?;
        let (Some(datatype), Some(storage)) = (node.datatype(), node.storage()) else {
            return Err(Error::invalid("an array without a type"));
        };
        let elements =
            StoredElements::new(datatype, &storage.element, Some(own.data_type), Facts::default())?;
        let can_fill = facts.can_fill && DenseEncoder::new(&store.writer, position)?.encodes_fill();
        let is_partial = attributes.len() == 1 && !can_fill;
        let target = TileDbArrayTarget::new(
            Arc::clone(&store),
            position,
            StoredParts::whole(elements),
            (false, is_partial, false, facts.filters == Filters::Asked),
            Box::new(|| Ok(())),
            Box::new(|| Ok(())),
        );
        Ok(Box::new(target?))
    }

    /// Begins labels of a dimension of a dense array.
    fn label(
        &self,
        path: &NodePath,
        group: &NodePath,
        node: &Ndarray,
        array: &DenseStore,
    ) -> Result<Box<dyn ArrayTarget + '_>> {
        let (key, position) = {
            let state = self.state();
            let of = state.arrays.get(group).ok_or_else(|| no_group(group))?;
            (of.key.clone(), of.members.labels.iter().position(|(own, _)| own == path))
        };
        // Labels that cannot be kept.
        let Some(position) = position else { return Ok(Box::new(Told)) };
        let schema = array.writer.schema();
        let label = schema.dimension_labels.get(position);
        let (Some(label), Some(datatype)) = (label, node.datatype.as_ref()) else {
            return Err(Error::invalid("labels that were not declared"));
        };
        let elements =
            StoredElements::new(datatype, &node.storage.element, Some(label.data_type), Facts::default())?;
        let own = label::schema(label, node, &elements, schema)?;
        let (first, extent) = array.side(usize::try_from(label.dimension).unwrap_or(usize::MAX));
        let key = label::key(&key, label)?;
        let store = Arc::clone(&self.store);
        let writer = ArrayWriter::create(store, &key, own, Vec::new(), self.time, self.write.clone())?;
        let store = Arc::new(DenseStore::new(Arc::new(writer), &[first], &[extent], self.time)?);
        let finishing = Arc::clone(&store);
        let finished = Box::new(move || finishing.finish());
        let kinds = (false, false, false, false);
        Ok(Box::new(TileDbArrayTarget::new(
            store,
            0,
            StoredParts::whole(elements),
            kinds,
            finished,
            Box::new(|| Ok(())),
        )?))
    }

    /// The names of the members of a group that is stored as an array.
    fn names(&self, group: &NodePath) -> StoredNames {
        self.state().arrays.get(group).map(|array| array.names.clone()).unwrap_or_default()
    }

    /// The metadata of an array, as those of its attribute `own`. Previously recorded content is kept.
    fn array_metadata(
        &self,
        (path, own): (&NodePath, &Attribute),
        node: &Node,
        mut record: Object,
    ) -> Result<Metadata> {
        let (owner, mut metadata) = (Owner::Attribute(&own.name), Metadata::default());
        let none = Attributes::new();
        let attributes = node.attributes().unwrap_or(&none);
        put_attributes((path, owner), attributes, (&mut metadata, &mut record), &mut Silent)?;
        let hidden = hide_other_fill(asked(&self.options), (owner, own), attributes, &mut metadata);
        put_hidden(&hidden, &mut record)?;
        metadata.entries.extend(entry(owner, &record));
        Ok(metadata)
    }

    /// The metadata of an array that is a group in the model.
    fn metadata_of(&self, group: &NodePath) -> Result<Metadata> {
        let state = self.state();
        let array = state.arrays.get(group).ok_or_else(|| no_group(group))?;
        let (mut metadata, mut record) = (Metadata::default(), Object::new());
        let own = &array.members.group;
        put_attributes((group, Owner::Object), &own.attributes, (&mut metadata, &mut record), &mut Silent)?;
        put_native(group, &own.storage, &mut record, &mut Silent);
        metadata.entries.extend(entry(Owner::Object, &record));
        let dimensions = array.members.dimensions.iter().map(|(path, own)| (path, &own.attributes, true));
        let attributes = array.members.attributes.iter().map(|(path, own)| (path, &own.attributes, false));
        for (path, of, is_dimension) in dimensions.chain(attributes) {
            let name = array.names.of(path.name());
            let owner = if is_dimension { Owner::Dimension(&name) } else { Owner::Attribute(&name) };
            let mut record = Object::new();
            put_attributes((path, owner), of, (&mut metadata, &mut record), &mut Silent)?;
            metadata.entries.extend(entry(owner, &record));
        }
        Ok(metadata)
    }
}

impl Target for TileDbTarget {
    fn declare(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()> {
        let parent = path.parent().filter(|_| !path.is_root());
        if let Some(group) = parent.as_ref()
            && let Some(group) = self.state().groups.get_mut(group)
        {
            group.names.insert(path.name().to_owned());
        }
        if let Some(group) = &parent
            && let Some(array) = self.state().arrays.get_mut(group)
        {
            if let Node::Ndarray(own) = node
                && is_label(&own.storage)
                && !can_keep(path, own, self.sparse.contains(group), &array.members)
            {
                return Ok(());
            }
            let node = match self.sparse.contains(group) {
                true => node.clone(),
                false => counted(node.clone(), facts)?,
            };
            return array.members.add(path.clone(), node);
        }
        match node {
            Node::Group(group) if is_array(&group.storage) || self.sparse.contains(path) => {
                let key = self.place(path, ObjectType::Array)?;
                let members = Members { group: group.clone(), ..Members::default() };
                let state = ArrayState { key, members, names: StoredNames::default(), opened: None };
                self.state().arrays.insert(path.clone(), state);
            }
            Node::Group(group) => {
                let key = self.place(path, ObjectType::Group)?;
                let (attributes, storage) = (group.attributes.clone(), group.storage.clone());
                let state = GroupState { key, attributes, storage, ..GroupState::default() };
                self.state().groups.insert(path.clone(), state);
            }
            Node::Unreadable(_) => {}
            node if node.has_elements() => {
                if collects(&self.options) {
                    let state = &mut *self.state();
                    let names = &mut state.names;
                    let plan = ArrayPlan::new(path, node, facts, (&self.options, names), &mut Silent)?;
                    state.collections.add(path, plan);
                }
            }
            member => {
                let Some(parent) = parent else { return Ok(()) };
                let mut state = self.state();
                let group = state.groups.get_mut(&parent).ok_or_else(|| no_group(&parent))?;
                group.kept.push((path.name().to_owned(), member.clone()));
            }
        }
        Ok(())
    }

    fn order_members(&self, group: &NodePath, members: &[OrderedMember<'_>]) -> Result<()> {
        let names: Vec<String> = members.iter().map(|member| member.name.to_owned()).collect();
        if let Some(own) = self.state().groups.get_mut(group).filter(|_| !names.is_sorted()) {
            own.order = names;
        }
        Ok(())
    }

    fn begin(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Box<dyn ArrayTarget + '_>> {
        let parent = path.parent().filter(|_| !path.is_root());
        if let Some(group) = parent.filter(|group| self.state().arrays.contains_key(group)) {
            return self.attribute(path, &group, node, facts);
        }
        if let Some(target) = self.collected(path, node, facts)? {
            return Ok(target);
        }
        let ArrayPlan { schema, enumerations, parts, record, extents, needs_unwritten, .. } =
            ArrayPlan::new(path, node, facts, (&self.options, &mut self.state().names), &mut Silent)?;
        let key = self.place(path, ObjectType::Array)?;
        let own =
            schema.attributes.first().cloned().ok_or_else(|| Error::invalid("an array without a type"))?;
        let options = self.write.clone();
        let writer =
            ArrayWriter::create(Arc::clone(&self.store), &key, schema, enumerations, self.time, options)?;
        let writer = Arc::new(writer);
        let first = vec![0; extents.len()];
        let store = Arc::new(DenseStore::new(Arc::clone(&writer), &first, &extents, self.time)?);
        let metadata = self.array_metadata((path, &own), node, record)?;
        let (finishing, time) = (Arc::clone(&store), self.time);
        let finished = Box::new(move || {
            finishing.finish()?;
            writer.put_metadata(&metadata, time)
        });
        let own = path.clone();
        let abandoned = Box::new(move || {
            self.store.delete_below(&key)?;
            if let Some(parent) = own.parent()
                && let Some(group) = self.state().groups.get_mut(&parent)
            {
                group.members.retain(|member| member.name.as_deref() != Some(own.name().as_bytes()));
            }
            Ok(())
        });
        let is_partial = !facts.can_fill && !needs_unwritten;
        let is_scalar = node.shape(path).is_some_and(|shape| shape.dims().is_empty());
        let target = TileDbArrayTarget::new(
            store,
            0,
            parts,
            (needs_unwritten, is_partial, is_scalar, facts.filters == Filters::Asked),
            finished,
            abandoned,
        );
        Ok(Box::new(target?))
    }

    fn cells(
        &self,
        path: &NodePath,
        columns: &[CellColumn],
        pool: &Pool,
    ) -> Result<Box<dyn CellTarget + '_>> {
        let opened = self.opened(path)?;
        let target = TileDbCellTarget::new(opened.writer, columns, &self.names(path), (self.time, pool))?;
        Ok(Box::new(target))
    }

    fn can_abandon(&self) -> bool {
        !collects(&self.options)
    }

    fn finish(&self) -> Result<()> {
        for array in self.state().collected.values() {
            array.finish(self.time)?;
        }
        let paths: Vec<NodePath> = self.state().arrays.keys().cloned().collect();
        for path in paths {
            let Opened { writer, dense } = self.opened(&path)?;
            if let Some(dense) = dense {
                dense.finish().map_err(|e| e.in_object(&path))?;
            }
            writer.put_metadata(&self.metadata_of(&path)?, self.time)?;
        }
        let groups = std::mem::take(&mut self.state().groups);
        for (path, group) in groups {
            let GroupState { key, attributes, storage, mut members, names, kept, order, .. } = group;
            let writer = GroupWriter::create(Arc::clone(&self.store), &key, self.write.clone())?;
            let mut metadata = Metadata::default();
            let mut record = members_json(&kept)?;
            let collected = self.collected_names(&path, &names);
            if !collected.is_empty() {
                record.insert(COLLECTED, Json::Object(collected));
            }
            if !order.is_empty() {
                let names = order.iter().map(|name| Json::from(name.as_str()));
                record.insert("member_order", Json::Array(names.collect()));
            }
            put_attributes((&path, Owner::Object), &attributes, (&mut metadata, &mut record), &mut Silent)?;
            put_native(&path, &storage, &mut record, &mut Silent);
            let has_array = asked(&self.options).is_some_and(Convention::has_group_array);
            if has_array {
                record.insert(ROLE, GROUP.into());
            }
            metadata.entries.extend(entry(Owner::Object, &record));
            if has_array {
                members.push(relative_member(GROUP_ARRAY, GROUP_ARRAY, ObjectType::Array));
                self.put_group_array(&key, &metadata)?;
            }
            writer.put_members(members, self.time)?;
            if !has_array {
                writer.put_metadata(&metadata, self.time)?;
            }
        }
        self.store.finish()
    }
}

/// Elements that are given by the domain of an array.
struct Told;

impl ArrayTarget for Told {
    fn encoder(&self) -> &dyn Encoder {
        self
    }

    fn has_elements(&self) -> bool {
        false
    }

    fn store(&self, _: &[u64], _: Option<&crate::target::ChunkBytes>) -> Result<()> {
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        Ok(())
    }
}

impl Encoder for Told {
    fn chunk(&self) -> &[u64] {
        &[]
    }

    fn encode(
        &self,
        _: &[u64],
        _: &hyperslab_model::Values,
        _: Vec<u8>,
        _: &mut hyperslab_codec::Scratch,
    ) -> Result<crate::target::Encoded> {
        Ok(crate::target::Encoded::Absent)
    }
}

/// The first cell of the shown part of a dense array, and the number of cells along each dimension.
fn shown(schema: &ArraySchema, members: &Members) -> Result<(Vec<u64>, Vec<u64>)> {
    let domain = DenseDomain::of(schema)?;
    let sides = members.dimensions.iter().zip(&domain.shape);
    Ok(sides.map(|((_, own), all)| (schema::first(own.size, *all), own.size.current())).unzip())
}

/// A folder name that is valid on all systems and in URIs and is not in use yet.
fn folder_name(name: &str, taken: &FxHashSet<String>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain: String = name.chars().take(MAX_FOLDER).map(|c| if is_plain(c) { c } else { '_' }).collect();
    let is_special = plain.is_empty() || plain.starts_with("__") || plain.starts_with('.');
    let plain = if is_special { format!("x{plain}") } else { plain };
    let numbered = (2_u64..).map(|number| format!("{plain}_{number}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or(plain)
}

fn no_group(path: &NodePath) -> Error {
    Error::invalid(format!("a member of {path}, which is not declared yet"))
}

/// The maximum number of characters of a name that are used for its folder.
const MAX_FOLDER: usize = 100;
