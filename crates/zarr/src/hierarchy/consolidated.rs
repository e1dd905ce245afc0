//! Nodes by consolidated metadata.

use super::{Child, Documents, Hierarchy};
use crate::json::{Json, Object};
use crate::metadata::{v2, v3};
use crate::store::{EntryKind, Key, below};
use hyperslab_core::{Error, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The documents of all nodes of a store, unparsed.
pub(super) struct Consolidated {
    /// By the path of the node.
    nodes: BTreeMap<String, NodeDocuments>,
}

#[derive(Default)]
struct NodeDocuments {
    zarr_json: Option<Json>,
    zarray: Option<Json>,
    zgroup: Option<Json>,
    zattrs: Option<Json>,
}

impl Consolidated {
    /// What the root has of it, if anything.
    pub(super) fn read(hierarchy: &Hierarchy) -> Result<Option<Consolidated>> {
        let root = Key::root();
        let mut consolidated = Consolidated { nodes: BTreeMap::new() };
        if let Some(json) = hierarchy.document(&root, v3::DOCUMENT)? {
            // A root that cannot be read is told of when it is asked for.
            let Ok(v3::NodeMetadata::Group(group)) = v3::NodeMetadata::parse(&json, hierarchy.limits())
            else {
                return Ok(None);
            };
            let Some(copies) = group.consolidated_metadata else { return Ok(None) };
            for (path, document) in copies.metadata {
                consolidated.node(&path, v3::DOCUMENT)?.zarr_json = Some(document);
            }
            // The root is not among the copies. Without them it is the same node, and much smaller.
            let mut own =
                json.as_object().map_or_else(Object::new, |own| own.others(&["consolidated_metadata"]));
            own.insert("consolidated_metadata", v3::ConsolidatedMetadata::new(Object::new()).emit());
            consolidated.nodes.entry(String::new()).or_default().zarr_json = Some(Json::Object(own));
            return Ok(Some(consolidated));
        }
        let Some(json) = hierarchy.document(&root, v2::CONSOLIDATED)? else { return Ok(None) };
        let copies = v2::ConsolidatedMetadata::parse(&json, hierarchy.limits())?;
        for (key, document) in copies.metadata {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", &key));
            let document = Some(document);
            let node = consolidated.node(path, v2::CONSOLIDATED)?;
            match name {
                v2::ARRAY => node.zarray = document,
                v2::GROUP => node.zgroup = document,
                v2::ATTRIBUTES => node.zattrs = document,
                _ => {}
            }
        }
        Ok(Some(consolidated))
    }

    pub(super) fn children(&self, path: &Key) -> Result<Vec<Child>> {
        let mut children: Vec<Child> = Vec::new();
        for entry in below(&self.nodes, path) {
            // A node with others below it is a key, and the beginning of keys.
            let known = children.last().is_some_and(|last| last.path.name() == entry.name);
            let is_node = matches!(entry.kind, EntryKind::Value | EntryKind::Prefix);
            if is_node && !known && !entry.name.starts_with("__") {
                children.push(Child { path: path.join(&entry.name)?, is_alias: false });
            }
        }
        Ok(children)
    }

    fn node(&mut self, path: &str, document: &'static str) -> Result<&mut NodeDocuments> {
        let key = Key::new(path).map_err(|e| {
            Error::malformed(format!("{document}#/metadata: {} of consolidated metadata", e.detail()))
        })?;
        Ok(self.nodes.entry(key.as_str().to_owned()).or_default())
    }
}

impl Documents for Consolidated {
    fn document(&self, path: &Key, name: &'static str) -> Result<Option<Cow<'_, Json>>> {
        let Some(node) = self.nodes.get(path.as_str()) else { return Ok(None) };
        let document = match name {
            v3::DOCUMENT => &node.zarr_json,
            v2::ARRAY => &node.zarray,
            v2::GROUP => &node.zgroup,
            _ => &node.zattrs,
        };
        Ok(document.as_ref().map(Cow::Borrowed))
    }
}
