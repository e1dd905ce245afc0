//! What is planned, written object by object.

use super::cells;
use super::copy::{self, CopyError, Observer};
use super::dimensions::forget;
use super::{ConvertOptions, Plan, Summary, Tell, array_of, each_object, load};
use crate::publish::{Publication, Unit};
use crate::source::{ArraySource, Entry, Item, Source, check_counts};
use crate::target::{ArrayTarget, Loss, Target};
use hyperslab_core::nd::element_count;
use hyperslab_core::{Remedy, Result};
use hyperslab_model::{Attributes, DimCoord, Node, NodeKind, NodePath, Storage};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes everything that is planned to a target that is there.
pub(super) fn write(
    source: &dyn Source,
    target: &dyn Target,
    plan: &Plan,
    options: &ConvertOptions<'_>,
    publication: &Publication,
) -> Result<Summary> {
    let root = source.find(&NodePath::root())?;
    let copied = AtomicU64::new(0);
    let mut summary = Summary { notes: publication.notes().to_vec(), ..Summary::default() };
    let mut sparse = Vec::new();
    each_object(source, &root, options, &mut |entry| {
        let path = &entry.handle.path;
        if path.parent().is_some_and(|group| plan.left_out.contains(&group)) {
            return Ok(());
        }
        if plan.left_out.contains(path) {
            return without_coordinates(entry).map_or(Ok(()), |dimension| target.put(path, &dimension));
        }
        let node = match &entry.item {
            Item::Link(link) => Node::Link(link.clone()),
            Item::Unreadable(_) => return Ok(()),
            _ => {
                let mut node = load(source, &entry.handle).map_err(|e| e.in_object(path))?;
                options.layout.apply(path, &mut node)?;
                forget(&plan.missing, &mut node);
                node
            }
        };
        if plan.sparse.contains(path) {
            sparse.push(entry.handle.clone());
        }
        if !node.has_elements() || plan.columns.contains(path) {
            return target.put(path, &node).map_err(|e| e.in_object(path));
        }
        let facts = plan.facts.get(path).copied().unwrap_or_default();
        let observer = Progress { path, copied: &copied, tell: options.progress, publication };
        let mut write = || -> Result<()> {
            let writer = target.array(path, &node, facts)?;
            let array = array_of(source, &entry.handle, options)?;
            match elements(source, &*array, &*writer, &observer) {
                Ok(()) => {
                    summary.arrays += 1;
                    writer.finish()
                }
                Err(CopyError::Read(error)) if options.allow.contains(&Loss::Unreadable) => {
                    summary.left_out.push(error.in_object(path));
                    publication.forget(path)?;
                    writer.abandon()?;
                    without_coordinates(entry).map_or(Ok(()), |dimension| target.put(path, &dimension))
                }
                Err(CopyError::Read(error)) => Err(error.with_remedy(Remedy::LeaveOutUnreadable)),
                Err(CopyError::Write(error)) => Err(error),
            }
        };
        write().map_err(|e| e.in_object(path))
    })?;
    for group in &sparse {
        let path = &group.path;
        let observer = Progress { path, copied: &copied, tell: options.progress, publication };
        match cells::write(source, group, plan, target, &mut |bytes| observer.count(bytes)) {
            Ok(()) => summary.arrays += 1,
            Err(CopyError::Read(error)) if options.allow.contains(&Loss::Unreadable) => {
                summary.left_out.push(error.in_object(path));
            }
            Err(CopyError::Read(error)) => {
                let error = error.with_remedy(Remedy::LeaveOutUnreadable);
                return Err(error.in_object(path));
            }
            Err(CopyError::Write(error)) => return Err(error.in_object(path)),
        }
    }
    summary.bytes = copied.into_inner();
    Ok(summary)
}

/// What arrays still name of a dimension whose coordinates are left out.
fn without_coordinates(entry: &Entry) -> Option<Node> {
    let Item::Array { kind: NodeKind::DimCoord, shape, .. } = &entry.item else { return None };
    let size = shape.dims().first()?.extent;
    Some(Node::DimCoord(DimCoord {
        size,
        datatype: None,
        attributes: Attributes::new(),
        storage: Storage::default(),
        value: None,
    }))
}

/// Copies the elements of one array.
pub(super) fn elements(
    source: &dyn Source,
    array: &dyn ArraySource,
    target: &dyn ArrayTarget,
    observer: &dyn Observer,
) -> Result<(), CopyError> {
    if !target.wants_all() && array.is_unwritten().map_err(CopyError::Read)? {
        return Ok(());
    }
    // What was never written costs nothing.
    let counts = match array.chunks().map_err(CopyError::Read)? {
        Some(chunks) => array.chunk().iter().copied().chain([chunks.outer.written]).collect(),
        None => array.extents().unwrap_or_default().to_vec(),
    };
    check_counts(source, array, &counts).map_err(CopyError::Read)?;
    // All of it is one more part, so that what takes two passes is not begun again when it is done.
    let row = array.datatype().row_size().unwrap_or(0) as u64;
    let bytes = array.extents().and_then(element_count).unwrap_or(0).saturating_mul(row);
    if observer.is_done(&[], 0, bytes) {
        return Ok(());
    }
    copy::copy(array, target, observer)?;
    observer.done(&[], 0, 0).map_err(CopyError::Write)
}

struct Progress<'a> {
    path: &'a NodePath,
    copied: &'a AtomicU64,
    tell: Option<Tell<'a>>,
    publication: &'a Publication,
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
        let is_done = self.publication.finished(&self.unit(tile, number));
        if is_done {
            self.count(bytes);
        }
        is_done
    }

    fn done(&self, tile: &[u64], number: u64, bytes: u64) -> Result<()> {
        self.publication.record(&self.unit(tile, number), bytes)?;
        self.count(bytes);
        Ok(())
    }

    fn scratch(&self) -> Option<PathBuf> {
        Some(self.publication.scratch())
    }
}
