//! The nodes of a store: groups and arrays of either version, alone or with consolidated metadata.
//!
//! Spec: Zarr v3 "Hierarchy", Zarr v2 "Hierarchies"

mod consolidated;
mod fetched;
mod remains;
mod stored;
mod walk;

pub use remains::Remains;
pub use walk::Walk;

use crate::json::{Deviation, Json, Object, text};
use crate::metadata::{v2, v3};
use bytes::Bytes;
use consolidated::Consolidated;
use fetched::Fetched;
use hyperslab_core::nd::ChunkGrid;
use hyperslab_core::store::{EntryKind, Key, Store};
use hyperslab_core::{Error, Limits, Result};
use std::sync::Arc;

/// A store seen as groups and arrays.
#[derive(Clone)]
pub struct Hierarchy {
    store: Arc<dyn Store>,
    limits: Limits,
    consolidated: Option<Arc<Consolidated>>,
    /// Of a far store.
    fetched: Option<Arc<Fetched>>,
}

/// A group or an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it lies in the store.
    pub path: Key,
    /// What its documents say.
    pub metadata: Metadata,
}

/// The documents of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Metadata {
    /// `zarr.json`
    V3(v3::NodeMetadata),
    /// `.zarray` and `.zattrs`
    V2Array {
        /// `.zarray`
        array: Box<v2::ArrayMetadata>,
        /// `.zattrs`
        attributes: Option<Object>,
    },
    /// `.zgroup` and `.zattrs`
    V2Group {
        /// `.zgroup`
        group: v2::GroupMetadata,
        /// `.zattrs`
        attributes: Option<Object>,
    },
    /// No document: a folder that nodes lie in, as in a zip file of the folder of a store.
    Folder,
}

/// What lies directly below a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Where it lies in the store.
    pub path: Key,
    /// Whether it lies elsewhere in the store as well, so that who enters it may not come to an end.
    pub is_alias: bool,
}

impl Hierarchy {
    /// The nodes of a store. If its root has consolidated metadata, that is believed for all nodes below.
    ///
    /// # Errors
    /// If consolidated metadata is there and broken; [`Hierarchy::unconsolidated`] does without.
    pub fn open(store: Arc<dyn Store>, limits: Limits) -> Result<Hierarchy> {
        let mut hierarchy = Hierarchy::unconsolidated(store, limits);
        hierarchy.consolidated = Consolidated::read(&hierarchy)?.map(Arc::new);
        Ok(hierarchy)
    }

    /// The nodes of a store by their own documents.
    pub fn unconsolidated(store: Arc<dyn Store>, limits: Limits) -> Hierarchy {
        let fetched = store.is_far().then(Arc::default);
        Hierarchy { store, limits, consolidated: None, fetched }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What the store may make us allocate.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether nodes are told by consolidated metadata.
    pub fn is_consolidated(&self) -> bool {
        self.consolidated.is_some()
    }

    /// The node at `path`; none if there is none.
    ///
    /// # Errors
    /// If there is one, and its documents cannot be read.
    pub fn node(&self, path: &Key) -> Result<Option<Node>> {
        self.fetch(std::iter::once(path));
        let metadata =
            self.parse(path, self.documents()).map_err(|e| e.in_object(format_args!("/{path}")))?;
        Ok(metadata.map(|metadata| Node { path: path.clone(), metadata }))
    }

    /// The same, or the folder at `path` if nodes lie directly in it. Only where one begins to look is a folder
    /// like a group: further below the specification wants a document for each.
    ///
    /// # Errors
    /// As [`Hierarchy::node`] and [`Hierarchy::children`].
    pub fn node_or_folder(&self, path: &Key) -> Result<Option<Node>> {
        if let Some(node) = self.node(path)? {
            return Ok(Some(node));
        }
        for child in self.children(path)? {
            // A node that cannot be read is one.
            if !matches!(self.node(&child.path), Ok(None)) {
                return Ok(Some(Node { path: path.clone(), metadata: Metadata::Folder }));
            }
        }
        Ok(None)
    }

    /// What can be told of the node at `path` where [`Hierarchy::node`] fails.
    pub fn remains(&self, path: &Key) -> Remains {
        Remains::of(self, path)
    }

    /// What may be a node directly below `path`, sorted by name; [`Hierarchy::node`] tells which are.
    ///
    /// Names that begin with `__`, which are reserved, are left out.
    ///
    /// # Errors
    /// If the store cannot be listed, or has names that no key can have.
    pub fn children(&self, path: &Key) -> Result<Vec<Child>> {
        if let Some(consolidated) = &self.consolidated {
            return consolidated.children(path);
        }
        let mut children = Vec::new();
        for entry in self.store.list(path).map_err(|e| e.in_object(format_args!("/{path}")))? {
            let is_alias = match entry.kind {
                EntryKind::Prefix => false,
                EntryKind::Alias => true,
                EntryKind::Value | EntryKind::Refused(_) => continue,
            };
            if !entry.name.starts_with("__") {
                children.push(Child { path: path.join(&entry.name)?, is_alias });
            }
        }
        Ok(children)
    }

    /// All nodes from `path` on, which may be a folder of them, each before those below it. A node that cannot be read
    /// does not hide others.
    ///
    /// Nodes are entered only where they really lie, so that links in a circle come to an end.
    pub fn walk(&self, path: &Key) -> Walk<'_> {
        Walk::new(self, path)
    }

    /// Where documents are found: with the node, or in consolidated metadata.
    fn documents(&self) -> &dyn Documents {
        match &self.consolidated {
            Some(consolidated) => &**consolidated,
            None => self,
        }
    }

    /// The text of a document of the root.
    fn text(&self, name: &'static str) -> Result<Option<String>> {
        let bytes = self.stored(Key::new(name)?)?;
        bytes.map(|bytes| text(name, bytes.into())).transpose()
    }

    /// A document as it is stored.
    fn stored(&self, key: Key) -> Result<Option<Bytes>> {
        let Some(fetched) = &self.fetched else { return self.store.read(&key, self.limits.allocation) };
        if let Some(document) = fetched.get(&key) {
            return Ok(document);
        }
        let document = self.store.read(&key, self.limits.allocation)?;
        fetched.keep(key, document.clone());
        Ok(document)
    }

    fn parse(&self, path: &Key, documents: &dyn Documents) -> Result<Option<Metadata>> {
        if let Some(json) = documents.document(path, v3::DOCUMENT)? {
            return v3::NodeMetadata::of(json, &self.limits).map(|node| Some(Metadata::V3(node)));
        }
        let attributes = || {
            let json = documents.document(path, v2::ATTRIBUTES)?;
            json.map(|json| v2::parse_attributes(&json, &self.limits)).transpose()
        };
        if let Some(json) = documents.document(path, v2::ARRAY)? {
            let array = Box::new(v2::ArrayMetadata::parse(&json, &self.limits)?);
            return Ok(Some(Metadata::V2Array { array, attributes: attributes()? }));
        }
        if let Some(json) = documents.document(path, v2::GROUP)? {
            let group = v2::GroupMetadata::parse(&json, &self.limits)?;
            return Ok(Some(Metadata::V2Group { group, attributes: attributes()? }));
        }
        Ok(None)
    }
}

/// Where the documents of nodes come from.
trait Documents {
    fn document(&self, path: &Key, name: &'static str) -> Result<Option<Json>>;
}

impl Documents for Hierarchy {
    fn document(&self, path: &Key, name: &'static str) -> Result<Option<Json>> {
        let bytes = self.stored(path.join(name)?)?;
        bytes.map(|bytes| Json::parse_document(name, &bytes, &self.limits)).transpose()
    }
}

impl Node {
    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.metadata, Metadata::V3(v3::NodeMetadata::Array(_)) | Metadata::V2Array { .. })
    }

    /// How an array is cut into chunks, or shards, also where its codecs are not known.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) for more edges than `limits` have room
    /// for; [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a group.
    pub fn grid(&self, limits: &Limits) -> Result<ChunkGrid> {
        match &self.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => array.chunk_grid.geometry(&array.shape, limits),
            Metadata::V2Array { array, .. } => array.grid(),
            _ => Err(Error::invalid("is a group, not an array")),
        }
    }

    /// What the chunks of an array pass, first to last: names, and configurations as compact JSON. Also where a codec is
    /// not known.
    pub fn codecs(&self) -> Vec<(String, String)> {
        let text = |object: &Object| Json::Object(object.clone()).emit_compact();
        match &self.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => {
                let codecs = array.codecs.iter().map(|codec| {
                    (codec.name.clone(), codec.configuration.as_ref().map(text).unwrap_or_default())
                });
                codecs.collect()
            }
            Metadata::V2Array { array, .. } => {
                let codecs = array.filters.iter().flatten().chain(&array.compressor);
                codecs.map(|codec| (codec.id.clone(), text(&codec.parameters))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What users say of it.
    pub fn attributes(&self) -> Option<&Object> {
        match &self.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => array.attributes.as_ref(),
            Metadata::V3(v3::NodeMetadata::Group(group)) => group.attributes.as_ref(),
            Metadata::V2Array { attributes, .. } | Metadata::V2Group { attributes, .. } => {
                attributes.as_ref()
            }
            Metadata::Folder => None,
        }
    }

    /// Where its documents depart from the specification.
    pub fn deviations(&self) -> &[Deviation] {
        match &self.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => &array.deviations,
            Metadata::V3(v3::NodeMetadata::Group(group)) => &group.deviations,
            Metadata::V2Array { array, .. } => &array.deviations,
            Metadata::V2Group { .. } | Metadata::Folder => &[],
        }
    }
}

#[cfg(test)]
mod tests;
