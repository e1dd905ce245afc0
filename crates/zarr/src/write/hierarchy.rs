//! Writes groups and arrays. The documents of groups come last, and the document of the root is the very last.
//!
//! Spec: Zarr v3 "Hierarchy", Zarr v2 "Hierarchies", zarr-python "Consolidating metadata"

use super::array::{put_document, remove_documents};
use super::{ArrayDefinition, ArrayWriter, Version};
use crate::json::{Json, Object};
use crate::metadata::v2::{self, GroupMetadata};
use crate::metadata::v3::{self, NodeMetadata};
use crate::name::{Names, Reason};
use crate::record;
use hyperslab_core::store::{Key, WritableStore};
use hyperslab_core::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Writes groups and arrays, from several threads at the same time. Readers see the store only after
/// [`HierarchyWriter::finish`]: the documents of groups come after those of arrays, and the root's document is last.
pub struct HierarchyWriter {
    store: Arc<dyn WritableStore>,
    version: Version,
    has_records: bool,
    register: Register,
}

/// A group to be written.
#[derive(Clone, Debug, Default)]
pub struct GroupDefinition {
    /// The user attributes.
    pub attributes: Object,
    /// The [record](crate::record), empty for none.
    pub record: Object,
}

/// The place of a new node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedNode {
    /// The path in the store.
    pub path: Key,
    /// The reason why its name differs from the requested one. `None` if it is the same.
    pub reason: Option<Reason>,
}

/// The state of all nodes, shared with the writers of arrays.
#[derive(Clone)]
pub(super) struct Register(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    groups: BTreeMap<Key, Group>,
    /// The arrays that are declared but not begun.
    declared: BTreeSet<Key>,
    /// The arrays that are begun but not finished.
    unfinished: BTreeSet<Key>,
    /// The documents of finished arrays, by path.
    arrays: BTreeMap<Key, Vec<(&'static str, Json)>>,
}

struct Group {
    definition: GroupDefinition,
    names: Names,
}

impl HierarchyWriter {
    /// Begins a store whose root is a group. If the root is already a node, its documents are deleted.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn new(store: Arc<dyn WritableStore>, version: Version) -> Result<HierarchyWriter> {
        remove_documents(&*store, &Key::root())?;
        let mut state = State::default();
        let names = Names::new(version, store.distinguishes_case());
        state.groups.insert(Key::root(), Group { definition: GroupDefinition::default(), names });
        Ok(HierarchyWriter {
            store,
            version,
            has_records: true,
            register: Register(Arc::new(Mutex::new(state))),
        })
    }

    /// Drops the [records](crate::record) of all nodes.
    #[must_use]
    pub fn without_records(self) -> HierarchyWriter {
        HierarchyWriter { has_records: false, ..self }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn WritableStore> {
        &self.store
    }

    /// Adds a group.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](hyperslab_core::ErrorKind::NotFound) if there is no group `parent`,
    /// [`ErrorKind::AlreadyExists`](hyperslab_core::ErrorKind::AlreadyExists) if it has a child with this name; errors
    /// of the store.
    pub fn group(&self, parent: &Key, name: &str, mut definition: GroupDefinition) -> Result<PlacedNode> {
        let placed = self.place(parent, name, &mut definition.record)?;
        remove_documents(&*self.store, &placed.path)?;
        let names = Names::new(self.version, self.store.distinguishes_case());
        self.state().groups.insert(placed.path.clone(), Group { definition, names });
        Ok(placed)
    }

    /// Changes a group, which is written when the store is finished.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](hyperslab_core::ErrorKind::NotFound) if the group does not exist.
    pub fn amend(&self, path: &Key, change: impl FnOnce(&mut GroupDefinition)) -> Result<()> {
        match self.state().groups.get_mut(path) {
            Some(group) => {
                change(&mut group.definition);
                Ok(())
            }
            None => Err(Error::not_found(format!("no group /{path}"))),
        }
    }

    /// Assigns the name of an array before it is begun, so that names do not depend on the order of writing.
    ///
    /// # Errors
    /// As [`HierarchyWriter::group`].
    pub fn declare(&self, parent: &Key, name: &str) -> Result<()> {
        let mut state = self.state();
        let group = state.group(parent, name)?;
        let assigned = group.names.assign(name).map_err(|e| e.in_object(format_args!("/{parent}")))?;
        state.declared.insert(parent.join(&assigned.name)?);
        Ok(())
    }

    /// Begins an array, declared or not.
    ///
    /// # Errors
    /// As [`HierarchyWriter::group`] and [`ArrayWriter::create`].
    pub fn array(&self, parent: &Key, name: &str, mut definition: ArrayDefinition) -> Result<ArrayWriter> {
        let placed = self.place(parent, name, definition.record_mut())?;
        if !self.has_records {
            *definition.record_mut() = Object::new();
        }
        let store = Arc::clone(&self.store);
        let array = ArrayWriter::create(store, &placed.path, self.version, &definition);
        // If the array is rejected, its name is released.
        let mut array = array.inspect_err(|_| self.release(parent, name))?;
        array.reason = placed.reason;
        self.state().unfinished.insert(placed.path);
        array.register = Some(self.register.clone());
        Ok(array)
    }

    /// Writes the documents of groups, which complete the store. `consolidated` adds copies of all documents at the root,
    /// so that readers open the store with one request.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if an array is not finished; errors of
    /// the store.
    pub fn finish(&self, consolidated: bool) -> Result<()> {
        let state = self.state();
        if let Some(path) = state.unfinished.first().or(state.declared.first()) {
            return Err(Error::invalid(format!("the array /{path} is not finished")));
        }
        // In this order, children come after their group.
        for (path, group) in state.groups.iter().rev().filter(|(path, _)| !path.is_root()) {
            for (name, json) in self.documents(group) {
                put_document(&*self.store, &path.join(name)?, &json)?;
            }
        }
        for (name, json) in self.root_documents(&state, consolidated) {
            put_document(&*self.store, &Key::new(name)?, &json)?;
        }
        self.store.finish()
    }

    /// Assigns the path of a node, and adds the requested name to its record if it differs.
    fn place(&self, parent: &Key, name: &str, record: &mut Object) -> Result<PlacedNode> {
        let mut state = self.state();
        let group = state.group(parent, name)?;
        let declared = group.names.get(name).cloned();
        let declared = match declared.map(|own| parent.join(&own.name).map(|path| (own, path))).transpose()? {
            Some((own, path)) => state.declared.remove(&path).then_some(own),
            None => None,
        };
        let group = state.group(parent, name)?;
        let assigned = match declared {
            Some(assigned) => assigned,
            None => group.names.assign(name).map_err(|e| e.in_object(format_args!("/{parent}")))?,
        };
        assigned.record(name, record);
        Ok(PlacedNode { path: parent.join(&assigned.name)?, reason: assigned.reason })
    }

    fn release(&self, parent: &Key, name: &str) {
        if let Some(group) = self.state().groups.get_mut(parent) {
            group.names.release(name);
        }
    }

    fn root_documents(&self, state: &State, consolidated: bool) -> Vec<(&'static str, Json)> {
        let root = state.groups.get(&Key::root());
        let mut documents = root.map(|root| self.documents(root)).unwrap_or_default();
        if !consolidated {
            return documents;
        }
        let groups = state.groups.iter().filter(|(path, _)| !path.is_root());
        let groups = groups.map(|(path, group)| (path, self.documents(group)));
        let arrays = state.arrays.iter().map(|(path, documents)| (path, documents.clone()));
        let mut all: BTreeMap<&Key, _> = groups.chain(arrays).collect();
        match self.version {
            Version::V3 => {
                let document =
                    |documents: Vec<(&str, Json)>| documents.into_iter().next().map(|(_, json)| json);
                let copies = all.into_iter().filter_map(|(path, documents)| {
                    document(documents).map(|json| (path.as_str().to_owned(), json))
                });
                let copies = v3::ConsolidatedMetadata::new(Object::from_distinct(copies));
                for (_, json) in &mut documents {
                    if let Json::Object(object) = json {
                        object.insert("consolidated_metadata", copies.emit());
                    }
                }
            }
            Version::V2 => {
                let root = Key::root();
                all.insert(&root, documents.clone());
                let mut metadata = Vec::new();
                for (path, documents) in all {
                    for (name, json) in documents {
                        let key = if path.is_root() { name.to_owned() } else { format!("{path}/{name}") };
                        metadata.push((key, json));
                    }
                }
                let copies = v2::ConsolidatedMetadata {
                    metadata: Object::from_distinct(metadata.into_iter()),
                    unknown: Object::new(),
                };
                documents.push((v2::CONSOLIDATED, copies.emit()));
            }
        }
        documents
    }

    /// The document of a group comes after its members.
    fn documents(&self, group: &Group) -> Vec<(&'static str, Json)> {
        let mut attributes = group.definition.attributes.clone();
        if self.has_records {
            record::put_attribute(&group.definition.record, &mut attributes);
        }
        let attributes = (!attributes.is_empty()).then_some(attributes);
        match self.version {
            Version::V3 => {
                let group = v3::GroupMetadata { attributes, ..v3::GroupMetadata::default() };
                vec![(v3::DOCUMENT, NodeMetadata::Group(Box::new(group)).emit())]
            }
            Version::V2 => {
                let attributes = attributes.map(|attributes| (v2::ATTRIBUTES, Json::Object(attributes)));
                attributes.into_iter().chain([(v2::GROUP, GroupMetadata::default().emit())]).collect()
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.register.state()
    }
}

impl State {
    /// The group that a node is added to.
    fn group(&mut self, path: &Key, name: &str) -> Result<&mut Group> {
        let group = self.groups.get_mut(path);
        group.ok_or_else(|| Error::not_found(format!("no group /{path} for the node {name:?}")))
    }
}

impl Register {
    pub(super) fn finish(&self, path: &Key, documents: &[(&'static str, Json)]) {
        let mut state = self.state();
        state.unfinished.remove(path);
        state.arrays.insert(path.clone(), documents.to_vec());
    }

    pub(super) fn abandon(&self, path: &Key) {
        self.state().unfinished.remove(path);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
