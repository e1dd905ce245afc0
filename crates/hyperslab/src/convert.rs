//! The same content in another format or layout.
//!
//! A conversion is planned before a byte is written: [`plan`] walks the source and says what the target does not
//! hold as it is. [`convert`] walks it again and writes, object by object, so that memory does not grow with the
//! file.
//!
//! ```
//! use hyperslab::convert::{ConvertOptions, convert, plan};
//! use hyperslab::publish::Fingerprint;
//! use hyperslab::{OpenOptions, open, target};
//!
//! let file = "../../examples/ocean.nc".as_ref();
//! let made_from = Fingerprint::of_source(file, "")?;
//! let source = open(file, &OpenOptions::default())?;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("ocean.zarr");
//! let options = ConvertOptions::new(target::target_format_of(&path)?);
//! let plan = plan(&*source, &options)?;
//! assert!(plan.report.losses().is_empty());
//! convert(&*source, &made_from, &path, &plan, &options)?;
//! assert!(open(&path, &OpenOptions::default()).is_ok());
//! # Ok::<(), hyperslab::Error>(())
//! ```

mod copy;
mod dimensions;
mod facts;
pub mod layout;
mod parts;
mod report;
mod scratch;
mod tiles;
mod trial;

pub use parts::Parts;
pub use report::{LossReport, ReportRow};

use crate::list::Counts;
use crate::publish::{self, Fingerprint, Publication, PublishOptions, Unit};
use crate::source::{ArraySource, Entry, Handle, Item, Source, check_counts};
use crate::target::{
    ArrayTarget, Facts, Fate, Filters, Growing, Loss, Planner, Target, TargetFormat, TargetOptions,
};
use crate::walk::{Step, walk};
use copy::{CopyError, Observer};
use dimensions::{dimensions, forget};
use facts::{facts, leading_out};
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Attributes, DimCoord, Fill, Group, Link, Node, NodeKind, NodePath, Storage};
use layout::Layout;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use trial::refusal;

/// Is told of the array at hand and how many bytes of elements are copied in all, by the thread that copied the last.
pub type Tell<'a> = &'a (dyn Fn(&NodePath, u64) + Sync);

/// How a source is converted.
#[derive(Clone)]
pub struct ConvertOptions<'a> {
    /// The format of the target.
    pub format: &'a dyn TargetFormat,
    /// What that format alone is told.
    pub native: TargetOptions,
    /// How arrays are laid out.
    pub layout: Layout,
    /// What of the source is converted, if it is not all of it.
    pub parts: Option<Parts>,
    /// What else the result depends on, in words: what was selected of the source.
    pub wishes: String,
    /// What may be lost.
    pub allow: Vec<Loss>,
    /// What becomes of a store that is there, and of what an interrupted run has left.
    pub publish: PublishOptions,
    /// Who is told how far it has come.
    pub progress: Option<Tell<'a>>,
}

impl<'a> ConvertOptions<'a> {
    /// Everything as it is, as far as `format` holds it.
    pub fn new(format: &'a dyn TargetFormat) -> Self {
        ConvertOptions {
            format,
            native: TargetOptions::default(),
            layout: Layout::default().always_chunked(true),
            parts: None,
            wishes: String::new(),
            allow: Vec::new(),
            publish: PublishOptions::default(),
            progress: None,
        }
    }
}

/// What converting would do.
#[derive(Debug, Default)]
pub struct Plan {
    /// Objects by kind; the root is none of them.
    pub counts: Counts,
    /// Bytes of the elements of all arrays.
    pub bytes: u64,
    /// What the target does not hold as it is.
    pub report: LossReport,
    /// What was found out about elements, where it is not what is usual.
    facts: FxHashMap<NodePath, Facts>,
    /// Objects that are left out.
    left_out: FxHashSet<NodePath>,
    /// How long dimensions are that can grow.
    growing: Arc<Growing>,
    /// Dimensions that arrays of other groups name and that will not be there.
    missing: FxHashSet<NodePath>,
    /// Arrays of which only some cells have values.
    sparse: FxHashSet<NodePath>,
}

/// What a conversion did.
#[derive(Debug, Default)]
pub struct Summary {
    /// Arrays written.
    pub arrays: u64,
    /// Bytes of their elements.
    pub bytes: u64,
    /// Arrays that turned out not to be readable, which was allowed, and why.
    pub left_out: Vec<Error>,
    /// What is worth telling about how it began.
    pub notes: Vec<String>,
}

/// Finds out what converting would do.
///
/// # Errors
/// If there is no readable root.
pub fn plan(source: &dyn Source, options: &ConvertOptions<'_>) -> Result<Plan> {
    let root = source.find(&NodePath::root())?;
    let (growing, missing) = dimensions(source, &root, options)?;
    let mut plan = Plan { growing: Arc::new(growing), missing, ..Plan::default() };
    let growing = Arc::clone(&plan.growing);
    let mut planner = options.format.planner(&options.native, &growing);
    // A root that cannot be read is an error, as nothing would be left.
    source.load(&root.handle)?;
    if matches!(root.item, Item::Group) {
        source.members(&root.handle)?;
    }
    let mut second_paths = Vec::new();
    each_object(source, &root, options, &mut |entry| {
        let path = &entry.handle.path;
        if !path.is_root() {
            plan.counts.add(&entry.item);
        }
        match &entry.item {
            Item::Unreadable(why) => plan.leave_out(path, why.reason.clone()),
            Item::Array { .. } if plan.sparse.contains(path) => {
                let what = "cells of a sparse array".to_owned();
                plan.report.add(path.to_string(), what, "nothing".into(), Fate::Lost(Loss::Sparse));
                plan.left_out.insert(path.clone());
            }
            Item::Link(Link::Hard(first)) => second_paths.push((path.clone(), first.clone())),
            Item::Link(link) => plan.node(path, &Node::Link(link.clone()), &mut *planner)?,
            _ => plan.object(source, &entry.handle, options, &mut *planner)?,
        }
        Ok(())
    })?;
    // A link may come before what it leads to, and is nothing without it.
    for (path, first) in second_paths {
        plan.second_path(&path, first, options, &mut *planner)?;
    }
    if let Some(unused) = options.layout.unused().into_iter().next() {
        return Err(Error::invalid(unused));
    }
    match plan.left_out.contains(&NodePath::root()) {
        true => {
            let why = plan.report.rows().next().map(|row| row.what.clone()).unwrap_or_default();
            Err(Error::malformed(why))
        }
        false => Ok(plan),
    }
}

/// Visits the root and everything below it that is converted, groups before their members.
fn each_object(
    source: &dyn Source,
    root: &Entry,
    options: &ConvertOptions<'_>,
    visit: &mut dyn FnMut(&Entry) -> Result<()>,
) -> Result<()> {
    if !matches!(root.item, Item::Group) {
        return visit(root);
    }
    let mut visit = |entry: &Entry| match options.parts.as_ref().is_none_or(|parts| parts.has(entry)) {
        true => visit(entry),
        false => Ok(()),
    };
    walk(source, &root.handle, &mut |step| match step {
        Step::Enter(group, _) => visit(&Entry { handle: group.clone(), item: Item::Group }),
        Step::Member(entry) => visit(entry),
        Step::Leave(_) => Ok(()),
    })
}

impl Plan {
    fn object(
        &mut self,
        source: &dyn Source,
        handle: &Handle,
        options: &ConvertOptions<'_>,
        planner: &mut dyn Planner,
    ) -> Result<()> {
        let found = load(source, handle).and_then(|node| {
            let facts = facts(source, handle, &node)?;
            Ok((node, facts))
        });
        match found {
            Ok((Node::Unreadable(why), _)) => self.leave_out(&handle.path, why.reason),
            Ok((mut node, facts)) => {
                options.layout.apply(&handle.path, &mut node)?;
                for dimension in forget(&self.missing, &mut node) {
                    let what = format!("dimension {dimension}, which is not converted");
                    let (place, becomes) = (handle.path.to_string(), "a dimension without a name".to_owned());
                    self.report.add(place, what, becomes, Fate::Lost(Loss::Names));
                }
                let mut facts = facts;
                facts.filters = match source.is_text() {
                    _ if options.layout.asks_filters(&handle.path) => Filters::Asked,
                    true => Filters::Described,
                    false => Filters::Passed,
                };
                match refusal(source, handle, &node, facts, options, &*planner) {
                    Ok(None) => {}
                    // What somebody asks for is not replaced by something else.
                    Ok(Some(error)) if facts.filters == Filters::Asked => {
                        let why = format!("the filters do not take an element: {}", error.detail());
                        return Err(Error::invalid(why).in_object(&handle.path));
                    }
                    Ok(Some(_)) => facts.fits_filters = false,
                    Err(error) => {
                        self.leave_out(&handle.path, error.reason().to_string());
                        return Ok(());
                    }
                }
                if let Node::Group(Group { cells: Some(cells), .. }) = &node {
                    self.sparse.extend(cells.columns.iter().map(|column| handle.path.child(&column.name)));
                }
                if facts != Facts::default() {
                    self.facts.insert(handle.path.clone(), facts);
                }
                self.bytes = self.bytes.saturating_add(bytes_of(&handle.path, &node));
                let leading = match &options.parts {
                    Some(parts) => leading_out(source, handle, &node, parts),
                    None => Ok(Vec::new()),
                };
                match leading {
                    Ok(places) => places.into_iter().for_each(|place| {
                        let (what, becomes) =
                            ("references to what is not converted", "references that lead to nothing");
                        self.report.add(place, what.into(), becomes.into(), Fate::Lost(Loss::References));
                    }),
                    Err(error) => {
                        self.leave_out(&handle.path, error.reason().to_string());
                        return Ok(());
                    }
                }
                self.node(&handle.path, &node, planner)?;
            }
            Err(error) => self.leave_out(&handle.path, error.reason().to_string()),
        }
        Ok(())
    }

    fn node(&mut self, path: &NodePath, node: &Node, planner: &mut dyn Planner) -> Result<()> {
        let facts = self.facts.get(path).copied().unwrap_or_default();
        if let Err(error) = planner.plan(path, node, facts, &mut self.report) {
            // What somebody asks for is not replaced by something else.
            if facts.filters == Filters::Asked && error.kind() == ErrorKind::InvalidArgument {
                return Err(error.in_object(path));
            }
            let what = error.reason().to_string();
            self.report.add(path.to_string(), what, "nothing".into(), Fate::Lost(Loss::Types));
            self.left_out.insert(path.clone());
        }
        Ok(())
    }

    fn second_path(
        &mut self,
        path: &NodePath,
        first: NodePath,
        options: &ConvertOptions<'_>,
        planner: &mut dyn Planner,
    ) -> Result<()> {
        let is_converted = options.parts.as_ref().is_none_or(|parts| parts.keeps(&first));
        let mut above = std::iter::successors(Some(first.clone()), NodePath::parent);
        if is_converted && !above.any(|path| self.left_out.contains(&path)) {
            return self.node(path, &Node::Link(Link::Hard(first)), planner);
        }
        let what = format!("second path of {first}, which is not converted");
        self.report.add(path.to_string(), what, "nothing".into(), Fate::Lost(Loss::Links));
        self.left_out.insert(path.clone());
        Ok(())
    }

    fn leave_out(&mut self, path: &NodePath, reason: String) {
        let what = format!("cannot be read: {reason}");
        self.report.add(path.to_string(), what, "nothing".into(), Fate::Lost(Loss::Unreadable));
        self.left_out.insert(path.clone());
    }
}

/// Writes everything that is planned to `target`, which appears when it is whole. `made_from` tells what the source lies
/// in, asked for before it was opened, and how it is read: the target must not be among it, and it must not change.
///
/// # Errors
/// If something is lost that is not allowed, or the target cannot be made, before anything is written; the first of
/// reading and writing, with how to go on.
pub fn convert(
    source: &dyn Source,
    made_from: &Fingerprint,
    target: &Path,
    plan: &Plan,
    options: &ConvertOptions<'_>,
) -> Result<Summary> {
    check_losses(plan, options)?;
    let made_from = made_from.clone().and(&options.words());
    let is_directory = options.format.is_directory(target);
    let publication = Publication::begin(target, is_directory, &made_from, &options.publish)?;
    let write = || -> Result<Summary> {
        let store =
            options.format.create(publication.path(), is_directory, &options.native, &plan.growing)?;
        let summary = write(source, &*store, plan, options, &publication)?;
        store.finish()?;
        Ok(summary)
    };
    let written = write();
    match written {
        Ok(summary) => publication.publish().map(|()| summary),
        // What the system says of a chunk is of little use without the disk that it is to lie on.
        Err(error) if error.kind() == ErrorKind::Io => {
            Err(publication.interrupted(error, Some(plan.bytes)).in_file(target.display()))
        }
        Err(error) => Err(publication.interrupted(error, Some(plan.bytes))),
    }
}

impl ConvertOptions<'_> {
    /// Looks whether what an interrupted run has left at `target` can be gone on from with these, and writes nothing.
    ///
    /// # Errors
    /// If it was made from something else, or with other options.
    pub fn check_resumable(&self, made_from: &Fingerprint, target: &Path) -> Result<()> {
        publish::check_resumable(target, &made_from.clone().and(&self.words()))
    }

    /// All wishes that what is written depends on, in the words of the command line.
    fn words(&self) -> String {
        // By name, so that none that is added is forgotten.
        let ConvertOptions { format, native, layout, allow, parts, wishes, publish: _, progress: _ } = self;
        let mut words = format!("--format {}", format.name());
        let native = native.to_string();
        if !native.is_empty() {
            words.push_str(" -O ");
            words.push_str(&native);
        }
        for option in layout.typed() {
            words.push(' ');
            words.push_str(option);
        }
        let mut allow: Vec<_> = allow.iter().map(|loss| loss.name()).collect();
        allow.sort_unstable();
        if !allow.is_empty() {
            words.push_str(" --allow-loss ");
            words.push_str(&allow.join(","));
        }
        for of in parts.iter().flat_map(Parts::names).map(str::to_owned).chain([wishes.clone()]) {
            if !of.is_empty() {
                words.push(' ');
                words.push_str(&of);
            }
        }
        words
    }
}

/// Refuses what is lost and not allowed.
///
/// # Errors
/// If there is such.
pub fn check_losses(plan: &Plan, options: &ConvertOptions<'_>) -> Result<()> {
    let refused = plan.report.refused(&options.allow);
    if refused == 0 {
        return Ok(());
    }
    let kinds: Vec<_> =
        plan.report.losses().into_iter().filter(|loss| !options.allow.contains(loss)).collect();
    let kinds = kinds.iter().map(|loss| loss.name()).collect::<Vec<_>>().join(",");
    let (losses, them) = match refused {
        1 => ("1 loss is".to_owned(), "it"),
        _ => (format!("{refused} losses are"), "them"),
    };
    Err(Error::invalid(format!(
        "{losses} not allowed; nothing was written\nhelp: --allow-loss {kinds} accepts {them}; -n shows this table and stops"
    )))
}

fn write(
    source: &dyn Source,
    target: &dyn Target,
    plan: &Plan,
    options: &ConvertOptions<'_>,
    publication: &Publication,
) -> Result<Summary> {
    let root = source.find(&NodePath::root())?;
    let copied = AtomicU64::new(0);
    let mut summary = Summary { notes: publication.notes().to_vec(), ..Summary::default() };
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
        if !node.has_elements() {
            return target.put(path, &node).map_err(|e| e.in_object(path));
        }
        let facts = plan.facts.get(path).copied().unwrap_or_default();
        let observer = Progress { path, copied: &copied, tell: options.progress, publication };
        let mut write = || -> Result<()> {
            let writer = target.array(path, &node, facts)?;
            let mut array = source.array(&entry.handle)?;
            // What a text says nothing of is whatever fills it.
            if !source.is_text() {
                array = options.layout.elements(path, array);
            }
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
                Err(CopyError::Read(error)) => {
                    Err(error.with_help("--allow-loss unreadable leaves such arrays out"))
                }
                Err(CopyError::Write(error)) => Err(error),
            }
        };
        write().map_err(|e| e.in_object(path))
    })?;
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

/// An object as targets want it: arrays say what they are filled with, as defaults differ from format to format.
fn load(source: &dyn Source, handle: &Handle) -> Result<Node> {
    let mut node = source.load(handle)?;
    if node.has_elements()
        && let Some(storage) = node.storage_mut()
        && matches!(storage.fill, Fill::Default)
        && let Some(fill) = source.array(handle)?.fill()?
    {
        storage.fill = Fill::Value(fill);
    }
    Ok(node)
}

/// Copies the elements of one array.
fn elements(
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

/// Bytes of the elements of an array.
fn bytes_of(path: &NodePath, node: &Node) -> u64 {
    let Some(shape) = node.shape(path).and_then(|shape| shape.current()) else { return 0 };
    let row = node.datatype().and_then(|datatype| datatype.row_size()).unwrap_or(0);
    element_count(&shape).unwrap_or(u64::MAX).saturating_mul(row as u64)
}
