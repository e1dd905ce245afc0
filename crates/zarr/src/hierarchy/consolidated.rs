//! Reads nodes from consolidated metadata.

use super::{Child, Documents, Hierarchy};
use crate::json::{Json, Object};
use crate::metadata::{v2, v3};
use hyperslab_core::store::{EntryKind, Key, below};
use hyperslab_core::{Error, Limits, Result};
use std::collections::BTreeMap;
use std::ops::Range;

/// The documents of all nodes of a store. Each is parsed on request: parsed values take several times as much memory as
/// their text, and most of the time to read them goes into allocating and freeing values.
pub(super) struct Consolidated {
    /// The name of the document that contains the text.
    document: &'static str,
    text: String,
    limits: Limits,
    /// The root's own document if the copies do not include it.
    own: Option<Json>,
    /// The places of the documents, by the path of their node.
    nodes: BTreeMap<String, NodeDocuments>,
}

/// The ranges of the documents of a node in the text.
#[derive(Default)]
struct NodeDocuments {
    zarr_json: Option<Range<usize>>,
    zarray: Option<Range<usize>>,
    zgroup: Option<Range<usize>>,
    zattrs: Option<Range<usize>>,
}

impl Consolidated {
    /// Reads the consolidated metadata of the root. `None` if it has none.
    pub(super) fn read(hierarchy: &Hierarchy) -> Result<Option<Consolidated>> {
        if let Some(text) = hierarchy.text(v3::DOCUMENT)? {
            return Consolidated::of_v3(text, hierarchy.limits());
        }
        let text = hierarchy.text(v2::CONSOLIDATED)?;
        text.map(|text| Consolidated::of_v2(text, hierarchy.limits())).transpose()
    }

    fn of_v3(text: String, limits: &Limits) -> Result<Option<Consolidated>> {
        let (json, copies) = Json::parse_apart(v3::DOCUMENT, &text, &v3::ConsolidatedMetadata::WAY, limits)?;
        // If the root cannot be read, the error is returned when the root is requested.
        let Ok(v3::NodeMetadata::Group(group)) = v3::NodeMetadata::parse(&json, limits) else {
            return Ok(None);
        };
        if group.consolidated_metadata.is_none() {
            return Ok(None);
        }
        let mut consolidated = Consolidated::new(v3::DOCUMENT, text, limits);
        for (path, document) in copies {
            consolidated.node(&path)?.zarr_json = Some(document);
        }
        // The copies do not include the root. Its own document without the copies gives the same node.
        let mut own = json.as_object().map_or_else(Object::new, |own| own.others(&["consolidated_metadata"]));
        own.insert("consolidated_metadata", v3::ConsolidatedMetadata::new(Object::new()).emit());
        consolidated.nodes.entry(String::new()).or_default().zarr_json = None;
        consolidated.own = Some(Json::Object(own));
        Ok(Some(consolidated))
    }

    fn of_v2(text: String, limits: &Limits) -> Result<Consolidated> {
        let (json, copies) =
            Json::parse_apart(v2::CONSOLIDATED, &text, &v2::ConsolidatedMetadata::WAY, limits)?;
        v2::ConsolidatedMetadata::parse(&json, limits)?;
        let mut consolidated = Consolidated::new(v2::CONSOLIDATED, text, limits);
        for (key, document) in copies {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", &key));
            let document = Some(document);
            let node = consolidated.node(path)?;
            match name {
                v2::ARRAY => node.zarray = document,
                v2::GROUP => node.zgroup = document,
                v2::ATTRIBUTES => node.zattrs = document,
                _ => {}
            }
        }
        Ok(consolidated)
    }

    fn new(document: &'static str, text: String, limits: &Limits) -> Consolidated {
        Consolidated { document, text, limits: *limits, own: None, nodes: BTreeMap::new() }
    }

    pub(super) fn children(&self, path: &Key) -> Result<Vec<Child>> {
        let mut children: Vec<Child> = Vec::new();
        for entry in below(&self.nodes, path) {
            // A node with children is both a key and a prefix of keys.
            let known = children.last().is_some_and(|last| last.path.name() == entry.name);
            let is_node = matches!(entry.kind, EntryKind::Value | EntryKind::Prefix);
            if is_node && !known {
                children.push(Child { path: path.join(&entry.name)?, is_alias: false, unfollowed: None });
            }
        }
        Ok(children)
    }

    fn node(&mut self, path: &str) -> Result<&mut NodeDocuments> {
        let document = self.document;
        let key = Key::new(path).map_err(|e| {
            Error::malformed(format!("{document}#/metadata: {} of consolidated metadata", e.detail()))
        })?;
        Ok(self.nodes.entry(key.into()).or_default())
    }
}

impl Documents for Consolidated {
    fn document(&self, path: &Key, name: &'static str) -> Result<Option<Json>> {
        let Some(node) = self.nodes.get(path.as_str()) else { return Ok(None) };
        let part = match name {
            v3::DOCUMENT if path.is_root() => return Ok(self.own.clone()),
            v3::DOCUMENT => &node.zarr_json,
            v2::ARRAY => &node.zarray,
            v2::GROUP => &node.zgroup,
            _ => &node.zattrs,
        };
        let parse = |part| Json::parse_part(self.document, &self.text, part, name, &self.limits);
        part.as_ref().map(parse).transpose()
    }
}
