//! Checks the targets of references and hard links, when all objects are known.
//!
//! A soft link may lack a target, as in HDF5; a hard link must have one. A reference without a target is a warning,
//! because the text may be part of a larger one, but no file can be made from the text.

use super::Reader;
use crate::parse::context::suggest;
use crate::parse::events::Span;
use hyperslab_core::links::{MAX_LINKS, Way};
use hyperslab_core::nd::{Region, Selection};
use hyperslab_model::{Extent, Link, Node as Object, NodeKind, NodePath, Reference, Shape};

/// The reason why a path does not lead to an object of the document.
enum Lost {
    Nowhere,
    /// The path passes through a link that leads out of the document.
    Elsewhere,
    /// Links form a cycle, or there are too many of them.
    Round,
}

impl Reader<'_, '_> {
    pub(super) fn check_targets(&mut self) {
        for (path, span) in std::mem::take(&mut self.hard_links) {
            let Some(Object::Link(Link::Hard(target))) = self.content.nodes.get(&path) else { continue };
            let why = match self.find(target) {
                Ok(_) => continue,
                Err(Lost::Nowhere) => format!("a hard link to {target}, which does not exist"),
                Err(Lost::Elsewhere) => format!("a hard link to {target}, which is not in this file"),
                Err(Lost::Round) => {
                    format!("a hard link to {target}, on a path with a cycle or more than {MAX_LINKS} links")
                }
            };
            let hint = self.similar(target);
            self.context.findings.error("ndl/link", span, why).maybe_hint(hint);
        }
        for (span, reference) in std::mem::take(&mut self.context.references) {
            self.reference(span, &reference);
        }
    }

    fn reference(&mut self, span: Span, reference: &Reference) {
        let target = match reference {
            Reference::Object(target) | Reference::Attribute(target, _) | Reference::Region(target, _) => {
                target
            }
            Reference::Dangling(address) => {
                let message = format!("a reference to the address {address}, which has no object");
                self.context.refusals.error("ndl/create", span, message);
                return;
            }
            Reference::External { file, .. } => {
                let message = format!("a reference to an object in the file {file:?}");
                self.context.refusals.error("ndl/create", span, message);
                return;
            }
            Reference::Null => return,
        };
        let found = match self.find(target) {
            Ok(found) => found,
            Err(_) => {
                let message = format!("a reference to {target}, which does not exist");
                let hint = self.similar(target);
                return self.dangles(span, message, hint);
            }
        };
        match reference {
            Reference::Attribute(_, name) => {
                let attributes = self.content.nodes.get(&found).and_then(Object::attributes);
                if attributes.is_some_and(|attributes| !attributes.contains_key(name)) {
                    let message =
                        format!("a reference to the attribute {name:?} of {target}, which does not exist");
                    self.dangles(span, message, None);
                }
            }
            Reference::Region(_, selection) => {
                if let Some(wrong) = self.outside(&found, selection) {
                    self.context.findings.error("ndl/reference", span, format!("{wrong} ({target})"));
                }
            }
            _ => {}
        }
    }

    /// Reports a dangling reference.
    fn dangles(&mut self, span: Span, message: String, hint: Option<String>) {
        self.context.refusals.error("ndl/create", span, message.as_str()).maybe_hint(hint.clone());
        self.context.findings.warning("ndl/reference", span, message).maybe_hint(hint);
    }

    /// The error in a selection of elements: its rank or its indices do not fit the target. `None` if it is valid.
    fn outside(&self, target: &NodePath, selection: &Selection) -> Option<String> {
        let extents: Vec<Extent> = match self.content.nodes.get(target)? {
            Object::Ndarray(ndarray) if matches!(ndarray.shape, Shape::Null | Shape::Unsaid) => return None,
            Object::Ndarray(ndarray) => ndarray.shape.dims().iter().map(|dim| dim.extent).collect(),
            Object::DimCoord(dimcoord) => vec![dimcoord.size],
            Object::Unreadable(_) => return None,
            other => return Some(format!("a region of {}, expected an ndarray", super::noun(other.kind()))),
        };
        if self.partial.iter().any(|partial| partial.path == *target) {
            return None;
        }
        let of_region = |region: &Region| {
            let last = region.start.iter().zip(&region.count).zip(&region.step);
            let last = last.map(|((start, count), step)| match count.checked_sub(1) {
                Some(steps) => start.saturating_add(steps.saturating_mul(*step)),
                None => 0,
            });
            beyond(&last.collect::<Vec<_>>(), &extents)
        };
        match selection {
            Selection::All | Selection::None => None,
            Selection::Region(region) => of_region(region),
            Selection::Blocks(blocks) => blocks.iter().find_map(of_region),
            Selection::Points { rank, coordinates } => match usize::try_from(*rank).ok()? {
                0 if coordinates.is_empty() => None,
                rank => coordinates.chunks(rank.max(1)).find_map(|point| beyond(point, &extents)),
            },
        }
    }

    /// The object that a path leads to, through links within the document.
    fn find(&self, path: &NodePath) -> Result<NodePath, Lost> {
        let names = |path: &NodePath| {
            let names = path.as_str().split('/').filter(|name| !name.is_empty());
            names.map(str::to_owned).collect::<Vec<_>>().into_iter()
        };
        let is_object =
            |path: &NodePath| self.declared.get(path).is_some_and(|(kind, _)| *kind != NodeKind::Link);
        if is_object(path) {
            return Ok(path.clone());
        }
        let root = NodePath::root();
        let mut at = root.clone();
        let mut way = Way::new(names(path));
        while let Some(name) = way.step() {
            let next = at.child(&name);
            at = match self.content.nodes.get(&next) {
                Some(Object::Link(link)) => {
                    let to = match link {
                        Link::Hard(to) => to.clone(),
                        Link::Soft(to) => from(&at, to).ok_or(Lost::Nowhere)?,
                        Link::External { .. } | Link::User { .. } => return Err(Lost::Elsewhere),
                    };
                    let (start, rest) = if is_object(&to) { (to, root.clone()) } else { (root.clone(), to) };
                    if !way.follow(names(&rest)) {
                        return Err(Lost::Round);
                    }
                    start
                }
                Some(_) => next,
                None if self.declared.contains_key(&next) => next,
                None => return Err(Lost::Nowhere),
            };
        }
        Ok(at)
    }

    /// A hint with the most similar path.
    fn similar(&self, path: &NodePath) -> Option<String> {
        if self.declared.len() > MAX_SUGGESTED || self.context.findings.is_full() {
            return None;
        }
        let others = self.declared.keys().filter(|known| !known.is_root() && *known != path);
        let mut known: Vec<&str> = others.map(NodePath::as_str).collect();
        known.sort_unstable();
        Some(suggest(path.as_str(), &known)).filter(|hint| hint.starts_with("did you mean"))
    }
}

/// The error in indices: wrong rank, or an index beyond the extent. `None` if they are valid. Unlimited dimensions
/// allow all indices.
fn beyond(indices: &[u64], extents: &[Extent]) -> Option<String> {
    if indices.len() != extents.len() {
        return Some(format!("indices of rank {}, expected rank {}", indices.len(), extents.len()));
    }
    let outside = indices
        .iter()
        .zip(extents)
        .find_map(|(index, extent)| extent.max().filter(|max| index >= max).map(|max| (index, max)));
    outside.map(|(index, max)| format!("the index {index}, expected less than {max}"))
}

/// The path that a soft link in `group` points to.
fn from(group: &NodePath, to: &str) -> Option<NodePath> {
    if to.starts_with('/') {
        return NodePath::new(to).ok();
    }
    let mut at = group.clone();
    for part in to.split('/').filter(|part| !matches!(*part, "" | ".")) {
        at = if part == ".." { at.parent()? } else { at.child(part) };
        if at.depth() > MAX_DEPTH {
            return None;
        }
    }
    Some(at)
}

/// The depth of the deepest group that a soft link can point to.
const MAX_DEPTH: usize = 64;

/// The number of objects among which a similar path is looked for.
const MAX_SUGGESTED: usize = 1000;
