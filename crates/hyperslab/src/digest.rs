//! Computes one hash per object from its contents, independent of format, chunks, compression, byte order and string
//! padding: the content digest, version 1.

mod cells;
mod element;

use crate::source::engine::stream;
use crate::source::{ArraySource, Asked, Counted, Entry, Handle, Item, MissingSources, Source};
use crate::strings::with_slashes;
use crate::walk::{Step, walk};
use element::{Hashing, head};
use hyperslab_core::nd::{Region, element_count};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Attribute, DimCoord, Element, Elements, Link, Node, NodeKind, NodePath, Unreadable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write as _;

/// One line of a digest.
#[derive(Clone, Debug)]
pub struct Line {
    /// The path of the object, with `@NAME` for an attribute.
    pub path: String,
    /// The content of the line.
    pub content: LineContent,
    /// The sources of a virtual array that do not exist: the digest is that of fill values.
    pub missing: MissingSources,
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineContent {
    /// A group.
    Group,
    /// A named datatype.
    Datatype {
        /// The canonical text of the datatype.
        datatype: String,
    },
    /// A link. It is not followed.
    Link {
        /// The target.
        target: String,
    },
    /// An array, a dimension coordinate or an attribute.
    Hashed {
        /// `array` or `attribute`.
        kind: &'static str,
        /// The canonical text of the datatype.
        datatype: String,
        /// Current extents; `None` for a null dataspace.
        shape: Option<Vec<u64>>,
        /// BLAKE3 of the content.
        digest: blake3::Hash,
    },
    /// An object that cannot be read.
    Error {
        /// The kind of the object.
        kind: &'static str,
        /// The kind of the error.
        cause: ErrorKind,
        /// The reason, with the structure and the byte position.
        reason: String,
    },
}

impl Line {
    pub(crate) fn new(path: String, content: LineContent) -> Line {
        Line { path, content, missing: MissingSources::default() }
    }

    /// The line as JSON.
    pub fn to_json(&self) -> String {
        self.to_json_behind("{")
    }

    /// The line as JSON, with the name of its store.
    pub fn to_json_of(&self, store: &str) -> String {
        self.to_json_behind(&format!("{{\"file\":{},", json(store)))
    }

    /// The line as JSON, after the members in `first`.
    fn to_json_behind(&self, first: &str) -> String {
        let mut out = format!("{first}\"path\":{}", json(&self.path));
        // Writing to a String cannot fail.
        let _ = match &self.content {
            LineContent::Group => write!(out, ",\"kind\":\"group\"}}"),
            LineContent::Datatype { datatype } => {
                write!(out, ",\"kind\":\"datatype\",\"type\":{}}}", json(datatype))
            }
            LineContent::Link { target } => write!(out, ",\"kind\":\"link\",\"target\":{}}}", json(target)),
            LineContent::Hashed { kind, datatype, shape, digest } => {
                let shape = shape.as_ref().map_or("null".into(), |shape| shape_text(shape));
                write!(
                    out,
                    ",\"kind\":\"{kind}\",\"type\":{},\"shape\":{shape},\"digest\":\"blake3:{digest}\"}}",
                    json(datatype)
                )
            }
            LineContent::Error { kind, reason, .. } => {
                write!(out, ",\"kind\":\"{kind}\",\"error\":{}}}", json(reason))
            }
        };
        out
    }

    /// Kind, path, type, shape and digest or target, as columns.
    pub fn columns(&self) -> [String; 5] {
        let columns = |kind: &str, datatype: &str, shape: String, last: String| {
            [kind.to_owned(), self.path.clone(), datatype.to_owned(), shape, last]
        };
        match &self.content {
            LineContent::Group => columns("group", "", String::new(), String::new()),
            LineContent::Datatype { datatype } => columns("datatype", datatype, String::new(), String::new()),
            LineContent::Link { target } => columns("link", "", String::new(), format!("-> {target}")),
            LineContent::Hashed { kind, datatype, shape, digest } => {
                let shape = shape.as_ref().map_or("null".into(), |shape| shape_text(shape));
                columns(kind, datatype, shape, format!("blake3:{digest}"))
            }
            LineContent::Error { kind, reason, .. } => {
                columns(kind, "", String::new(), format!("error: {reason}"))
            }
        }
    }

    /// Whether the object could not be read.
    pub fn is_error(&self) -> bool {
        matches!(self.content, LineContent::Error { .. })
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn shape_text(shape: &[u64]) -> String {
    let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(","))
}

/// The lines of everything at and below `root`, sorted by path.
///
/// An unreadable object yields an error line; the others are not affected.
///
/// # Errors
/// If there is no object at `root`.
pub fn lines(source: &dyn Source, root: &NodePath) -> Result<Vec<Line>> {
    lines_with(source, root, &mut |_, _| {})
}

/// As [`lines`]. Calls `progress` with the current array and the total number of bytes of elements hashed so far.
///
/// # Errors
/// As [`lines`].
pub fn lines_with(
    source: &dyn Source,
    root: &NodePath,
    progress: &mut dyn FnMut(&NodePath, u64),
) -> Result<Vec<Line>> {
    Ok(seen(source, root, progress)?.lines)
}

/// The lines of a store, and the arrays found on the way.
pub(crate) struct Seen {
    pub(crate) lines: Vec<Line>,
    /// The arrays by the paths of their lines, including those without a line.
    pub(crate) arrays: FxHashMap<String, Handle>,
}

/// As [`lines_with`], with the arrays found on the way.
pub(crate) fn seen(
    source: &dyn Source,
    root: &NodePath,
    progress: &mut dyn FnMut(&NodePath, u64),
) -> Result<Seen> {
    let mut done = 0;
    let mut hashed = |path: &NodePath, bytes: u64| {
        done += bytes;
        progress(path, done);
    };
    let entry = source.find(root)?;
    let (mut lines, asked) = (Vec::new(), Asked::default());
    let mut arrays = FxHashMap::default();
    // The members of sparse arrays whose elements are in cells.
    let mut columns = FxHashSet::default();
    if matches!(entry.item, Item::Group) {
        walk(source, &entry.handle, &mut |step| {
            match step {
                Step::Enter(group, _) => {
                    let entry = Entry { handle: group.clone(), item: Item::Group };
                    object((source, &asked), &entry, &columns, &mut hashed, &mut lines);
                    columns.extend(cells::lines(source, group, None, &mut hashed, &mut lines));
                }
                Step::Member(entry) => {
                    object((source, &asked), entry, &columns, &mut hashed, &mut lines);
                    if matches!(entry.item, Item::Array { .. }) {
                        arrays.insert(with_slashes(entry.handle.path.as_str()), entry.handle.clone());
                    }
                }
                Step::Leave(_) => {}
            }
            Ok(())
        })?;
    } else {
        if let Some(group) = root.parent() {
            let group = source.find(&group)?.handle;
            columns.extend(cells::lines(source, &group, Some(root.name()), &mut hashed, &mut lines));
        }
        object((source, &asked), &entry, &columns, &mut hashed, &mut lines);
    }
    source.pool().check()?;
    lines.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    Ok(Seen { lines, arrays })
}

/// The line of one attribute.
///
/// # Errors
/// If the object has no attribute of that name, or its attributes cannot be read.
pub fn attribute(source: &dyn Source, owner: &Handle, name: &str) -> Result<Line> {
    let node = source.load(owner)?;
    match node.attributes().and_then(|attributes| attributes.get(name)) {
        Some(found) => Ok(line_of(source, owner.path.as_str(), name, found)),
        None => Err(Error::not_found(format!("no attribute {}@{name}", owner.path))),
    }
}

fn object(
    (source, asked): (&dyn Source, &Asked),
    entry: &Entry,
    columns: &FxHashSet<NodePath>,
    hashed: &mut dyn FnMut(&NodePath, u64),
    lines: &mut Vec<Line>,
) {
    let path = &with_slashes(entry.handle.path.as_str());
    let mut push = |content| lines.push(Line::new(path.to_owned(), content));
    match &entry.item {
        Item::Link(link) => {
            if let Some(target) = target(link) {
                push(LineContent::Link { target });
            }
            return;
        }
        // A dimension without values has no content.
        Item::Array { datatype: None, .. } => return,
        _ => {}
    }
    let loaded = source.load(&entry.handle);
    match &entry.item {
        Item::Group => push(LineContent::Group),
        Item::Datatype(datatype) => push(LineContent::Datatype { datatype: datatype.to_string() }),
        Item::Link(_) => {}
        Item::Array { .. } if columns.contains(&entry.handle.path) => {}
        Item::Array { .. } => match source.array(&entry.handle) {
            Ok(array) if is_told(&*array, loaded.as_ref().ok()) => {}
            opened => {
                match opened.and_then(|array| elements((source, asked), &*array, &entry.handle, hashed)) {
                    Ok((content, missing)) => lines.push(Line { path: path.to_owned(), content, missing }),
                    Err(error) => {
                        push(failure("array", &error));
                    }
                }
            }
        },
        Item::Unreadable(unreadable) => {
            let kind = match unreadable.found {
                Some(NodeKind::Group) => "group",
                Some(NodeKind::Datatype) => "datatype",
                Some(NodeKind::Link) => "link",
                _ => "array",
            };
            push(unreadable_content(kind, unreadable));
        }
    }
    match loaded {
        Ok(node) => {
            for (name, attribute) in node.attributes().into_iter().flatten() {
                lines.push(line_of(source, path, name, attribute));
            }
        }
        // The line of the object already has the error.
        Err(_) if matches!(entry.item, Item::Unreadable(_)) => {}
        Err(error) => {
            lines.push(Line::new(format!("{path}@?"), failure("attribute", &error)));
        }
    }
}

fn failure(kind: &'static str, error: &Error) -> LineContent {
    LineContent::Error { kind, cause: error.kind(), reason: error.reason().to_string() }
}

fn unreadable_content(kind: &'static str, unreadable: &Unreadable) -> LineContent {
    LineContent::Error { kind, cause: unreadable.kind, reason: unreadable.reason.clone() }
}

/// Whether an array has no content of its own: its elements follow from other content, or are the coordinates that
/// follow from the domain of their dimension, stored or not.
fn is_told(array: &dyn ArraySource, node: Option<&Node>) -> bool {
    array.is_told_elsewhere()
        || match node {
            // An unreadable array becomes an error in its line.
            Some(Node::DimCoord(dimcoord)) => matches!(are_of_domain(array, dimcoord), Ok(true)),
            _ => false,
        }
}

/// Whether coordinates are those that follow from the domain of their dimension.
fn are_of_domain(array: &dyn ArraySource, dimcoord: &DimCoord) -> Result<bool> {
    let (Some(datatype), Some(domain)) = (&dimcoord.datatype, &dimcoord.storage.domain) else {
        return Ok(false);
    };
    let Some(mut next) = Counted::first(datatype, domain, dimcoord.size) else { return Ok(false) };
    let (mut is_told, count) = (true, dimcoord.size.current());
    stream(array, &Region::all(&[count]), &mut |_, values| {
        for element in Elements::new(array.datatype(), values) {
            is_told &= matches!(element.get(), Element::Int(number) if number == next);
            next = next.saturating_add(1);
        }
        Ok(())
    })?;
    Ok(is_told)
}

/// The target of a link as a digest states it. Further paths of a listed object have no line.
fn target(link: &Link) -> Option<String> {
    match link {
        Link::Hard(_) => None,
        Link::Soft(target) => Some(target.clone()),
        Link::External { file, path } => Some(format!("{file}:{path}")),
        Link::User { class, .. } => Some(format!("user({class})")),
    }
}

fn line_of(
    source: &dyn Source,
    path: &str,
    name: &str,
    attribute: &std::result::Result<Attribute, Unreadable>,
) -> Line {
    match attribute {
        Ok(attribute) => attribute_line(source, path, name, attribute),
        Err(unreadable) => Line::new(format!("{path}@{name}"), unreadable_content("attribute", unreadable)),
    }
}

fn attribute_line(source: &dyn Source, path: &str, name: &str, attribute: &Attribute) -> Line {
    // Formats differ in whether they store the shape as [1] or [].
    let shape = attribute.shape.clone().map(|shape| if shape == [1] { vec![] } else { shape });
    let datatype = attribute.datatype.to_string();
    let mut hasher = head(&datatype, shape.as_deref());
    let hashed = match shape.as_deref() {
        Some(shape) => {
            let count = element_count(shape);
            let hashing = Hashing::new(&attribute.datatype);
            hashing.hash(source, &attribute.value, count, &mut hasher)
        }
        None => Ok(()),
    };
    let content = match hashed {
        Ok(()) => LineContent::Hashed { kind: "attribute", datatype, shape, digest: hasher.finalize() },
        Err(error) => failure("attribute", &error),
    };
    Line::new(format!("{path}@{name}"), content)
}

pub(crate) fn array(
    (source, asked): (&dyn Source, &Asked),
    handle: &Handle,
    hashed: &mut dyn FnMut(&NodePath, u64),
) -> Result<(LineContent, MissingSources)> {
    elements((source, asked), &*source.array(handle)?, handle, hashed)
}

fn elements(
    (source, asked): (&dyn Source, &Asked),
    array: &dyn ArraySource,
    handle: &Handle,
    hashed: &mut dyn FnMut(&NodePath, u64),
) -> Result<(LineContent, MissingSources)> {
    let datatype = array.datatype().to_string();
    let shape = array.extents().map(<[u64]>::to_vec);
    let mut hasher = head(&datatype, shape.as_deref());
    if let Some(shape) = &shape {
        asked.check(source, array, shape)?;
        let hashing = Hashing::new(array.datatype());
        stream(array, &Region::all(shape), &mut |count, values| {
            hashing.hash(source, values, count, &mut hasher)?;
            hashed(&handle.path, values.rows.len() as u64);
            Ok(())
        })?;
    }
    let content = LineContent::Hashed { kind: "array", datatype, shape, digest: hasher.finalize() };
    Ok((content, array.missing_sources()?))
}
