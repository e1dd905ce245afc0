//! Declares and writes a planned conversion.

use super::cells;
use super::copy::{self, CopyError, Observer, Way};
use super::dimensions::forget;
use super::{ConvertOptions, Loaded, Plan, Summary, Tell, Visited, array_of, each_object, load};
use crate::publish::{Publication, Unit};
use crate::source::{Asked, Entry, Item, Source};
use crate::target::{Facts, Loss, Target};
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::{Attributes, BoxedStorage, DimCoord, Node, NodeKind, NodePath};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// The result of writing.
pub(super) enum Written {
    /// Everything is written, except what the summary names.
    All(Summary),
    /// The array that this error names cannot be read, and the store cannot be finished without it.
    Without(Error),
}

/// Declares all planned objects to a target, then writes the elements of the arrays.
pub(super) fn write(
    source: &dyn Source,
    target: &dyn Target,
    plan: &Plan,
    options: &ConvertOptions<'_>,
    publication: &Publication,
) -> Result<Written> {
    let root = source.find(&NodePath::root())?;
    let writing = Writing {
        source,
        target,
        plan,
        options,
        publication,
        copied: AtomicU64::new(0),
        asked: Asked::default(),
    };
    if target.needs_declarations() {
        each_object(source, &root, (options, &plan.made), &mut |visited| match visited {
            Visited::Object(entry) => {
                writing.object(entry, &|path, node, facts| target.declare(path, node, facts))
            }
            Visited::Members(group, members) => target.order_members(group, members),
        })?;
    }
    let mut summary = Summary { notes: publication.notes().to_vec(), ..Summary::default() };
    let mut without = None;
    each_object(source, &root, (options, &plan.made), &mut |visited| {
        let entry = match visited {
            Visited::Object(entry) => entry,
            Visited::Members(group, members) => return target.order_members(group, members),
        };
        match writing.has_elements(entry) {
            // The store is abandoned.
            _ if without.is_some() => {}
            true => {
                let written = writing.array(entry, &mut summary);
                without = written.map_err(|e| e.in_object(&entry.handle.path))?;
            }
            false if !target.has_definitions() => {}
            false => writing.object(entry, &|path, node, facts| target.define(path, node, facts))?,
        }
        Ok(())
    })?;
    if let Some(error) = without {
        return Ok(Written::Without(error));
    }
    for path in &plan.sparse {
        writing.cells(path, &mut summary).map_err(|e| e.in_object(path))?;
    }
    summary.bytes = writing.copied.into_inner();
    Ok(Written::All(summary))
}

struct Writing<'a> {
    source: &'a dyn Source,
    target: &'a dyn Target,
    plan: &'a Plan,
    options: &'a ConvertOptions<'a>,
    publication: &'a Publication,
    /// The number of bytes of elements copied.
    copied: AtomicU64,
    asked: Asked,
}

impl Writing<'_> {
    /// Passes a planned object to the target, through one of its methods.
    fn object(&self, entry: &Entry, give: &dyn Fn(&NodePath, &Node, Facts) -> Result<()>) -> Result<()> {
        let path = &entry.handle.path;
        let give = |node: &Node| give(path, node, self.facts(path)).map_err(|e| e.in_object(path));
        if self.plan.left_out_above(path).is_some() {
            return Ok(());
        }
        if self.plan.left_out.contains_key(path) {
            return without_coordinates(entry).map_or(Ok(()), |dimension| give(&dimension));
        }
        match &entry.item {
            Item::Link(link) => give(&Node::Link(link.clone())),
            Item::Unreadable(_) => Ok(()),
            _ => give(&self.node(entry).map_err(|e| e.in_object(path))?),
        }
    }

    /// Whether an object is an array whose elements are written.
    fn has_elements(&self, entry: &Entry) -> bool {
        let path = &entry.handle.path;
        let is_left_out =
            || self.plan.left_out_above(path).is_some() || self.plan.left_out.contains_key(path);
        matches!(&entry.item, Item::Array { datatype: Some(_), .. })
            && !is_left_out()
            && !self.plan.columns.contains(path)
    }

    /// Writes the elements of an array. Returns the reason why they cannot be read, if the store must be started again
    /// without the array.
    fn array(&self, entry: &Entry, summary: &mut Summary) -> Result<Option<Error>> {
        let path = &entry.handle.path;
        let node = self.node(entry)?;
        let facts = self.facts(path);
        let writer = self.target.begin(path, &node, facts)?;
        let array = array_of(self.source, &entry.handle, &node, self.options)?;
        let observer = Progress { is_recorded: writer.is_recorded(), ..self.progress(path) };
        let way = Way::new(&*array, &*writer, &self.options.pool);
        let copied = match writer.has_elements() {
            true => elements((self.source, &self.asked), way, &observer),
            false => Ok(()),
        };
        match copied {
            Ok(()) => {
                summary.arrays += 1;
                writer.finish()?;
                Ok(None)
            }
            Err(CopyError::Read(error) | CopyError::Write(error)) if error.kind() == ErrorKind::Cancelled => {
                Err(error)
            }
            // Without the array at the root, nothing would be converted.
            Err(CopyError::Read(error)) if path.is_root() => Err(error),
            Err(CopyError::Read(error)) if self.options.allow.contains(&Loss::Unreadable) => {
                let error = error.in_object(path);
                if !self.target.can_abandon() {
                    return Ok(Some(error));
                }
                summary.left_out.push(error);
                self.publication.forget(path)?;
                writer.abandon()?;
                if let Some(dimension) = without_coordinates(entry) {
                    self.target.declare(path, &dimension, facts)?;
                }
                Ok(None)
            }
            Err(CopyError::Read(error)) => Err(error.with_remedy(Remedy::LeaveOutUnreadable)),
            Err(CopyError::Write(error)) => Err(error),
        }
    }

    /// Writes the cells of a sparse array.
    fn cells(&self, path: &NodePath, summary: &mut Summary) -> Result<()> {
        let group = self.source.find(path)?.handle;
        let progress = self.progress(path);
        let count = &mut |bytes| progress.count(bytes);
        match cells::write(self.source, &group, self.plan, (self.target, &self.options.pool), count) {
            Ok(()) => summary.arrays += 1,
            Err(CopyError::Read(error)) if self.options.allow.contains(&Loss::Unreadable) => {
                summary.left_out.push(error.in_object(path));
            }
            Err(CopyError::Read(error)) => {
                return Err(error.with_remedy(Remedy::LeaveOutUnreadable));
            }
            Err(CopyError::Write(error)) => return Err(error),
        }
        Ok(())
    }

    fn progress<'a>(&'a self, path: &'a NodePath) -> Progress<'a> {
        let Writing { options, publication, copied, .. } = self;
        Progress { path, copied, tell: options.progress, publication, is_recorded: true }
    }

    /// An object as it is declared: in its new layout, without dimensions that are not converted.
    fn node(&self, entry: &Entry) -> Result<Node> {
        let path = &entry.handle.path;
        let Loaded { mut node, .. } = load(self.source, &entry.handle, self.options)?;
        // The plan leaves out unreadable objects; this one was readable then.
        if let Node::Unreadable(why) = node {
            return Err(Error::malformed(format!("cannot be read any more: {}", why.reason)));
        }
        self.options.layout.apply(path, &mut node)?;
        forget(&self.plan.missing, &mut node);
        Ok(node)
    }

    fn facts(&self, path: &NodePath) -> Facts {
        self.plan.facts.get(path).copied().unwrap_or_default()
    }
}

/// The dimension without its coordinates; arrays still name it.
fn without_coordinates(entry: &Entry) -> Option<Node> {
    let Item::Array { kind: NodeKind::DimCoord, shape, .. } = &entry.item else { return None };
    let size = shape.dims().first()?.extent;
    Some(Node::DimCoord(DimCoord {
        size,
        datatype: None,
        attributes: Attributes::new(),
        storage: BoxedStorage::default(),
        value: None,
    }))
}

/// Copies the elements of one array.
pub(super) fn elements(
    (source, asked): (&dyn Source, &Asked),
    way: Way<'_>,
    observer: &dyn Observer,
) -> Result<(), CopyError> {
    let array = way.array;
    if !way.encoder.needs_unwritten() && array.is_unwritten().map_err(CopyError::Read)? {
        return Ok(());
    }
    // Elements that were never written need no copying.
    let counts = match array.chunks().map_err(CopyError::Read)? {
        Some(chunks) => array.chunk().iter().copied().chain([chunks.outer.written]).collect(),
        None => array.extents().unwrap_or_default().to_vec(),
    };
    asked.check(source, array, &counts).map_err(CopyError::Read)?;
    // A finished copy of two passes is not started again.
    let row = array.datatype().row_size().unwrap_or(0) as u64;
    let bytes = array.extents().and_then(element_count).unwrap_or(0).saturating_mul(row);
    if observer.is_done(&[], 0, bytes) {
        return way.target.map_or(Ok(()), |target| target.resume_all().map_err(CopyError::Write));
    }
    match copy::copy(way, observer)? {
        true => observer.done(&[], 0, 0).map_err(CopyError::Write),
        false => Ok(()),
    }
}

struct Progress<'a> {
    path: &'a NodePath,
    copied: &'a AtomicU64,
    tell: Option<Tell<'a>>,
    publication: &'a Publication,
    /// Whether progress is recorded.
    is_recorded: bool,
}

impl Progress<'_> {
    fn unit(&self, tile: &[u64], number: u64) -> Unit {
        Unit { array: self.path.clone(), tile: tile.to_vec(), tiles: number..number.saturating_add(1) }
    }

    fn count(&self, bytes: u64) {
        let copied = self.copied.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if let Some(tell) = self.tell {
            tell(self.path, copied);
        }
    }
}

impl Observer for Progress<'_> {
    fn is_done(&self, tile: &[u64], number: u64, bytes: u64) -> bool {
        let is_done = self.is_recorded && self.publication.finished(&self.unit(tile, number));
        if is_done {
            self.count(bytes);
        }
        is_done
    }

    fn done(&self, tile: &[u64], number: u64, bytes: u64) -> Result<()> {
        if self.is_recorded {
            self.publication.record(&self.unit(tile, number), bytes)?;
        }
        self.count(bytes);
        Ok(())
    }

    fn scratch(&self) -> Option<PathBuf> {
        Some(self.publication.scratch())
    }
}
