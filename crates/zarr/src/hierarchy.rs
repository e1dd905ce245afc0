//! The nodes of a store: groups and arrays of version 2 or 3, from their own documents or from consolidated metadata.
//!
//! Spec: Zarr v3 "Hierarchy", Zarr v2 "Hierarchies"

mod consolidated;
mod fetched;
mod remains;
mod stored;
mod walk;

pub use remains::Remains;
pub use stored::ChunkVisitor;
pub use walk::Walk;

use crate::json::{Deviation, Json, Object, most_text, text};
use crate::metadata::{v2, v3};
use bytes::Bytes;
use consolidated::Consolidated;
use fetched::Fetched;
use hyperslab_core::nd::ChunkGrid;
use hyperslab_core::store::{EntryKind, Key, Store};
use hyperslab_core::{Error, Limits, Result};
use std::sync::Arc;

/// A store as a hierarchy of groups and arrays.
#[derive(Clone)]
pub struct Hierarchy {
    store: Arc<dyn Store>,
    limits: Limits,
    consolidated: Option<Arc<Consolidated>>,
    /// The fetched documents of a remote store.
    fetched: Option<Arc<Fetched>>,
}

/// A group or an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The path in the store.
    pub path: Key,
    /// The parsed documents.
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
    /// No document: a folder that contains nodes, for example in a zip file of the folder of a store.
    Folder,
}

/// An entry directly below a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The path in the store.
    pub path: Key,
    /// Whether the entry is a link to another folder of the store. Following such links may never end.
    pub is_alias: bool,
    /// Why the entry cannot be followed: a link out of the store or to nothing, or a name that is not Unicode. It may be
    /// a node.
    pub unfollowed: Option<&'static str>,
}

impl Child {
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the entry cannot be followed.
    pub fn check(&self) -> Result<()> {
        match self.unfollowed {
            None => Ok(()),
            Some(why) => Err(Error::unsupported(format!("{why}, and is not followed"))),
        }
    }
}

impl Hierarchy {
    /// Opens a store. If its root has consolidated metadata, all nodes are read from it.
    ///
    /// # Errors
    /// If consolidated metadata exists and is malformed. [`Hierarchy::unconsolidated`] ignores it.
    pub fn open(store: Arc<dyn Store>, limits: Limits) -> Result<Hierarchy> {
        let mut hierarchy = Hierarchy::unconsolidated(store, limits);
        hierarchy.consolidated = Consolidated::read(&hierarchy)?.map(Arc::new);
        Ok(hierarchy)
    }

    /// Opens a store without consolidated metadata: all nodes are read from their own documents.
    pub fn unconsolidated(store: Arc<dyn Store>, limits: Limits) -> Hierarchy {
        let fetched = store.is_far().then(Arc::default);
        Hierarchy { store, limits, consolidated: None, fetched }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The limits of memory for documents and chunks.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether nodes are read from consolidated metadata.
    pub fn is_consolidated(&self) -> bool {
        self.consolidated.is_some()
    }

    /// The node at `path`. `None` if there is no node.
    ///
    /// # Errors
    /// If the documents of the node cannot be read.
    pub fn node(&self, path: &Key) -> Result<Option<Node>> {
        self.fetch(std::iter::once(path));
        let metadata =
            self.parse(path, self.documents()).map_err(|e| e.in_object(format_args!("/{path}")))?;
        Ok(metadata.map(|metadata| Node { path: path.clone(), metadata }))
    }

    /// The node at `path`, or the folder at `path` if it directly contains nodes. A folder is accepted only as the start
    /// of a walk: below it, the specification requires a document for each group.
    ///
    /// # Errors
    /// As [`Hierarchy::node`] and [`Hierarchy::children`].
    pub fn node_or_folder(&self, path: &Key) -> Result<Option<Node>> {
        if let Some(node) = self.node(path)? {
            return Ok(Some(node));
        }
        for child in self.children(path)?.iter().filter(|child| child.unfollowed.is_none()) {
            // A node that cannot be read also counts.
            if !matches!(self.node(&child.path), Ok(None)) {
                return Ok(Some(Node { path: path.clone(), metadata: Metadata::Folder }));
            }
        }
        Ok(None)
    }

    /// The readable facts about the node at `path` if [`Hierarchy::node`] fails.
    pub fn remains(&self, path: &Key) -> Remains {
        Remains::of(self, path)
    }

    /// The entries directly below `path` that may be nodes, sorted by name. [`Hierarchy::node`] decides.
    ///
    /// Names that begin with `__` are included: version 2 allows them, and other readers of version 3 also show such
    /// nodes, although it reserves the names.
    ///
    /// # Errors
    /// If the store cannot be listed, or has names that are not allowed in keys.
    pub fn children(&self, path: &Key) -> Result<Vec<Child>> {
        if let Some(consolidated) = &self.consolidated {
            return consolidated.children(path);
        }
        let mut children = Vec::new();
        for entry in self.store.list(path).map_err(|e| e.in_object(format_args!("/{path}")))? {
            let (is_alias, unfollowed) = match entry.kind {
                EntryKind::Prefix => (false, None),
                EntryKind::Alias => (true, None),
                EntryKind::Unfollowed(why) => (false, Some(why)),
                // No node is a file.
                EntryKind::Value | EntryKind::Refused(_) => continue,
            };
            children.push(Child { path: path.join(&entry.name)?, is_alias, unfollowed });
        }
        Ok(children)
    }

    /// All nodes from `path` on, parents before children. `path` may be a folder of nodes. An unreadable node does not
    /// hide other nodes.
    ///
    /// Links to folders are listed but not followed, so that cycles end.
    pub fn walk(&self, path: &Key) -> Walk<'_> {
        Walk::new(self, path)
    }

    /// The source of documents: the folder of the node, or consolidated metadata.
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

    /// A document as stored.
    fn stored(&self, key: Key) -> Result<Option<Bytes>> {
        let most = most_text(&self.limits);
        let Some(fetched) = &self.fetched else { return self.store.read(&key, most) };
        if let Some(document) = fetched.get(&key) {
            return Ok(document);
        }
        let document = self.store.read(&key, most)?;
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

/// A source of documents of nodes.
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

    /// The grid of the chunks or shards of an array, even if its codecs are unknown.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if the edges take more memory
    /// than `limits` allow; [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a group.
    pub fn grid(&self, limits: &Limits) -> Result<ChunkGrid> {
        match &self.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => array.chunk_grid.geometry(&array.shape, limits),
            Metadata::V2Array { array, .. } => array.grid(),
            _ => Err(Error::invalid("is a group, not an array")),
        }
    }

    /// The codecs of an array in encoding order: names, and configurations as compact JSON. Unknown codecs are included.
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

    /// The user attributes.
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

    /// The deviations of the documents from the specification that were accepted.
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
