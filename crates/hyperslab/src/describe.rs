//! Describes a store as NDL.

use crate::cells::{CellColumn, CellOrder, CellQuery};
use crate::formats::{self, array_name, strip_default_directives};
use crate::location::{LocatedObject, outermost};
use crate::source::{Entry, Handle, Item, MissingSources, Source, check_size};
use crate::walk::{Step, walk_to};
use hyperslab_core::nd::{Region, element_count};
use hyperslab_core::{Error, ErrorKind, Result, valid};
use hyperslab_model::{Cells, Column, Datatype, Group, Node, NodeKind, NodePath, Shape, Unreadable, Values};
use hyperslab_ndl::{Emitter, Format, Head, Options, StorageDetail};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::io::Write;

/// The options of a description.
#[derive(Clone, Debug, Default)]
pub struct DescribeOptions {
    /// Include values of arrays of at most this number of elements.
    pub values: Option<u64>,
    /// How much of `storage` to write.
    pub storage: StorageDetail,
    /// The number of levels of groups below the described one.
    pub depth: Option<usize>,
    /// Write NDL 0.6.1 without extensions.
    pub pure: bool,
    /// Write JSON instead of YAML.
    pub json: bool,
}

/// The result of a description.
#[derive(Debug, Default)]
pub struct Description {
    /// The number of described objects, including those with errors.
    pub objects: u64,
    /// The errors, object by object.
    pub errors: Vec<Error>,
    /// The content that pure NDL cannot express, with its replacement.
    pub notes: Vec<String>,
    /// The virtual arrays whose sources do not exist, so that some of their values are fill values.
    pub missing: Vec<(NodePath, MissingSources)>,
}

/// Writes the NDL document of `targets` in `source`. `location` is the name of the source for the reader.
///
/// An attribute is described with its object, but without the other attributes and without anything below a group.
///
/// # Errors
/// If writing fails, or pure NDL cannot express something. Unreadable objects are marked in the document and are among
/// the errors of the [`Description`].
pub fn describe(
    source: &dyn Source,
    location: &str,
    targets: &[LocatedObject],
    options: &DescribeOptions,
    out: &mut dyn Write,
) -> Result<Description> {
    let format = if options.json { Format::Json } else { Format::Yaml };
    // The description of a description still names the original file.
    let origin = source.origin();
    let title = origin.map_or(source.format(), |origin| &origin.format);
    // A document keeps its values.
    let values = match source.is_text() {
        true => origin
            .map_or(Some(u64::MAX), |origin| origin.values)
            .map(|has| has.min(options.values.unwrap_or(has))),
        false => options.values,
    };
    let dialect = formats::dialect(title).unwrap_or(source.dialect());
    let texts_are_characters = dialect.texts_are_characters;
    let shown = Options { values, storage: options.storage, pure: options.pure, texts_are_characters };
    let emitter = Emitter::new(format, shown);
    let location = origin.map_or(location, |origin| &origin.location);
    let location = location.rsplit('/').next().unwrap_or(location);
    let only = targets.iter().filter_map(|target| {
        target.attribute.as_ref().map(|name| (target.entry.handle.path.clone(), name.clone()))
    });
    let only = Some(only.collect::<FxHashSet<_>>()).filter(|only| !only.is_empty());
    let mut document =
        Document { source, location, options, values, only, emitter, done: Description::default() };
    for entry in document.plan(targets)? {
        document.target(&entry)?;
    }
    source.pool().check()?;
    let Document { emitter, mut done, .. } = document;
    done.notes = emitter.notes();
    // The name is in a comment, which a line break would end.
    let name = location.replace(hyperslab_ndl::is_hidden, "\u{fffd}");
    let format = title.to_lowercase().replace('-', "");
    emitter.finish(&Head { location: &name, format: &format, title, version: VERSION }, out)?;
    Ok(done)
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

struct Document<'a> {
    source: &'a dyn Source,
    location: &'a str,
    options: &'a DescribeOptions,
    /// Include values of arrays of at most this number of elements.
    values: Option<u64>,
    /// The described attributes: paths of objects, and names. `None` for all.
    only: Option<FxHashSet<(NodePath, String)>>,
    emitter: Emitter,
    done: Description,
}

impl Document<'_> {
    /// The described objects, group by group: the targets, and the dimensions and named types of other groups that
    /// they use.
    fn plan(&mut self, targets: &[LocatedObject]) -> Result<Vec<Entry>> {
        // Groups are described without their members if only their attributes are requested.
        let mut entries: Vec<Entry> = match &self.only {
            Some(_) => targets.iter().map(|target| target.entry.clone()).collect(),
            None => outermost(targets).map(|target| target.entry.clone()).collect(),
        };
        for path in self.used_outside(&entries)? {
            match self.source.find(&path) {
                Ok(entry) => entries.push(entry),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => self.done.errors.push(error.in_object(&path)),
            }
        }
        let group = |entry: &Entry| match (&entry.item, entry.handle.path.parent()) {
            (Item::Group, _) | (_, None) => entry.handle.path.to_string(),
            (_, Some(parent)) => parent.to_string(),
        };
        entries.sort_by_cached_key(group);
        Ok(entries)
    }

    fn used_outside(&mut self, entries: &[Entry]) -> Result<BTreeSet<NodePath>> {
        let mut used = BTreeSet::new();
        let paths: FxHashSet<&NodePath> = entries.iter().map(|entry| &entry.handle.path).collect();
        if paths.contains(&NodePath::root()) && self.only.is_none() {
            return Ok(used);
        }
        let are_whole = self.only.is_none();
        let within = |path: &NodePath| {
            if !are_whole {
                return paths.contains(path);
            }
            std::iter::successors(Some(path.clone()), NodePath::parent).any(|path| paths.contains(&path))
        };
        for entry in entries {
            self.visit(entry, &mut |document, entry| {
                if let Ok(node) = document.source.load(&entry.handle) {
                    uses(&node, &mut used);
                }
                Ok(())
            })?;
        }
        // A dimension can also have a named type.
        let found: Vec<Entry> = used.iter().filter_map(|path| self.source.find(path).ok()).collect();
        for entry in &found {
            if let Ok(node) = self.source.load(&entry.handle) {
                uses(&node, &mut used);
            }
        }
        used.retain(|path| !within(path));
        Ok(used)
    }

    fn target(&mut self, entry: &Entry) -> Result<()> {
        self.visit(entry, &mut |document, entry| document.object(entry))
    }

    /// Visits an object, and the objects below it up to the depth.
    fn visit(&mut self, entry: &Entry, visit: &mut dyn FnMut(&mut Self, &Entry) -> Result<()>) -> Result<()> {
        if !matches!(entry.item, Item::Group) || self.only.is_some() {
            return visit(self, entry);
        }
        let source = self.source;
        let depth = self.options.depth.unwrap_or(usize::MAX);
        walk_to(source, &entry.handle, depth, &mut |step| match step {
            Step::Enter(group, members) => {
                self.declare(members);
                visit(self, &Entry { handle: group.clone(), item: Item::Group })
            }
            Step::Member(entry) => visit(self, entry),
            Step::Leave(_) => Ok(()),
        })
    }

    /// Declares the names of dimensions before the first shape that may use one.
    fn declare(&mut self, members: &[Entry]) {
        let mut arrays = FxHashSet::default();
        for entry in members {
            match &entry.item {
                Item::Array { kind: NodeKind::DimCoord, datatype, .. } => {
                    self.emitter.declare_dimcoord(&entry.handle.path, datatype.is_some());
                }
                Item::Array { .. } => drop(arrays.insert(&entry.handle.path)),
                _ => {}
            }
        }
        // An array can have the path of a dimension without being its coordinates.
        for entry in members {
            let Item::Array { shape, .. } = &entry.item else { continue };
            let named = shape.dims().iter().filter_map(|dimension| dimension.coordinate.as_ref());
            named.filter(|of| arrays.contains(of)).for_each(|of| self.emitter.declare_dimcoord(of, false));
        }
    }

    fn object(&mut self, entry: &Entry) -> Result<()> {
        self.done.objects += 1;
        let path = &entry.handle.path;
        if path.as_str().split('/').any(|name| matches!(name, "." | "..")) {
            let error = Error::unsupported("a name that paths of NDL cannot have; it is left out");
            if self.options.pure {
                return Err(error.in_object(path));
            }
            self.done.errors.push(error.in_object(path));
            return Ok(());
        }
        let mut node = match &entry.item {
            Item::Link(link) => Node::Link(link.clone()),
            Item::Unreadable(unreadable) => Node::Unreadable(self.with_attributes(unreadable.clone(), entry)),
            item => match self.load(&entry.handle) {
                Ok(node) => node,
                Err(error) => {
                    let unreadable = Unreadable::new(Some(item.kind()), &error);
                    Node::Unreadable(self.with_attributes(unreadable, entry))
                }
            },
        };
        if let (Some(only), Some(attributes)) = (&self.only, node.attributes_mut()) {
            attributes.retain(|name, _| only.contains(&(path.clone(), name.clone())));
        }
        self.report(path, &node);
        if let (true, Node::Ndarray(_)) = (path.is_root(), &node) {
            // NDL has arrays only in groups. The storage states that the store is a single array.
            self.emitter.node(path, &Node::Group(Group::default()))?;
            return self.emit(&NodePath::root().child(array_name(self.location)), &node);
        }
        self.emit(path, &node)
    }

    fn emit(&mut self, path: &NodePath, node: &Node) -> Result<()> {
        match self.emitter.node(path, node) {
            Ok(()) => Ok(()),
            Err(error) if self.options.pure => Err(error),
            Err(error) => {
                // Values that do not fit their datatype make the object unreadable in the document.
                let unreadable = Node::Unreadable(Unreadable::new(Some(node.kind()), &error));
                self.report(path, &unreadable);
                self.emitter.node(path, &unreadable)
            }
        }
    }

    /// Adds the attributes, which are usually readable even if the object or its values are not.
    fn with_attributes(&self, mut unreadable: Unreadable, entry: &Entry) -> Unreadable {
        if let Some(attributes) = self.source.load(&entry.handle).ok().as_ref().and_then(Node::attributes) {
            unreadable.attributes.clone_from(attributes);
        }
        unreadable
    }

    fn report(&mut self, path: &NodePath, node: &Node) {
        let error = |unreadable: &Unreadable| Error::new(unreadable.kind, unreadable.reason.clone());
        if let Node::Unreadable(unreadable) = node {
            self.done.errors.push(error(unreadable).in_object(path));
        }
        for (name, attribute) in node.attributes().into_iter().flatten() {
            if let Err(unreadable) = attribute {
                self.done.errors.push(error(unreadable).in_object(format!("{path}@{name}")));
            }
        }
    }

    /// The cells of a sparse array in stored order, if a document contains them or there are at most the requested
    /// number.
    fn cells(&self, group: &Handle) -> Result<Option<Cells>> {
        let Some(cells) = self.source.cells(group)? else { return Ok(None) };
        let query = CellQuery { order: CellOrder::Stored, batch: u64::MAX, ..CellQuery::default() };
        let leaves: u64 = cells.columns().iter().map(|column| column.datatype.leaves()).sum();
        let is_wanted = match (self.source.is_text(), self.values) {
            (true, _) => true,
            (false, None) => false,
            (false, Some(most)) => cells.count(&query)?.saturating_mul(leaves) <= most,
        };
        if !is_wanted {
            return Ok(None);
        }
        if let Some(all) = cells.read(&query)? {
            return Ok(Some(all));
        }
        let column = |column: &CellColumn| Column {
            name: column.name.clone(),
            datatype: column.datatype.clone(),
            values: Values::default(),
        };
        Ok(Some(Cells { columns: cells.columns().iter().map(column).collect() }))
    }

    /// Whether an array is a column of the cells of its group.
    fn is_column(&self, array: &NodePath) -> Result<bool> {
        let Some(group) = array.parent() else { return Ok(false) };
        let cells = self.source.cells(&self.source.find(&group)?.handle)?;
        Ok(cells.is_some_and(|cells| cells.columns().iter().any(|column| column.name == array.name())))
    }

    fn load(&mut self, handle: &Handle) -> Result<Node> {
        let mut node = self.source.load(handle)?;
        // A document keeps its storage.
        if self.options.storage != StorageDetail::Full && !self.source.is_text() {
            strip_default_directives(&mut node);
        }
        if let Node::Group(group) = &mut node {
            group.cells = self.cells(handle)?;
        }
        let Some(most) = self.values else { return Ok(node) };
        let has_domain = node.storage().is_some_and(|storage| storage.domain.is_some());
        let is_dimension = matches!(node, Node::DimCoord(_));
        let value = match &mut node {
            Node::Ndarray(ndarray)
                if !matches!(ndarray.shape, Shape::Null | Shape::Unsaid) && ndarray.datatype.is_some() =>
            {
                &mut ndarray.value
            }
            Node::DimCoord(dimcoord) if dimcoord.datatype.is_some() => &mut dimcoord.value,
            _ => return Ok(node),
        };
        // The values of a column are in the cells of its group.
        if self.is_column(&handle.path)? {
            return Ok(node);
        }
        let array = self.source.array(handle)?;
        if is_dimension && array.is_told_elsewhere() {
            return Ok(node);
        }
        let Some(extents) = array.extents() else { return Ok(node) };
        let count = element_count(extents).and_then(|count| count.checked_mul(array.datatype().leaves()));
        // Elements that were never written need no values: the fill value is in `storage`. Values are written if they
        // would otherwise follow from a domain. If a document has no values for an array without elements, or for
        // coordinates that follow from its domain, none are needed.
        let told =
            || self.source.is_text() && count != Some(0) && array.stored().is_ok_and(|stored| stored == 0);
        let written = || -> Result<bool> {
            Ok(match valid(array.is_unwritten())? {
                Some(true) if !has_domain => {
                    count == Some(0) && !self.source.is_text() && !self.is_column(&handle.path)?
                }
                _ => !told(),
            })
        };
        if count.is_some_and(|count| count <= most) && written()? {
            check_size(self.source, &*array)?;
            *value = Some(array.values(&Region::all(array.extents().unwrap_or_default()))?);
            let missing = array.missing_sources()?;
            if !missing.is_empty() {
                self.done.missing.push((handle.path.clone(), missing));
            }
        }
        Ok(node)
    }
}

/// The paths of the dimensions and named types that an object uses.
fn uses(node: &Node, used: &mut BTreeSet<NodePath>) {
    let datatype = match node {
        Node::Ndarray(ndarray) => {
            used.extend(ndarray.shape.dims().iter().filter_map(|d| d.coordinate.clone()));
            ndarray.datatype.as_deref()
        }
        Node::DimCoord(dimcoord) => dimcoord.datatype.as_deref(),
        Node::Datatype(named) => Some(&*named.datatype),
        _ => None,
    };
    let attributes = node.attributes().into_iter().flat_map(|attributes| attributes.values());
    let of_attributes = attributes.filter_map(|a| a.as_ref().ok()).map(|a| &*a.datatype);
    datatype.into_iter().chain(of_attributes).for_each(|datatype| names(datatype, used));
}

fn names(datatype: &Datatype, used: &mut BTreeSet<NodePath>) {
    match datatype {
        Datatype::Named(path, of) => {
            used.insert(path.clone());
            names(of, used);
        }
        Datatype::Compound(members) => members.iter().for_each(|member| names(&member.datatype, used)),
        Datatype::Vlen(base) | Datatype::Array { base, .. } | Datatype::Enum { base, .. } => {
            names(base, used)
        }
        Datatype::Nullable(of) => names(of, used),
        _ => {}
    }
}
