//! Groups and their members.

mod targets;

use super::context::{Context, NamedType, is_like};
use super::events::{Document, Key, Mapping, Node, Span, shown};
use super::storage::{Directives, Owner};
use super::{Missing, Parsed, Partial, TextPlace};
use hyperslab_model::{Content, EXTRA, Extent, Group, Link, Node as Object, NodeKind, NodePath};
use std::collections::{HashMap, HashSet};

/// Builds the content of a document. For a fragment, targets of references and links are not checked.
pub(super) fn read<'t>(document: &'t Document<'t>, mut context: Context<'t, '_>, is_whole: bool) -> Parsed {
    let groups = document.root().map(|root| context.groups(root)).unwrap_or_default();
    let is_foreign = is_whole && groups.is_empty() && context.refuse_foreign(document.root());
    let mut reader = Reader {
        context,
        declared: HashMap::new(),
        content: Content::default(),
        order: Vec::new(),
        partial: Vec::new(),
        hard_links: Vec::new(),
        shared: HashSet::new(),
    };
    for group in &groups {
        reader.declare(group);
    }
    reader.declare_dimcoords(&groups);
    reader.add_group(&NodePath::root(), Span::default());
    for group in &groups {
        if reader.context.findings.is_spent() {
            break;
        }
        reader.group(group);
    }
    if is_whole {
        reader.check_targets();
    }
    let Reader { context, declared, content, order, partial, .. } = reader;
    let (diagnostics, refusals) = (context.findings.finish(), context.refusals.finish());
    let place = |span: Span| TextPlace { line: span.line, column: span.column };
    let places = declared.into_iter().map(|(path, (_, span))| (path, place(span))).collect();
    Parsed { content, order, places, partial, diagnostics, refusals, is_foreign }
}

/// A group in the text.
struct Declared<'t> {
    path: NodePath,
    span: Span,
    entries: Vec<(Key<'t>, Node<'t>)>,
}

struct Reader<'t, 's> {
    context: Context<'t, 's>,
    /// The kind and place of every path.
    declared: HashMap<NodePath, (NodeKind, Span)>,
    content: Content,
    order: Vec<NodePath>,
    partial: Vec<Partial>,
    /// The places of hard links.
    hard_links: Vec<(NodePath, Span)>,
    /// The paths of ndarrays that are also those of dimensions without coordinates.
    shared: HashSet<NodePath>,
}

impl<'t> Context<'t, '_> {
    /// Refuses to make a file from a document that has no NDL key at all, not even a misspelt one: it is in another
    /// language. Returns whether this is the case.
    fn refuse_foreign(&mut self, root: Option<Node<'t>>) -> bool {
        let keys: Vec<(Key<'t>, Node<'t>)> =
            root.and_then(|root| root.mapping()).map(Mapping::iter).into_iter().flatten().collect();
        let is_meant = |(key, node): &(Key<'t>, Node<'t>)| {
            is_like(key.name, GROUP_KEYS) || key.name.contains('/') || has_key_of_group(*node)
        };
        let first = keys.iter().find(|(key, _)| !key.name.starts_with(EXTRA));
        let Some((key, _)) = first.filter(|_| !keys.iter().any(is_meant)) else { return false };
        let known = GROUP_KEYS.join(", ");
        self.refusals.error(
            "ndl/create",
            key.span,
            format!("no key of this document is an NDL key, expected one of {known}"),
        );
        true
    }

    fn groups(&mut self, root: Node<'t>) -> Vec<Declared<'t>> {
        let Some(mapping) = self.map(root, "a file") else { return Vec::new() };
        let (mut bare, mut groups, mut extra) = (Vec::new(), Vec::new(), Vec::new());
        let mut rooted = None;
        for (key, node) in mapping.iter() {
            if GROUP_KEYS.contains(&key.name) || key.name == "x-error" {
                bare.push((key, node));
            } else if key.name.starts_with(EXTRA) {
                // Writing a document makes a new head, so the old one is not kept.
                if key.name != "x-hyperslab" {
                    extra.push((key, node));
                }
            } else if key.name.starts_with('/') {
                let Some(path) = self.path(key.name, key.span) else { continue };
                if path.is_root() {
                    rooted = Some(key.span);
                }
                let mapping = self.map(node, "a group");
                let entries = mapping.map(|mapping| mapping.iter().collect()).unwrap_or_default();
                groups.push(Declared { path, span: key.span, entries });
            } else if key.name.contains('/') || has_key_of_group(node) {
                let message = format!("the group {}, whose path does not begin with /", shown(key.name));
                self.findings
                    .error("ndl/path", key.span, message)
                    .hint(format!("write {}", shown(&format!("/{}", key.name))));
            } else {
                self.unknown_section(key, node, "a file", GROUP_KEYS);
            }
        }
        if let (Some(rooted), Some((key, _))) = (rooted, bare.first()) {
            let message = format!(
                "the root group is given twice, as / here and by the bare key {} on line {}",
                key.name, key.span.line
            );
            let finding = self.findings.error("ndl/root", rooted, message);
            finding.hint("move the bare keys below /");
        }
        if let Some((key, _)) = bare.first() {
            groups.insert(0, Declared { path: NodePath::root(), span: key.span, entries: bare });
        }
        let root = groups.iter_mut().find(|group| group.path.is_root());
        match (root, extra.first()) {
            (Some(root), _) => root.entries.extend(extra),
            (None, Some((key, _))) => {
                groups.insert(0, Declared { path: NodePath::root(), span: key.span, entries: extra });
            }
            (None, None) => {}
        }
        groups
    }
}

impl<'t> Reader<'t, '_> {
    /// Records the kind of each path. If several objects have the same path, the first one is used.
    fn declare(&mut self, group: &Declared<'t>) {
        self.claim(&group.path, NodeKind::Group, group.span);
        for (key, node) in &group.entries {
            let Some(kind) = section_kind(key.name) else { continue };
            for (key, node) in node.mapping().map(Mapping::iter).into_iter().flatten() {
                if !self.context.findings.spend(PATH) {
                    return;
                }
                if key.name.is_empty() || key.name.contains('/') || matches!(key.name, "." | "..") {
                    let message = format!("the name {}, which cannot be part of a path", shown(key.name));
                    self.context.findings.error("ndl/path", key.span, message);
                    continue;
                }
                let path = group.path.child(key.name);
                if self.shares(group, &path, kind, node) {
                    self.shared.insert(path.clone());
                    // The path is that of the ndarray; in shapes it means the dimension.
                    if kind == NodeKind::Ndarray {
                        self.declared.insert(path, (kind, key.span));
                    }
                    continue;
                }
                if self.claim(&path, kind, key.span) && kind == NodeKind::Datatype {
                    self.context.types.insert(path, NamedType::Unread(node));
                }
            }
        }
    }

    /// Whether a dimension without coordinates and an ndarray share this path, and the member is the second of the two.
    fn shares(&self, group: &Declared<'t>, path: &NodePath, kind: NodeKind, node: Node<'t>) -> bool {
        let first = self.declared.get(path).map(|(kind, _)| *kind);
        let dimension = match (first, kind) {
            (Some(NodeKind::Ndarray), NodeKind::DimCoord) => Some(node),
            (Some(NodeKind::DimCoord), NodeKind::Ndarray) => {
                let section = group.entries.iter().find(|(key, _)| key.name == "dimcoords");
                section.and_then(|(_, node)| node.mapping()).and_then(|mapping| mapping.get(path.name()))
            }
            _ => None,
        };
        dimension.and_then(Node::mapping).is_some_and(|mapping| {
            let has = |key: &str| mapping.get(key).is_some();
            !self.shared.contains(path)
                && has("size")
                && !["type", "value", "attributes", "x-error"].into_iter().any(has)
        })
    }

    /// Reads the lengths of all dimensions before shapes refer to them.
    fn declare_dimcoords(&mut self, groups: &[Declared<'t>]) {
        for group in groups {
            let sparse = is_sparse(group);
            let sections = group.entries.iter().filter(|(key, _)| key.name == "dimcoords");
            for (key, node) in sections.flat_map(|(_, node)| node.mapping()).flat_map(Mapping::iter) {
                let path = group.path.child(key.name);
                if self.context.dimcoords.contains_key(&path) {
                    continue;
                }
                let Some(mapping) = node.mapping() else {
                    // Errors are reported when the dimension itself is read.
                    self.context.dimcoords.insert(path, Extent::Unlimited { current: 0 });
                    continue;
                };
                let extent = self.context.quietly(|context| {
                    let directives = context.storage(mapping.get("storage"), Owner::DimCoord);
                    context.extent(mapping, &directives, sparse)
                });
                // An error in a dimension is reported there, not at each use of its name.
                self.context.dimcoords.insert(path, extent.unwrap_or(Extent::Unlimited { current: 0 }));
            }
        }
    }

    fn claim(&mut self, path: &NodePath, kind: NodeKind, span: Span) -> bool {
        match self.declared.get(path) {
            Some((NodeKind::Group, _)) if kind == NodeKind::Group && path.is_root() => true,
            Some((other, Span { line, .. })) => {
                let message = format!("{path} is {} on line {line} and {} here", noun(*other), noun(kind));
                self.context.findings.error("ndl/duplicate-path", span, message);
                false
            }
            None => {
                self.declared.insert(path.clone(), (kind, span));
                true
            }
        }
    }

    /// Adds a group and the groups above it.
    fn add_group(&mut self, path: &NodePath, span: Span) -> bool {
        // The group is in the text; the groups above it may not be.
        let implied = path.depth().saturating_mul(path.as_str().len());
        if path.depth() > MAX_GROUPS || self.context.padding < implied {
            let message = format!("groups nested more than {MAX_GROUPS} levels deep");
            self.context.findings.error("ndl/depth", span, message);
            return false;
        }
        if !path.parent().is_none_or(|parent| self.content.nodes.contains_key(&parent)) {
            self.context.padding -= implied;
        }
        let mut missing = Vec::new();
        let mut at = Some(path.clone());
        while let Some(path) = at.take_if(|path| !self.content.nodes.contains_key(path)) {
            at = path.parent();
            missing.push(path);
        }
        for path in missing.into_iter().rev() {
            self.add(path, Object::Group(Group::default()));
        }
        true
    }

    fn add(&mut self, path: NodePath, object: Object) {
        let is_stored = object.storage().is_some_and(|storage| !storage.is_empty());
        if !self.context.findings.spend(OBJECT + if is_stored { STORAGE } else { 0 }) {
            return;
        }
        if self.content.nodes.insert(path.clone(), object).is_none() {
            self.order.push(path);
        }
    }

    /// Whether all objects above a group are groups. If not, adds an error.
    fn may_hold_groups(&mut self, group: &Declared<'t>) -> bool {
        let mut above = group.path.parent();
        while let Some(path) = above {
            if let Some((kind, span)) = self.declared.get(&path).filter(|(kind, _)| *kind != NodeKind::Group)
            {
                let line = span.line;
                let message = format!("{path} is {} on line {line} and cannot hold groups", noun(*kind));
                self.context.findings.error("ndl/path", group.span, message);
                return false;
            }
            above = path.parent();
        }
        true
    }

    fn group(&mut self, group: &Declared<'t>) {
        if group.path.depth() <= MAX_GROUPS && !self.may_hold_groups(group) {
            return;
        }
        let own = self.declared.get(&group.path);
        if own.is_none_or(|(kind, span)| {
            *kind != NodeKind::Group || !group.path.is_root() && span.line != group.span.line
        }) {
            return;
        }
        if !self.add_group(&group.path, group.span) {
            return;
        }
        let of = |name: &str| group.entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| *node);
        if let Some(reason) = of("x-error") {
            let unreadable =
                self.context.unreadable(reason, of("attributes"), Some(NodeKind::Group), group.path.as_str());
            self.add(group.path.clone(), Object::Unreadable(unreadable));
        } else {
            let attributes = self.context.attributes(of("attributes"));
            let Directives { mut storage, .. } = self.context.storage(of("storage"), Owner::Group);
            let extra = self.context.extra(group.entries.iter().copied());
            if !extra.is_empty() {
                storage.native.push((EXTRA, extra));
            }
            // A root group that is given both by bare keys and by path has already been reported. Both parts are read.
            match self.content.nodes.get_mut(&group.path) {
                Some(Object::Group(known)) => {
                    known.attributes.extend(attributes);
                    known.storage.native.extend(storage.native);
                }
                _ => self.add(
                    group.path.clone(),
                    Object::Group(Group { attributes, storage: storage.into(), ..Group::default() }),
                ),
            }
        }
        for (key, node) in &group.entries {
            match (key.name, section_kind(key.name)) {
                (_, Some(kind)) => self.section(group, *key, *node, kind),
                ("attributes" | "storage" | "cells" | "x-error", _) => {}
                _ => self.context.unknown_section(*key, *node, "a group", GROUP_KEYS),
            }
        }
        if let Some(cells) = of("cells") {
            self.cells(group, cells);
        }
    }

    /// The cells of a sparse array, whose columns are members of the group.
    fn cells(&mut self, group: &Declared<'t>, node: Node<'t>) {
        let content = &self.content;
        let cells = self.context.cells(node, |name| match content.nodes.get(&group.path.child(name)) {
            Some(Object::DimCoord(dimcoord)) => dimcoord.datatype.clone(),
            Some(Object::Ndarray(ndarray)) => ndarray.datatype.clone(),
            _ => None,
        });
        if let Some(Object::Group(known)) = self.content.nodes.get_mut(&group.path) {
            known.cells = cells;
        }
    }

    /// Records that an ndarray has no type or no shape, unless it is `present`.
    fn note_partial(&mut self, path: &NodePath, missing: Missing, present: bool, span: Span) {
        if !present {
            let key = if missing == Missing::Type { "type" } else { "shape" };
            self.context.refusals.error("ndl/create", span, format!("{path} without a {key}"));
            self.partial.push(Partial { path: path.clone(), missing });
        }
    }

    fn section(&mut self, group: &Declared<'t>, key: Key<'t>, node: Node<'t>, kind: NodeKind) {
        if matches!(kind, NodeKind::Datatype | NodeKind::Link) {
            self.context.extension(key.span, &format!("the key {}", key.name));
        }
        let Some(mapping) = self.context.map(node, key.name) else { return };
        for (key, node) in mapping.iter() {
            if self.context.findings.is_spent() {
                return;
            }
            let path = group.path.child(key.name);
            let is_shared = self.shared.contains(&path);
            if is_shared && kind == NodeKind::DimCoord {
                // Only its size is needed, which shapes already know; it is read to find errors in it.
                self.context.dimcoord(node, is_sparse(group));
                continue;
            }
            // The path of the declaration, so that each path is stored only once.
            let path = match self.declared.get_key_value(&path) {
                Some((path, (known, span))) if (*known, span.line) == (kind, key.span.line) => path.clone(),
                _ => continue,
            };
            let reason = node.mapping().and_then(|mapping| mapping.get("x-error"));
            let object = match (reason, kind) {
                (Some(reason), kind) => {
                    let known = ["x-error", "attributes"];
                    let beside = node.mapping().into_iter().flat_map(|mapping| mapping.iter());
                    for (key, _) in beside.filter(|(key, _)| !known.contains(&key.name)) {
                        self.context.unknown_key(key, "an object that could not be read", &known);
                    }
                    let attributes = node.mapping().and_then(|mapping| mapping.get("attributes"));
                    Some(Object::Unreadable(self.context.unreadable(
                        reason,
                        attributes,
                        Some(kind),
                        path.as_str(),
                    )))
                }
                (_, NodeKind::DimCoord) => {
                    self.context.dimcoord(node, is_sparse(group)).map(Object::DimCoord)
                }
                (_, NodeKind::Ndarray) => self.context.ndarray(node, &group.path).map(Object::Ndarray),
                (_, NodeKind::Datatype) => self.context.named_datatype(node, &path).map(Object::Datatype),
                (_, NodeKind::Link) => self.context.link(node).map(Object::Link),
                _ => None,
            };
            let Some(mut object) = object else { continue };
            if let (true, Object::Ndarray(ndarray)) = (is_shared, &mut object) {
                ndarray.dimension = self.context.dimcoords.get(&path).copied();
            }
            if let Object::Ndarray(ndarray) = &object {
                let mapping = node.mapping();
                let has = |key: &str| mapping.is_some_and(|mapping| mapping.get(key).is_some());
                self.note_partial(&path, Missing::Type, ndarray.datatype.is_some(), key.span);
                self.note_partial(&path, Missing::Shape, has("shape") || has("value"), key.span);
            }
            match &object {
                Object::Ndarray(one) => {
                    self.context.check_fill(node, &one.attributes, &one.storage, one.datatype.as_deref());
                }
                Object::DimCoord(one) => {
                    self.context.check_fill(node, &one.attributes, &one.storage, one.datatype.as_deref());
                }
                _ => {}
            }
            if let Object::Link(Link::Hard(_)) = &object {
                self.hard_links.push((path.clone(), node.span()));
            }
            self.add(path, object);
        }
    }
}

/// Whether a map has a key of groups.
fn has_key_of_group(node: Node<'_>) -> bool {
    node.mapping().is_some_and(|map| map.iter().any(|(key, _)| GROUP_KEYS.contains(&key.name)))
}

/// Whether a group is a sparse array. Its dimensions of size null have no length.
fn is_sparse(group: &Declared<'_>) -> bool {
    let storage = group.entries.iter().find(|(key, _)| key.name == "storage").map(|(_, node)| *node);
    let tiledb = storage.and_then(Node::mapping).and_then(|storage| storage.get("tiledb"));
    let array = tiledb.and_then(Node::mapping).and_then(|tiledb| tiledb.get("array"));
    array.and_then(Node::scalar).is_some_and(|scalar| scalar.text == "sparse")
}

fn section_kind(name: &str) -> Option<NodeKind> {
    match name {
        "datatypes" => Some(NodeKind::Datatype),
        "dimcoords" => Some(NodeKind::DimCoord),
        "ndarrays" => Some(NodeKind::Ndarray),
        "links" => Some(NodeKind::Link),
        _ => None,
    }
}

fn noun(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Group => "a group",
        NodeKind::DimCoord => "a dimcoord",
        NodeKind::Ndarray => "an ndarray",
        NodeKind::Datatype => "a datatype",
        NodeKind::Link => "a link",
        NodeKind::Unreadable => "an unreadable object",
    }
}

/// The memory of a path and its place.
const PATH: u64 = 160;

/// The memory of an object without storage, attributes and values.
const OBJECT: u64 = 500;

/// The memory of storage.
const STORAGE: u64 = 800;

/// The maximum nesting of groups.
const MAX_GROUPS: usize = 256;

/// The keys of a group, except those that begin with `x-` and paths of groups.
pub const GROUP_KEYS: &[&str] =
    &["attributes", "datatypes", "dimcoords", "ndarrays", "cells", "links", "storage"];
