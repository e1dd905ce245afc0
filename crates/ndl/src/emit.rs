//! Writes documents, object by object.

mod section;

use crate::extensions::Extensions;
use crate::lower::{self, Lower};
use crate::quote::is_hidden;
use crate::tree::{Entries, Key, Tree};
use crate::{json, yaml};
use hyperslab_core::{Error, Result};
use hyperslab_model::{DimCoord, Group, Ndarray, Node, NodeKind, NodePath, Unreadable};
use section::{OpenGroup, Section};
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// The syntax of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML that versions 1.1 and 1.2 read in the same way.
    Yaml,
    /// JSON, without short forms.
    Json,
}

/// What a document contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The number of elements up to which values of arrays were requested. It affects only the head of the document:
    /// any array that has a value is written with it.
    pub values: Option<u64>,
    /// How much of `storage` is written.
    pub storage: StorageDetail,
    /// Pure NDL 0.6.1, without extensions. What it cannot express is written differently, omitted with a note, or
    /// rejected.
    pub pure: bool,
    /// Whether attribute strings are NetCDF characters by default.
    pub texts_are_characters: bool,
}

/// How much of `storage` is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StorageDetail {
    /// Only directives that differ from the defaults.
    #[default]
    Brief,
    /// All directives.
    Full,
    /// No `storage` at all.
    None,
}

/// The head of a document.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The name of the file.
    pub location: &'a str,
    /// Its format as one word: `netcdf4`.
    pub format: &'a str,
    /// Its format as a title: `NetCDF-4`.
    pub title: &'a str,
    /// The version of this program.
    pub version: &'a str,
}

/// Writes the document of one file.
///
/// Groups must come before their members and subgroups, and all members of a group before the next group. If an
/// object fails, nothing of it is written, and it can be added again as [`Node::Unreadable`].
#[derive(Debug)]
pub struct Emitter {
    format: Format,
    options: Options,
    dimcoords: HashMap<NodePath, bool>,
    extensions: Extensions,
    changes: Vec<Change>,
    open: Option<OpenGroup>,
    /// Groups that are complete, in order.
    body: Vec<Whole>,
    /// Groups that were opened, and the groups above them.
    seen: HashSet<NodePath>,
    /// Groups with subgroups.
    parents: HashSet<NodePath>,
}

/// A complete group. Its text is empty if it has no content.
#[derive(Debug)]
struct Whole {
    path: NodePath,
    text: String,
    /// The reason why it could not be read. Some of its members can follow nevertheless.
    reason: Option<String>,
}

#[derive(Debug)]
struct Change {
    description: &'static str,
    first: NodePath,
    count: u64,
}

impl Emitter {
    /// An empty document.
    pub fn new(format: Format, options: Options) -> Self {
        Emitter {
            format,
            options,
            dimcoords: HashMap::new(),
            extensions: Extensions::default(),
            changes: Vec::new(),
            open: None,
            body: Vec::new(),
            seen: HashSet::new(),
            parents: HashSet::new(),
        }
    }

    /// Declares a dimension before it is added, and whether it has coordinates or only a size. Shapes refer to a
    /// dimension by its bare name unless another known dimension hides it.
    pub fn declare_dimcoord(&mut self, path: &NodePath, coordinates: bool) {
        self.dimcoords.insert(path.clone(), coordinates);
    }

    /// Adds an object. The groups above it need not be added.
    ///
    /// # Errors
    /// If its group is already complete, if values do not fit their type or shape, or if pure NDL cannot express it.
    pub fn node(&mut self, path: &NodePath, node: &Node) -> Result<()> {
        self.add(path, node).map_err(|e| e.in_object(path))
    }

    /// Changes that pure NDL required, each with the first object that needed it.
    pub fn notes(&self) -> Vec<String> {
        let note = |change: &Change| match change.count {
            1 => format!("{}: {}", change.first, change.description),
            count => format!("{} and {} more: {}", change.first, count - 1, change.description),
        };
        self.changes.iter().map(note).collect()
    }

    /// Writes the whole document to `out`.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn finish(mut self, head: &Head<'_>, out: &mut dyn Write) -> Result<()> {
        let bare = |group: &OpenGroup| group.path.is_root() && group.behind.is_empty();
        let alone = self.body.is_empty() && self.open.as_ref().is_none_or(bare);
        match (self.format, alone) {
            (Format::Yaml, true) => {
                self.write_head(head, out)?;
                let root = self.open.take().map(OpenGroup::bare).filter(|text| !text.is_empty());
                out.write_all(root.as_deref().unwrap_or("{}\n").as_bytes())?;
            }
            (Format::Yaml, false) => {
                self.close();
                self.write_head(head, out)?;
                self.write_yaml(out)?;
            }
            (Format::Json, _) => {
                self.close();
                self.write_json(head, out)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &NodePath, node: &Node) -> Result<()> {
        if path.is_root() && !matches!(node, Node::Group(_) | Node::Unreadable(_)) {
            return Err(Error::invalid("the root is not a group"));
        }
        match node {
            Node::Group(group) => return self.group(path, group),
            Node::Unreadable(object) if object.found == Some(NodeKind::Group) || path.is_root() => {
                return self.unreadable_group(path, object);
            }
            _ => {}
        }
        let parent = match &self.open {
            Some(open) if lower::is_member(path, &open.path) => open.path.clone(),
            _ => path.parent().unwrap_or_else(NodePath::root),
        };
        let named = match node {
            Node::Ndarray(Ndarray { dimension: Some(size), .. }) => {
                Some(DimCoord::without_coordinates(*size))
            }
            _ => None,
        };
        if named.is_some() {
            self.declare_dimcoord(path, false);
        }
        let known = &self.dimcoords;
        let mut lower = Lower::new(known, self.options, self.format, self.extensions);
        let (section, tree) = match node {
            Node::Ndarray(ndarray) => (Section::Ndarrays, Some(lower.ndarray(&parent, ndarray)?)),
            Node::DimCoord(dimcoord) => (Section::DimCoords, lower.dimcoord(dimcoord)?),
            Node::Datatype(named) => (Section::Datatypes, lower.named(named)?),
            Node::Link(link) => (Section::Links, lower.link(link)),
            Node::Unreadable(object) => (section_of(object.found), Some(lower.unreadable(object)?)),
            Node::Group(_) => return Ok(()),
        };
        let named = named.as_ref().map(|named| lower.dimcoord(named)).transpose()?.flatten();
        let (extensions, changes) = (lower.extensions, lower.changes);
        self.enter(&parent)?;
        self.found(path, extensions, changes);
        match node {
            Node::DimCoord(dimcoord) => self.declare_dimcoord(path, dimcoord.datatype.is_some()),
            // Its name still hides others.
            Node::Unreadable(Unreadable { found: Some(NodeKind::DimCoord), .. }) => {
                self.declare_dimcoord(path, false);
            }
            _ => {}
        }
        if let Some(open) = &mut self.open {
            let sections = [(Section::DimCoords, named), (section, tree)];
            for (section, tree) in sections.into_iter().filter_map(|(section, tree)| Some((section, tree?))) {
                open.add(section, Key::Name(path.name()), &tree);
            }
        }
        Ok(())
    }

    fn group(&mut self, path: &NodePath, group: &Group) -> Result<()> {
        let mut lower = Lower::new(&self.dimcoords, self.options, self.format, self.extensions);
        let attributes = lower.attributes(&group.attributes)?;
        let cells = group.cells.as_ref().map(|cells| lower.cells(cells)).transpose()?.unwrap_or_default();
        let storage = lower.storage(None, &group.storage, None)?;
        let mut extra = Entries::new();
        lower.push_extra(&mut extra, &group.storage);
        let (extensions, changes) = (lower.extensions, lower.changes);
        if self.seen.contains(path) && self.open.as_ref().is_none_or(|open| open.path != *path) {
            return Err(Error::invalid("the group was given before"));
        }
        self.enter(path)?;
        self.found(path, extensions, changes);
        if let Some(open) = &mut self.open {
            for (name, tree) in &attributes {
                open.add(Section::Attributes, *name, tree);
            }
            for (name, tree) in &cells {
                open.add(Section::Cells, *name, tree);
            }
            for (name, tree) in &storage {
                open.add(Section::Storage, *name, tree);
            }
            open.add_extra(&extra);
        }
        Ok(())
    }

    /// Starts adding members to the group `path`.
    fn enter(&mut self, path: &NodePath) -> Result<()> {
        if self.open.as_ref().is_some_and(|open| open.path == *path) {
            return Ok(());
        }
        let reason = match self.seen.contains(path) {
            true => Some(self.take_reason(path).ok_or_else(|| Error::invalid("its group is over"))?),
            false => {
                self.begin(path)?;
                None
            }
        };
        self.close();
        let bare = path.is_root() && self.body.is_empty();
        self.open = Some(OpenGroup::new(path.clone(), self.format, bare, reason));
        Ok(())
    }

    /// Removes an unreadable group that was already written. Returns the reason why it could not be read.
    fn take_reason(&mut self, path: &NodePath) -> Option<String> {
        let is_it = |whole: &Whole| whole.path == *path && whole.reason.is_some();
        let among = |groups: &mut Vec<Whole>| groups.iter().rposition(is_it).map(|at| groups.remove(at));
        let behind = self.open.as_mut().and_then(|open| among(&mut open.behind));
        behind.or_else(|| among(&mut self.body))?.reason
    }

    /// Marks a group as begun, which each group can be once.
    fn begin(&mut self, path: &NodePath) -> Result<()> {
        if !self.seen.insert(path.clone()) {
            return Err(Error::invalid("its group is over"));
        }
        let mut below = path.parent();
        while let Some(parent) = below {
            below = parent.parent();
            if !self.parents.insert(parent) {
                break;
            }
        }
        Ok(())
    }

    /// An unreadable group can come among the members of its parent. It is then written after the parent.
    fn unreadable_group(&mut self, path: &NodePath, object: &Unreadable) -> Result<()> {
        let mut lower = Lower::new(&self.dimcoords, self.options, self.format, self.extensions);
        let attributes = lower.attributes(&object.attributes)?;
        let (extensions, changes) = (lower.extensions, lower.changes);
        let mut group = OpenGroup::new(path.clone(), self.format, false, Some(object.reason.clone()));
        for (name, tree) in &attributes {
            group.add(Section::Attributes, *name, tree);
        }
        self.begin(path)?;
        self.found(path, extensions, changes);
        let text = match object.attributes.is_empty() {
            true => self.group_entry(path, &lower::unreadable(object)),
            false => group.text(),
        };
        let whole = Whole { path: path.clone(), text, reason: Some(object.reason.clone()) };
        match &mut self.open {
            Some(open) => open.behind.push(whole),
            None => self.body.push(whole),
        }
        Ok(())
    }

    /// Completes the open group.
    fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            let (path, behind) = (open.path.clone(), std::mem::take(&mut open.behind));
            self.body.push(Whole { text: open.text(), path, reason: None });
            self.body.extend(behind);
        }
    }

    fn found(&mut self, path: &NodePath, extensions: Extensions, changes: Vec<&'static str>) {
        self.extensions = extensions;
        for description in changes {
            match self.changes.iter_mut().find(|change| change.description == description) {
                Some(change) => change.count += 1,
                None => self.changes.push(Change { description, first: path.clone(), count: 1 }),
            }
        }
    }

    fn group_entry(&self, path: &NodePath, tree: &Tree<'_>) -> String {
        let mut text = String::new();
        match self.format {
            Format::Yaml => drop(yaml::entry(&mut text, Key::Name(path.as_str()), tree, 0)),
            Format::Json => json::entry(&mut text, Key::Name(path.as_str()), tree, 2),
        }
        text
    }

    fn write_head(&self, head: &Head<'_>, out: &mut dyn Write) -> Result<()> {
        let one_line = |text: &str| text.replace(is_hidden, "\u{fffd}");
        let values = match self.options.values {
            None => String::new(),
            Some(u64::MAX) => " with --values".into(),
            Some(most) => format!(" with --values={most}"),
        };
        writeln!(
            out,
            "# NDL 0.6.1, described from {} ({}){values}",
            one_line(head.location),
            one_line(head.title)
        )?;
        let extensions: Vec<_> = self.extensions.names().collect();
        if !extensions.is_empty() {
            writeln!(out, "# extensions: {}", extensions.join(", "))?;
        }
        writeln!(out)?;
        Ok(())
    }

    /// Groups that must be written: those with content, and those without subgroups.
    fn groups(&self) -> impl Iterator<Item = &Whole> {
        self.body.iter().filter(|whole| !whole.text.is_empty() || !self.parents.contains(&whole.path))
    }

    fn write_yaml(&self, out: &mut dyn Write) -> Result<()> {
        let mut parted = true;
        for Whole { path, text, .. } in self.groups() {
            if !parted {
                out.write_all(b"\n")?;
            }
            if text.is_empty() {
                out.write_all(self.group_entry(path, &Tree::map(Vec::new())).as_bytes())?;
            }
            out.write_all(text.as_bytes())?;
            // A text that keeps its empty lines at the end already has a blank line after it.
            parted = text.ends_with("\n\n");
        }
        Ok(())
    }

    fn write_json(&self, head: &Head<'_>, out: &mut dyn Write) -> Result<()> {
        let mut text = String::from("{\n");
        let mut entries: Vec<_> =
            [("version", head.version), ("location", head.location), ("format", head.format)]
                .map(|(key, value)| (Key::Word(key), Tree::text(value)))
                .into();
        match self.options.values {
            None => {}
            Some(u64::MAX) => entries.push((Key::Word("values"), Tree::text("all"))),
            Some(most) => entries.push((Key::Word("values"), Tree::int(most))),
        }
        let mut extensions = self.extensions.names().peekable();
        if extensions.peek().is_some() {
            entries.push((Key::Word("extensions"), Tree::list(extensions.map(Tree::text))));
        }
        json::entry(&mut text, Key::Word("x-hyperslab"), &Tree::map(entries), 2);
        out.write_all(text.as_bytes())?;
        for Whole { path, text, .. } in self.groups() {
            out.write_all(b",\n")?;
            if text.is_empty() {
                out.write_all(self.group_entry(path, &Tree::map(Vec::new())).as_bytes())?;
            }
            out.write_all(text.as_bytes())?;
        }
        out.write_all(b"\n}\n")?;
        Ok(())
    }
}

impl<'e> Lower<'e> {
    fn new(
        dimcoords: &'e HashMap<NodePath, bool>,
        options: Options,
        format: Format,
        extensions: Extensions,
    ) -> Self {
        let Options { storage: detail, pure, texts_are_characters, .. } = options;
        Lower {
            dimcoords,
            detail,
            pure,
            texts_are_characters,
            long: format == Format::Json,
            extensions,
            changes: Vec::new(),
        }
    }
}

fn section_of(found: Option<NodeKind>) -> Section {
    match found {
        Some(NodeKind::Datatype) => Section::Datatypes,
        Some(NodeKind::DimCoord) => Section::DimCoords,
        Some(NodeKind::Link) => Section::Links,
        _ => Section::Ndarrays,
    }
}
