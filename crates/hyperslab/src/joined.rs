//! Several stores as one, joined along one dimension.
//!
//! The stores are examined one after the other before anything is joined: they must have the same objects, and their
//! coordinates must continue from one store to the next. Few stores are open at the same time, and memory use does not
//! grow with their number.

mod array;
mod axis;
mod compared;
mod coordinate;
mod counts;
mod new_dimension;
mod opening;
mod ranges;
mod recounted;
mod stores;

use self::array::JoinedArray;
pub use self::axis::Axis;
use self::compared::Template;
use self::coordinate::Order;
use self::counts::{Forms, Reformed};
use self::new_dimension::NewDimension;
use self::opening::Opening;
use self::ranges::Ranges;
use self::stores::{Stamp, Stores};
use crate::cells::CellSource;
use crate::files;
use crate::format::OpenOptions;
use crate::formats::forget_elsewhere;
use crate::location::Locator;
use crate::select::Parts;
use crate::source::{
    ArraySource, Chunks, Entry, Handle, Item, Source, SourceView, Stored, along, most_content,
};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Dimension, Node, NodeKind, NodePath, Shape, Tolerance};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The dimension along which stores are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Along {
    /// The only unlimited one, or else the only one that differs.
    #[default]
    Unnamed,
    /// One that the stores have, by its name or path; or by its position, such as `0`, in arrays whose dimensions have no
    /// names.
    Named(String),
    /// A new one, along which each store is one step, such as a member of an ensemble. A scalar variable of the same
    /// name provides the coordinates. Data variables get the new dimension, as do those scalar variables describing
    /// them that differ between stores.
    New(String),
}

impl Along {
    /// The dimension that the options name: an existing one, or a new one, which takes precedence.
    pub fn of(named: Option<String>, new: Option<String>) -> Along {
        match (named, new) {
            (_, Some(name)) => Along::New(name),
            (Some(name), None) => Along::Named(name),
            (None, None) => Along::Unnamed,
        }
    }
}

/// How stores are joined.
#[derive(Clone, Debug, Default)]
pub struct JoinOptions {
    /// The dimension.
    pub along: Along,
    /// Whether the stores are put in the order of their coordinates.
    pub sort: bool,
    /// The joined objects, as a path or pattern in each store; `None` for everything. Other objects are not shown.
    pub path: Option<String>,
    /// How far floating-point numbers may differ in content that is not joined: coordinates of other dimensions, and
    /// arrays without the dimension. The numbers of the first store are used.
    pub tolerance: Tolerance,
    /// How the stores are opened.
    pub open: OpenOptions,
}

/// Several stores as one. Arrays along the dimension are joined; all other objects must be the same in all stores, and
/// are taken from the first one. Attributes may differ as long as they do not determine what values mean.
///
/// Time counts since different epochs are converted to the epoch of the first store, if that represents the same
/// instants. If the unit or type of the first store cannot represent them, all are converted to a shorter unit or a
/// wider type that can.
///
/// ```
/// use hyperslab::{Along, Axis, File, JoinOptions, Joined, NodePath, StoreBuilder, select::Select};
/// # use hyperslab::{convert::{ConvertOptions, convert, plan}, publish::Fingerprint, target_format_of};
///
/// # let folder = tempfile::tempdir()?;
/// # let mut paths = Vec::new();
/// # for day in 0..2_i32 {
/// #     let mut store = StoreBuilder::new();
/// #     store.coordinate("/time", &[day])?.attribute("units", "days since 2020-01-01");
/// #     store.array("/t", &["/time"], &[day * 10])?;
/// #     let path = folder.path().join(format!("day{day}.zarr"));
/// #     let options = ConvertOptions::new(target_format_of(&path)?);
/// #     let source = store.build();
/// #     let plan = plan(&*source, &options)?;
/// #     convert(&*source, &Fingerprint::of_sources(&[], String::new())?, &path, &plan, &options)?;
/// #     paths.push(path);
/// # }
/// let options = JoinOptions { along: Along::Named("time".into()), ..JoinOptions::default() };
/// let joined = Joined::open(&paths, &options)?;
/// assert_eq!(joined.along(), &Axis::Named(NodePath::new("/time")?));
/// assert_eq!(File::from(joined.shared()).array("/t")?.read::<i32>(&Select::all())?, [0, 10]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub struct Joined {
    stores: Arc<Stores>,
    axis: Axis,
    size: u64,
    parts: Vec<PathBuf>,
    notes: Vec<String>,
    gaps: Vec<String>,
    /// The value ranges of all stores, where they differ.
    ranges: Ranges,
    /// The part that is joined and shown; `None` for everything.
    shown: Option<Parts>,
    /// The chunk counts of joined arrays, as far as they were determined.
    chunks: Counted,
}

/// The chunk counts of arrays; chunks are counted only once.
type Counted = Arc<Mutex<FxHashMap<NodePath, Option<Chunks>>>>;

impl Joined {
    /// Opens the stores at these paths and checks whether they can be joined.
    ///
    /// # Errors
    /// If a store cannot be opened; if it is unclear along which dimension they are joined; if objects, types, units
    /// or other attributes that determine what values mean differ; if coordinates overlap or are not in order.
    pub fn open(paths: &[PathBuf], options: &JoinOptions) -> Result<Joined> {
        let Some(first) = paths.first() else { return Err(Error::invalid("no stores to join")) };
        let mut opening = Opening::new(options);
        let (mut source, mut entries) = opening.listed(first)?;
        let found = match &options.along {
            Along::New(name) => {
                let others = paths.get(1..).unwrap_or_default();
                NewDimension::find(name, (&*source, &entries), others, &opening).and_then(|new| {
                    let axis = Axis::Named(new.path().clone());
                    opening = opening.clone().along(new);
                    source = opening.shown(Arc::clone(&source));
                    entries = objects(&*source, options)?;
                    Ok(axis)
                })
            }
            Along::Named(name) => axis::find((&*source, &entries), None, Some(name)),
            Along::Unnamed => {
                let second = paths.get(1).map(|second| opening.listed(second)).transpose()?;
                let listed = second.as_ref().map(|(source, entries)| (&**source, entries.as_slice()));
                axis::find((&*source, &entries), listed, None)
            }
        };
        let axis = found.map_err(|error| error.in_file(first.display()))?;
        let mut paths = paths.to_vec();
        if options.sort {
            paths = coordinate::sorted(paths, &axis, &opening)?;
        }
        if let Some(now) = paths.first().filter(|now| *now != first) {
            (source, entries) = opening.listed(now)?;
        }
        Joined::of_stores((source, entries), paths, axis, opening)
    }

    fn of_stores(
        (mut first, mut entries): (Arc<dyn Source>, Vec<Entry>),
        paths: Vec<PathBuf>,
        axis: Axis,
        opening: Opening,
    ) -> Result<Joined> {
        let mut reformed = BTreeSet::new();
        // Each iteration makes a unit shorter or a type wider, so there are few iterations.
        loop {
            let joined = Joined::of_forms((&first, &entries), &paths, &axis, &opening, &reformed)?;
            match joined {
                Ok(joined) => return Ok(joined),
                Err(forms) => {
                    reformed.extend(forms.keys().cloned());
                    first = Reformed::shared(first, forms);
                    entries = objects(&*first, opening.options())?;
                }
            }
        }
    }

    /// Joins the stores, or returns the forms that times in the first one must have before they can be joined.
    fn of_forms(
        (first, entries): (&Arc<dyn Source>, &[Entry]),
        paths: &[PathBuf],
        axis: &Axis,
        opening: &Opening,
        reformed: &BTreeSet<NodePath>,
    ) -> Result<std::result::Result<Joined, Forms>> {
        let options = opening.options();
        let mut template = Template::new(paths, &**first, entries, (axis, options.tolerance), reformed)?;
        let mut order = Order::new(&template, axis);
        let (shown, chunks) = (chosen(&**first, options)?, Counted::default());
        let mut stores = Stores::new(paths.to_vec(), Arc::clone(first), opening.clone());
        let mut size = 0_u64;
        let mut parts = BTreeSet::new();
        for (number, path) in paths.iter().enumerate() {
            let in_store = |error: Error| error.in_file(path.display());
            let stamp = Stamp::of(path);
            let (source, entries) = match number {
                0 => (Arc::clone(first), None),
                _ => opening.listed(path).map(|(source, entries)| (source, Some(entries)))?,
            };
            let found = template.compare(&*source, entries.as_deref(), number).map_err(in_store)?;
            if let Some(forms) = template.wanted() {
                return Ok(Err(forms));
            }
            order.add(&*source, &found).map_err(in_store)?;
            size = size.saturating_add(source.size().map_err(in_store)?);
            parts.extend(files::parts(path, source, &options.open)?);
            stores.push(found.length, found.recounts, stamp);
        }
        let gaps = order.check(paths)?;
        let mut notes = template.notes();
        notes.extend(order.note());
        let parts = parts.into_iter().collect();
        let ranges = template.into_ranges();
        let (stores, axis) = (Arc::new(stores), axis.clone());
        Ok(Ok(Joined { stores, axis, size, parts, notes, gaps, ranges, shown, chunks }))
    }

    /// The dimension along which the stores are joined.
    pub fn along(&self) -> &Axis {
        &self.axis
    }

    /// The paths of the stores, in the order in which they are joined.
    pub fn paths(&self) -> &[PathBuf] {
        self.stores.paths()
    }

    /// The length of each store along the dimension, in the order in which they are joined.
    pub fn lengths(&self) -> Vec<u64> {
        let spans = (0..self.stores.count()).map(|store| self.stores.span(store));
        spans.map(|span| span.end.saturating_sub(span.start)).collect()
    }

    /// The other files that are read when the stores are read, as [`files::parts`] finds them.
    pub fn parts(&self) -> &[PathBuf] {
        &self.parts
    }

    /// Differences that do not prevent joining: attributes, time counts since other epochs, and numbers within the
    /// tolerance.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Gaps between the coordinates of stores, and steps between stores that differ from those within stores.
    pub fn gaps(&self) -> &[String] {
        &self.gaps
    }

    /// The joined stores as a source that threads can share.
    pub fn shared(self) -> Arc<dyn Source> {
        Arc::new(self)
    }

    /// The index of the dimension along which an array is joined.
    fn dimension_of(&self, dims: &[Dimension]) -> Option<usize> {
        self.axis.positions(dims).next()
    }

    /// Extends a shape to the length of all stores together.
    fn lengthen(&self, path: &NodePath, kind: NodeKind, shape: &mut Shape) {
        let named = along(path, kind, shape.dims());
        if let Some(at) = self.dimension_of(&named)
            && let Shape::Dims(dims) = shape
            && let Some(dimension) = dims.get_mut(at)
        {
            dimension.extent = dimension.extent.resized(self.stores.length());
        }
    }
}

/// The part of a store that is joined; `None` for everything.
fn chosen(source: &dyn Source, options: &JoinOptions) -> Result<Option<Parts>> {
    let Some(path) = &options.path else { return Ok(None) };
    let location = Locator { store: String::new(), path: Some(path.clone()) };
    let targets = location.targets(source)?;
    if let Some(name) = targets.iter().find_map(|target| target.attribute.as_ref()) {
        let what = format!("@{name} is an attribute, expected arrays or groups");
        return Err(Error::invalid(what).in_object(path));
    }
    let entries: Vec<_> = targets.into_iter().map(|target| target.entry).collect();
    Parts::new(source, &entries).map(Some)
}

/// The joined objects of a store, groups before their members.
fn objects(source: &dyn Source, options: &JoinOptions) -> Result<Vec<Entry>> {
    let root = source.find(&NodePath::root())?;
    let parts = chosen(source, options)?;
    let mut objects = Vec::new();
    let mut visit = |entry: Entry| {
        if parts.as_ref().is_none_or(|parts| parts.has(&entry)) {
            objects.push(entry);
        }
    };
    if !matches!(root.item, Item::Group) {
        visit(root);
        return Ok(objects);
    }
    walk(source, &root.handle, &mut |step| {
        match step {
            Step::Enter(group, _) => visit(Entry { handle: group.clone(), item: Item::Group }),
            Step::Member(entry) => visit(entry.clone()),
            Step::Leave(_) => {}
        }
        Ok(())
    })?;
    Ok(objects)
}

impl SourceView for Joined {
    fn viewed(&self) -> &dyn Source {
        &**self.stores.first()
    }

    fn read_size(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        match &self.shown {
            Some(shown) if !path.is_root() && !shown.has_path(path) => {
                Err(Error::not_found("is not among the objects that are joined").in_object(path))
            }
            _ => self.entry(self.viewed().find(path)?),
        }
    }

    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        let is_shown = |entry: &Entry| self.shown.as_ref().is_none_or(|shown| shown.has(entry));
        let members = self.viewed().members(group)?.into_iter().filter(is_shown);
        members.map(|entry| self.entry(entry)).collect()
    }

    fn entry(&self, mut entry: Entry) -> Result<Entry> {
        let path = entry.handle.path.clone();
        if let Item::Array { kind, shape, stored, .. } = &mut entry.item {
            let before = shape.len();
            self.lengthen(&path, *kind, shape);
            if let (Stored::Bytes(bytes), Some(before), Some(now)) = (stored, before, shape.len())
                && before > 0
            {
                *bytes = bytes.saturating_mul(now) / before;
            }
        }
        Ok(entry)
    }

    fn node(&self, object: &Handle, mut node: Node) -> Result<Node> {
        self.ranges.apply(&object.path, &mut node);
        match &mut node {
            Node::Ndarray(array) => {
                self.lengthen(&object.path, NodeKind::Ndarray, &mut array.shape);
                if self.dimension_of(array.shape.dims()).is_some() {
                    forget_elsewhere(&mut array.storage);
                }
                if self.axis.is_at(&object.path) {
                    array.dimension = array.dimension.map(|extent| extent.resized(self.stores.length()));
                }
            }
            Node::DimCoord(dimcoord) if self.axis.is_at(&object.path) => {
                dimcoord.size = dimcoord.size.resized(self.stores.length());
                // The domain covers the first store only.
                dimcoord.storage.domain = None;
            }
            _ => {}
        }
        Ok(node)
    }

    fn elements(&self, object: &Handle, array: Arc<dyn ArraySource>) -> Result<Arc<dyn ArraySource>> {
        let entry = self.stores.first().find(&object.path)?;
        let Some(dimension) = entry.dimensions().and_then(|dims| self.dimension_of(&dims)) else {
            return Ok(array);
        };
        let mut joined = JoinedArray::new(
            Arc::clone(&self.stores),
            object.path.clone(),
            dimension,
            array,
            Arc::clone(&self.chunks),
        );
        if joined.datatype().has_slots() {
            joined.most = most_content(self, &joined)?;
        }
        Ok(Arc::new(joined))
    }

    fn cells_of(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        match self.stores.first().cells(group)? {
            Some(_) => {
                let what = "the array is sparse, and cells of several stores are not joined";
                Err(Error::unsupported(what).in_object(&group.path))
            }
            None => Ok(None),
        }
    }
}
