//! Simple access for programs: open a file, choose an array, read a selection.

#[cfg(feature = "ndarray")]
mod ndarray;
mod number;

pub use number::Number;

use crate::format::{Location, OpenOptions};
use crate::formats::{open, open_location};
use crate::links::follow;
use crate::location::missing_attribute;
use crate::operation::Operation;
use crate::pool::Pool;
use crate::select::{Select, Selected};
use crate::show::with_coordinate;
use crate::source::engine;
use crate::source::{ArraySource, ChunkLevel, Entry, Item, Source, check_counts};
use crate::strings::{Strings, Utf8};
use crate::validity::absent;
use hyperslab_core::nd::{Selection, element_bytes};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Attribute, Attributes, Datatype, Elements, Node, NodePath, Shape, Values};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// An open file or store of any format. Clones share it, and any number of threads may read at the same time.
///
/// ```
/// use hyperslab::File;
/// use hyperslab::select::Select;
///
/// let file = File::open("../../examples/ocean.nc")?;
/// let salinity = file.array("/salinity")?;
/// assert_eq!(salinity.shape(), [9, 5, 3, 8]);
/// let line = salinity.read::<f32>(&Select::all().dim("time", 0).dim("depth", 0).dim("lat", 0))?;
/// assert_eq!(line.len(), 8);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct File {
    source: Arc<dyn Source>,
}

/// A group of an open file.
#[derive(Clone)]
pub struct Group {
    source: Arc<dyn Source>,
    entry: Entry,
}

/// An array of an open file. It keeps the file open. Clones share it.
#[derive(Clone)]
pub struct Array {
    source: Arc<dyn Source>,
    array: Arc<dyn ArraySource>,
    entry: Entry,
    /// The dimensions to which selections refer.
    shape: Shape,
}

impl File {
    /// Opens a file or directory, with the format detected from its content.
    ///
    /// # Errors
    /// As [`open`](crate::open()).
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        File::open_with(path, &OpenOptions::default())
    }

    /// Opens a file or directory with the caller's limits, threads and other options.
    ///
    /// # Errors
    /// As [`open`](crate::open()).
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<File> {
        open(path.as_ref(), options).map(File::from)
    }

    /// Opens data at any location: bytes in any storage, or the values of any [`Store`](crate::store::Store).
    ///
    /// # Errors
    /// As [`open_location`](crate::open_location()).
    pub fn open_location(location: Location, options: &OpenOptions) -> Result<File> {
        open_location(location, options).map(File::from)
    }

    /// The source that all verbs of this crate read.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// The name of the format: `HDF5`, `NetCDF-4`.
    pub fn format(&self) -> &'static str {
        self.source.format()
    }

    /// The root group.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn root(&self) -> Result<Group> {
        self.group("/")
    }

    /// The group at a path. Follows links.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if there is no object, [`InvalidArgument`](ErrorKind::InvalidArgument) if it
    /// is not a group.
    pub fn group(&self, path: &str) -> Result<Group> {
        let entry = self.find(path)?;
        match entry.item {
            Item::Group => Ok(Group { source: Arc::clone(&self.source), entry }),
            other => {
                Err(Error::invalid(format!("is a {}, expected a group", other.kind().word())).in_object(path))
            }
        }
    }

    /// The array at a path, or the coordinates of the dimension at a path. Follows links.
    ///
    /// # Errors
    /// As [`File::group`].
    pub fn array(&self, path: &str) -> Result<Array> {
        let entry = self.find(path)?;
        Array::new(&self.source, entry).map_err(|e| e.in_object(path))
    }

    fn find(&self, path: &str) -> Result<Entry> {
        let path = NodePath::new(path).map_err(|e| Error::new(ErrorKind::NotFound, e.detail().to_owned()))?;
        follow(&*self.source, self.source.find(&path)?)
    }
}

impl From<Arc<dyn Source>> for File {
    fn from(source: Arc<dyn Source>) -> File {
        File { source }
    }
}

impl Group {
    /// The path of the group.
    pub fn path(&self) -> &NodePath {
        &self.entry.handle.path
    }

    /// The members in stored order: groups, arrays, datatypes, links, and objects that cannot be read.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn members(&self) -> Result<Vec<Entry>> {
        self.source.members(&self.entry.handle)
    }

    /// The groups among the members.
    ///
    /// # Errors
    /// As [`Group::members`].
    pub fn groups(&self) -> Result<Vec<Group>> {
        let groups = self.members()?.into_iter().filter(|entry| matches!(entry.item, Item::Group));
        Ok(groups.map(|entry| Group { source: Arc::clone(&self.source), entry }).collect())
    }

    /// The arrays among the members, including coordinates of dimensions. An array that cannot be opened is an error
    /// in its place.
    ///
    /// # Errors
    /// As [`Group::members`].
    pub fn arrays(&self) -> Result<Vec<Result<Array>>> {
        let has_elements = |entry: &Entry| matches!(entry.item, Item::Array { datatype: Some(_), .. });
        Ok(self.members()?.into_iter().filter(has_elements).map(|entry| self.array(entry)).collect())
    }

    /// The array of an entry that [`Group::members`] returned. It is not looked up again, which would take longer than
    /// opening it.
    ///
    /// # Errors
    /// If it is not an array, or cannot be opened.
    pub fn array(&self, member: Entry) -> Result<Array> {
        let path = member.handle.path.clone();
        Array::new(&self.source, member).map_err(|e| e.in_object(path))
    }

    /// The attributes. An attribute that cannot be read is an error in its place.
    ///
    /// # Errors
    /// If the group cannot be read.
    pub fn attributes(&self) -> Result<Attributes> {
        attributes(&*self.source, &self.entry)
    }
}

impl Array {
    fn new(source: &Arc<dyn Source>, entry: Entry) -> Result<Array> {
        let shape = match &entry.item {
            Item::Array { datatype: None, .. } => {
                return Err(Error::invalid("is a dimension without coordinates, expected an array"));
            }
            Item::Array { kind, shape, .. } => with_coordinate(*kind, shape, &entry.handle.path),
            Item::Unreadable(why) => return Err(Error::new(why.kind, why.reason.clone())),
            other => return Err(Error::invalid(format!("is a {}, expected an array", other.kind().word()))),
        };
        let array = source.array(&entry.handle)?;
        Ok(Array { source: Arc::clone(source), array, entry, shape })
    }

    /// The same array, read with the threads, the memory and the token of another pool.
    #[must_use]
    pub fn with_pool(&self, pool: &Pool) -> Array {
        Array { array: Operation::of_array(Arc::clone(&self.array), pool.clone()), ..self.clone() }
    }

    /// An integer that no valid element of a nullable array has, so it can stand for nulls: the largest of an unsigned
    /// type or the smallest of a signed one, if it is free. `None` for other arrays, and if the ends of the range are
    /// all in use. Reads the array.
    ///
    /// # Errors
    /// If the system fails to read it.
    pub fn absent_integer(&self) -> Result<Option<Values>> {
        let absent = absent(&*self.array).map_err(|e| e.in_object(self.path()))?;
        Ok(absent.map(|row| Values { rows: row.into(), ..Values::default() }))
    }

    /// The array without its elements: dimensions, attributes, and how it is stored.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn load(&self) -> Result<Node> {
        self.source.load(&self.entry.handle).map_err(|e| self.named(e))
    }

    /// The path of the array.
    pub fn path(&self) -> &NodePath {
        &self.entry.handle.path
    }

    /// The shape; empty for a scalar and for a null dataspace, which has no elements.
    pub fn shape(&self) -> &[u64] {
        self.array.extents().unwrap_or_default()
    }

    /// The shape of a chunk; all ones if the array is not chunked.
    pub fn chunk(&self) -> &[u64] {
        self.array.chunk()
    }

    /// The names of the dimensions; `None` for a dimension without a name.
    pub fn dimensions(&self) -> Vec<Option<&str>> {
        let names = self.shape.dims().iter().map(|dimension| Some(dimension.coordinate.as_ref()?.name()));
        names.collect()
    }

    /// The datatype of the elements.
    pub fn datatype(&self) -> &Arc<Datatype> {
        self.array.datatype()
    }

    /// The attributes. An attribute that cannot be read is an error in its place.
    ///
    /// # Errors
    /// If the array cannot be read.
    pub fn attributes(&self) -> Result<Attributes> {
        attributes(&*self.source, &self.entry)
    }

    /// The attribute with this name.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if there is no attribute with this name.
    pub fn attribute(&self, name: &str) -> Result<Attribute> {
        let all = self.attributes()?;
        match all.get(name) {
            Some(Ok(attribute)) => Ok(attribute.clone()),
            Some(Err(why)) => {
                Err(Error::new(why.kind, why.reason.clone()).in_object(format!("{}@{name}", self.path())))
            }
            None => Err(missing_attribute(self.path(), name, all.keys().map(String::as_str))),
        }
    }

    /// Calls `visit` with the place of each chunk that was written: the file or key, offset, length and filter mask. No
    /// chunk is read, and nothing is collected. HDF5 chunks are visited in row-major order, Zarr chunks in the order in
    /// which the store lists them. An unchunked array counts as one chunk, as does each record of the NetCDF classic
    /// formats.
    ///
    /// The return value states whether there were places to visit.
    ///
    /// # Errors
    /// If the chunks cannot be listed; the errors of `visit`.
    pub fn chunk_places(
        &self,
        level: ChunkLevel,
        mut visit: impl FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        self.array.chunk_places(level, &mut visit).map_err(|e| self.named(e))
    }

    /// The elements, as all verbs of this crate read them.
    pub fn elements(&self) -> &Arc<dyn ArraySource> {
        &self.array
    }

    /// The shape of a selection. Dimensions with a single selected position are dropped. Points and masks yield one
    /// dimension.
    ///
    /// # Errors
    /// If the selection does not fit the array.
    pub fn selected_shape(&self, select: &Select) -> Result<Vec<u64>> {
        self.wanted(select).map(|wanted| wanted.shape())
    }

    /// Reads the selected elements in row-major order. Their datatype must be exactly `T`.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) if the datatype differs, with both types in the message (see
    /// [`Array::cast`]), or if the selection does not fit; any error of reading.
    pub fn read<T: Number>(&self, select: &Select) -> Result<Vec<T>> {
        self.check_type::<T>()?;
        let wanted = self.wanted(select)?;
        let mut out = Vec::new();
        let count = wanted.count()?;
        out.try_reserve_exact(count)
            .map_err(|_| Error::new(ErrorKind::LimitExceeded, "more elements than memory holds"))?;
        out.resize(count, T::zeroed());
        self.fill(&wanted, bytemuck::cast_slice_mut(&mut out), &mut Heap::default())?;
        Ok(out)
    }

    /// Reads the selected elements in row-major order into `out`, whose length must be the number of selected elements.
    ///
    /// # Errors
    /// As [`Array::read`]; if `out` has another length. `out` is then unspecified.
    pub fn read_into<T: Number>(&self, select: &Select, out: &mut [T]) -> Result<()> {
        self.check_type::<T>()?;
        let wanted = self.wanted(select)?;
        let count = wanted.count()?;
        if out.len() != count {
            let found = out.len();
            return Err(self.named(Error::invalid(format!("memory of {found} elements for {count}"))));
        }
        self.fill(&wanted, bytemuck::cast_slice_mut(out), &mut Heap::default())
    }

    /// Reads the selected elements in row-major order and converts them to `T`: integers, enumerations, booleans and
    /// floating-point numbers. Floating-point numbers are rounded to the nearest; nulls become NaN.
    ///
    /// # Errors
    /// If an element is out of range of `T`; the error names it. Otherwise as [`Array::read`].
    pub fn cast<T: Number>(&self, select: &Select) -> Result<Vec<T>> {
        let values = self.values(select)?;
        let datatype = self.datatype();
        let elements = Elements::new(datatype, &values).enumerate();
        let cast = elements.map(|(index, element)| {
            T::cast(element.get()).ok_or_else(|| {
                let element = hyperslab_ndl::plain(element);
                let to = T::datatype();
                self.named(Error::invalid(format!(
                    "element {index} is {element} ({datatype}), which {to} does not hold"
                )))
            })
        });
        cast.collect()
    }

    /// Reads the selected strings in row-major order.
    ///
    /// # Errors
    /// If the elements are not strings or cannot be read; for [`Utf8::Strict`], if a string is not UTF-8.
    pub fn strings(&self, select: &Select, utf8: Utf8) -> Result<Strings> {
        let values = self.values(select)?;
        Strings::of(self.datatype(), &values, utf8).map_err(|e| self.named(e))
    }

    /// Reads the selected elements of any datatype in row-major order: fixed-size rows, and the heap with strings and
    /// sequences.
    ///
    /// # Errors
    /// If the selection does not fit, or elements cannot be read.
    pub fn values(&self, select: &Select) -> Result<Values> {
        let wanted = self.wanted(select)?;
        let read = match &wanted {
            Wanted::Outer(selected) => selected.read(&*self.array),
            Wanted::Elements(selection, _) => self.array.select(selection),
        };
        read.map_err(|e| self.named(e))
    }

    /// Reads the selected elements of any type into the caller's memory: `rows` takes [`row_size`](Datatype::row_size)
    /// bytes for each. `heap` must be empty, or filled by reading from this array.
    ///
    /// # Errors
    /// As [`Array::values`]; if `rows` has another length. `rows` is then unspecified.
    pub fn select_into(
        &self,
        select: &Select,
        rows: &mut [u8],
        heap: &mut Heap<hyperslab_model::Reference>,
    ) -> Result<()> {
        self.fill(&self.wanted(select)?, rows, heap)
    }

    fn fill(
        &self,
        wanted: &Wanted,
        rows: &mut [u8],
        heap: &mut Heap<hyperslab_model::Reference>,
    ) -> Result<()> {
        let filled = match wanted {
            Wanted::Outer(selected) => selected.read_into(&*self.array, rows, heap),
            Wanted::Elements(selection, _) => engine::selected_into(&*self.array, selection, rows, heap),
        };
        filled.map_err(|e| self.named(e))
    }

    fn wanted(&self, select: &Select) -> Result<Wanted> {
        let wanted = || {
            let Some(extents) = self.array.extents() else {
                return Err(Error::invalid("a null dataspace has no elements"));
            };
            let wanted = match select.elements(extents)? {
                Some(selection) => {
                    let count = selection.count(extents).unwrap_or(u64::MAX);
                    Wanted::Elements(selection, count)
                }
                None => {
                    Wanted::Outer(Selected::new(&*self.source, std::slice::from_ref(select), &self.shape)?)
                }
            };
            check_counts(&*self.source, &*self.array, &wanted.counts())?;
            Ok(wanted)
        };
        wanted().map_err(|e| self.named(e))
    }

    fn check_type<T: Number>(&self) -> Result<()> {
        let (found, wanted) = (self.datatype(), T::datatype());
        match *found.resolved() == wanted {
            true => Ok(()),
            false => Err(self.named(
                Error::invalid(format!("elements of type {found}, read as {wanted}"))
                    .with_hint(format_args!("read them as {found}, or cast them")),
            )),
        }
    }

    fn named(&self, error: Error) -> Error {
        error.in_object(self.path())
    }
}

/// A selection resolved for one array.
enum Wanted {
    Outer(Selected),
    Elements(Selection, u64),
}

impl Wanted {
    fn counts(&self) -> Vec<u64> {
        match self {
            Wanted::Outer(selected) => selected.counts(),
            Wanted::Elements(_, count) => vec![*count],
        }
    }

    fn shape(&self) -> Vec<u64> {
        let counts = self.counts();
        match self {
            Wanted::Outer(selected) => {
                selected.kept().into_iter().filter_map(|at| counts.get(at).copied()).collect()
            }
            Wanted::Elements(..) => counts,
        }
    }

    fn count(&self) -> Result<usize> {
        element_bytes(&self.counts(), 1)
    }
}

fn attributes(source: &dyn Source, entry: &Entry) -> Result<Attributes> {
    let path = &entry.handle.path;
    match source.load(&entry.handle).map_err(|e| e.in_object(path))? {
        Node::Group(group) => Ok(group.attributes),
        Node::Ndarray(array) => Ok(array.attributes),
        Node::DimCoord(dimcoord) => Ok(dimcoord.attributes),
        Node::Unreadable(why) => Ok(why.attributes),
        _ => Ok(Attributes::default()),
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("format", &self.format()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("path", self.path()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, datatype) = (self.shape(), self.datatype());
        f.debug_struct("Array")
            .field("path", self.path())
            .field("shape", &shape)
            .field("datatype", &format_args!("{datatype}"))
            .finish_non_exhaustive()
    }
}
