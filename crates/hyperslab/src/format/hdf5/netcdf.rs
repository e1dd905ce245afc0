//! The NetCDF view: dimensions from scales, user-defined types by name, fill values, and hidden attributes.

use super::super::netcdf::default_fill;
use super::super::netcdf::dimension::fits;
use super::super::netcdf::flavour::Flavour;
use super::super::netcdf::name::stored;
use super::super::netcdf::record::{Names, restore_fields};
use super::names::{Shown, record};
use super::objects::extents;
use super::{Hdf5Source, datatype, text};
use crate::source::{Declared, Entry, Handle, Item};
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Heap;
use hyperslab_core::{ErrorKind, Result, valid};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::data_layout::LayoutClass;
use hyperslab_hdf5::{Array, Dataset, File, Object};
use hyperslab_model::{
    Attributes, Datatype, Dimension, Directive, Element, ElementStorage, Elements, Extent, Fill, FillTime,
    NodeKind, NodePath, Shape, Storage, Values,
};
use hyperslab_netcdf4::name::{CLASSIC_MODEL, FILL_VALUE};
use hyperslab_netcdf4::{Scale, dimension_labels, dimension_scales};
use rustc_hash::FxHashMap;
use std::sync::PoisonError;

/// The order in which the NetCDF library encounters the members of a group: the creation order of their links, or the
/// order of their names if the group does not track creation order.
pub(super) fn declared(source: &Hdf5Source, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
    let file = &source.file;
    let object = file.object(Address(group.id))?;
    let mut links = object.all_links(file)?.links;
    if !object.tracks_creation_order(file)? {
        links.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let links = Shown::of(file, &object, links, source.netcdf)?.links;
    let places: FxHashMap<String, u64> = links.into_iter().map(|(name, _)| name).zip(0..).collect();
    members
        .iter()
        .map(|entry| {
            let place = places.get(entry.handle.path.name()).copied().unwrap_or(u64::MAX);
            let dimension = match entry.item {
                Item::Array { .. } => source.dimension_id(Address(entry.handle.id))?,
                _ => None,
            };
            Ok(Declared { place, dimension })
        })
        .collect()
}

/// Whether a file is restricted to the classic model.
pub(super) fn is_classic_model(file: &File) -> Result<bool> {
    Ok(file.root()?.attribute(file, CLASSIC_MODEL.as_bytes())?.is_some())
}

impl Hdf5Source {
    /// The identifier of the dimension that a dataset represents, or that shares its name with a variable.
    fn dimension_id(&self, dataset: Address) -> Result<Option<u64>> {
        let beside = if self.netcdf { self.paths()?.dimension_beside(dataset) } else { None };
        let object = self.file.object(beside.unwrap_or(dataset));
        let id = valid(object.and_then(|object| Scale::dimension_id(&self.file, &object)))?.flatten();
        Ok(id.and_then(|id| u64::try_from(id).ok()))
    }

    /// Sorts dimensions by their identifiers, which is the order of their definition: the library creates datasets of
    /// coordinate variables after those of other dimensions.
    pub(super) fn order_dimensions(&self, members: &mut [Entry]) -> Result<()> {
        let is_dimension = |entry: &Entry| matches!(entry.item, Item::Array { kind: NodeKind::DimCoord, .. });
        let id = |entry: &Entry| {
            let opened = self.open(Address(entry.handle.id));
            let id = opened.and_then(|opened| Scale::dimension_id(&self.file, &opened.object));
            valid(id).map(Option::flatten)
        };
        let ordered = members.iter().filter(|e| is_dimension(e)).map(|e| Ok((id(e)?, e.clone())));
        let mut ordered = ordered.collect::<Result<Vec<(Option<i64>, Entry)>>>()?;
        if ordered.iter().any(|(id, _)| id.is_none()) {
            return Ok(());
        }
        ordered.sort_by_key(|(id, _)| *id);
        let places = members.iter_mut().filter(|entry| is_dimension(entry));
        places.zip(ordered).for_each(|(place, (_, entry))| *place = entry);
        Ok(())
    }

    /// The dimension scale of a dataset; `None` if it is not one.
    pub(super) fn scale(&self, object: &Object) -> Result<Option<Scale>> {
        if self.raw {
            return Ok(None);
        }
        unless_broken(Scale::of(&self.file, object))
    }

    /// Whether a dimension without a coordinate variable has elements other than zeros. NetCDF readers show none, and
    /// parallel writers leave uninitialised memory there. Elements that cannot be read count as nonzero.
    ///
    /// # Errors
    /// If the system fails to read the elements.
    pub(super) fn hides_elements(&self, address: Address) -> Result<bool> {
        let Some(opened) = valid(self.open(address))? else { return Ok(false) };
        let is_pure = self.scale(&opened.object)?.is_some_and(|scale| scale.pure);
        Ok(is_pure && valid(differs_from_zeros(&self.file, &opened.object))?.unwrap_or(true))
    }

    /// Keeps the content of hidden attributes that the dimensions do not express: labels, names of scales that differ
    /// from the names of their datasets, and scales that do not name a dimension.
    pub(super) fn note_bookkeeping(
        &self,
        object: &Object,
        scale: Option<&Scale>,
        dataset: &Dataset,
        storage: &mut Storage,
    ) -> Result<()> {
        if self.raw || !object.has_attributes(&self.file)? {
            return Ok(());
        }
        let mut notes = Vec::new();
        if let Some(scale) = scale.filter(|scale| !scale.pure) {
            let own = self.paths()?.get(object.address()).map(|path| path.name().to_owned());
            let name = text(&scale.name);
            let is_own =
                |own: &String| *own == name || self.netcdf && stored(own, Flavour::Enhanced).0 == name;
            if !self.names_dimension(dataset) || !name.is_empty() && !own.as_ref().is_some_and(is_own) {
                notes.push(("scale".to_owned(), Directive::Text(name)));
            }
        }
        let labels = unless_broken(dimension_labels(&self.file, object))?;
        if labels.iter().any(|label| !label.is_empty()) {
            let labels = labels.iter().map(|label| Directive::Text(text(label))).collect();
            notes.push(("labels".to_owned(), Directive::List(labels)));
        }
        if let Some(scales) = self.other_scales(object, &extents(dataset))? {
            notes.push(("scales".to_owned(), scales));
        }
        if !notes.is_empty() {
            storage.native_mut("hdf5")?.extend(notes);
        }
        Ok(())
    }

    /// The paths of the scales of each dimension, if they are not exactly the dimensions of the model: a dimension may
    /// have a second scale, or a scale may name no dimension or have another length.
    fn other_scales(&self, object: &Object, extents: &[Extent]) -> Result<Option<Directive>> {
        let scales = unless_broken(dimension_scales(&self.file, object))?;
        let mut are_dimensions = true;
        let mut list = Vec::with_capacity(scales.len());
        for (index, of_dimension) in scales.into_iter().enumerate() {
            let along = extents.get(index).copied().unwrap_or(Extent::Uncounted);
            let mut paths = Vec::with_capacity(of_dimension.len());
            for (number, address) in of_dimension.into_iter().enumerate() {
                let Some(address) = address else { continue };
                are_dimensions &= number == 0 && self.dimcoord(address, along)?.is_some();
                if let Some(path) = self.paths()?.get(address) {
                    paths.push(Directive::Text(path.to_string()));
                }
            }
            list.push(Directive::List(paths));
        }
        Ok((!are_dimensions).then_some(Directive::List(list)))
    }

    /// In NetCDF the attribute `_FillValue` is the fill value; without it, the library's default applies. In both cases
    /// the fill value in HDF5 adds nothing. Other libraries that write NetCDF-4 leave missing chunks to the zeros of
    /// HDF5, which is then recorded.
    pub(super) fn reconcile_fill(
        &self,
        dataset: &Dataset,
        datatype: &Datatype,
        attributes: &Attributes,
        storage: &mut Storage,
    ) {
        let fill = match &storage.fill {
            Fill::Value(fill) => fill,
            // If the attribute exists, NDL has only the fill value that it states.
            Fill::Default
                if self.netcdf
                    && storage.fill_time != Some(FillTime::Never)
                    && !attributes.contains_key(FILL_VALUE) =>
            {
                if let Some(implied) = default_fill(datatype.resolved()) {
                    let rows = vec![0; implied.len()].into();
                    storage.fill = Fill::Value(Values { rows, heap: Heap::default() });
                }
                return;
            }
            _ => return,
        };
        let same = match attributes.get(FILL_VALUE) {
            Some(Ok(attribute)) => {
                let own = Elements::new(&attribute.datatype, &attribute.value);
                let stored = Elements::new(datatype, fill);
                own.len() == stored.len() && own.zip(stored).all(|(own, stored)| own.same(stored))
            }
            _ => default_fill(datatype.resolved()).is_some_and(|default| default == fill.rows),
        };
        // Zeros as the fill value of strings and user-defined types, for which NetCDF has no fill value.
        let empty = Elements::new(datatype, fill)
            .all(|element| matches!(element.get(), Element::Text(text) if text.is_empty()));
        let zeros = empty
            || dataset
                .fill(&self.file)
                .is_ok_and(|fill| fill.value.is_some_and(|value| value.iter().all(|byte| *byte == 0)));
        if self.netcdf && (same || zeros && default_fill(datatype.resolved()).is_none()) {
            storage.fill = Fill::Default;
        }
    }

    pub(super) fn dimension_size(&self, object: &Object, dataset: &Dataset, scale: &Scale) -> Result<Extent> {
        let extent = extents(dataset).into_iter().next().unwrap_or(Extent::Fixed(0));
        match extent {
            Extent::Unlimited { current } if scale.pure => {
                let longest = Scale::longest_variable(&self.file, object)?;
                Ok(Extent::Unlimited { current: longest.max(current) })
            }
            other => Ok(other),
        }
    }

    pub(super) fn shape(&self, object: &Object, dataset: &Dataset) -> Result<Shape> {
        if dataset.extents().is_none() {
            return Ok(Shape::Null);
        }
        let extents = extents(dataset);
        let scales = match self.raw || extents.is_empty() {
            true => Vec::new(),
            false => self.scales(object, extents.len())?,
        };
        let dims = extents.into_iter().enumerate().map(|(index, extent)| {
            let scale = scales.get(index).copied().flatten();
            let coordinate = scale.map_or(Ok(None), |scale| self.dimcoord(scale, extent))?;
            Ok(Dimension { extent, coordinate })
        });
        Ok(Shape::Dims(dims.collect::<Result<_>>()?))
    }

    /// The path of the scale at `address`, if it represents a dimension along which an array of this extent can lie:
    /// HDF5 allows scales of any length to be attached.
    ///
    /// # Errors
    /// If the system fails to read it. An invalid scale represents no dimension.
    fn dimcoord(&self, address: Address, along: Extent) -> Result<Option<NodePath>> {
        let known = || self.dimcoords.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&address.0).cloned();
        let found = match found {
            Some(found) => found,
            None => {
                let found = valid(self.find_dimcoord(address))?.flatten();
                known().insert(address.0, found.clone());
                found
            }
        };
        Ok(found.filter(|(_, extent)| fits(along, *extent)).map(|(path, _)| path))
    }

    fn find_dimcoord(&self, address: Address) -> Result<Option<(NodePath, Extent)>> {
        let opened = self.open(address)?;
        let dataset = opened.object.dataset(&self.file)?;
        let scale = self.scale(&opened.object)?.filter(|_| self.names_dimension(&dataset));
        let (Some(_), Some(extent)) = (scale, extents(&dataset).into_iter().next()) else { return Ok(None) };
        Ok(self.paths()?.get(address).cloned().map(|path| (path, extent)))
    }

    /// Whether a scale is a dimension. In NetCDF its coordinate variable can have further dimensions.
    pub(super) fn names_dimension(&self, dataset: &Dataset) -> bool {
        is_coordinates(dataset) || self.netcdf && dataset.extents().is_some_and(|dims| dims.len() > 1)
    }

    /// The user-defined types of a NetCDF file. Its variables refer to them by name, even where the library stored a
    /// copy of the type.
    pub(super) fn user_types(&self) -> Result<&[UserType]> {
        let types = self.user_types.get_or_find(|| {
            let mut types = Vec::new();
            for address in self.paths()?.named_datatypes() {
                let read = self.file.object(*address).and_then(|object| object.named_datatype(&self.file));
                let read = read.and_then(|read| datatype::datatype(&read));
                // If a type is malformed, variables of that type have an unnamed type; opening the type reports the
                // error.
                if let Some((datatype, element)) = valid(read)? {
                    let fields = valid(self.file.object(*address))?.map(|object| record(&self.file, &object));
                    let fields = fields.transpose()?.unwrap_or_default().fields;
                    types.push(UserType { address: *address, datatype, element, fields });
                }
            }
            Ok(types)
        });
        Ok(types?)
    }

    /// Gives members of a committed datatype the names that they have in the source.
    pub(super) fn restore_fields(
        &self,
        committed: Address,
        datatype: &mut Datatype,
        element: &mut ElementStorage,
    ) -> Result<()> {
        if self.netcdf
            && let Some(known) = self.user_types()?.iter().find(|known| known.address == committed)
        {
            restore_fields(&known.fields, datatype, element);
        }
        Ok(())
    }
}

/// The result of reading an attribute, or the default if it is damaged: the array is readable without the attribute,
/// and listing the attributes reports the error.
pub(super) fn unless_broken<T: Default>(read: Result<T>) -> Result<T> {
    match read {
        Err(error) if error.kind() != ErrorKind::Io => Ok(T::default()),
        read => read,
    }
}

fn differs_from_zeros(file: &File, object: &Object) -> Result<bool> {
    let dataset = object.dataset(file)?;
    // Elements that were never written also have a value if the writer chose a fill value.
    if dataset.fill(file)?.value.is_some_and(|fill| fill.iter().any(|byte| *byte != 0)) {
        return Ok(true);
    }
    if dataset.has_external_files() || matches!(dataset.layout(), LayoutClass::Virtual { .. }) {
        return Ok(true);
    }
    let Some(extents) = dataset.extents().filter(|extents| !extents.contains(&0)) else { return Ok(false) };
    let array = dataset.array(file)?;
    if array.is_wholly_unwritten() {
        return Ok(false);
    }
    let mut compared = Compared { file, array: &array, bytes: 0, differs: false };
    let chunk = dataset.chunk().unwrap_or_default();
    let is_chunked = array.written(&mut |start| {
        let ends = extents.iter().zip(start).map(|(extent, start)| extent.saturating_sub(*start));
        let count = ends.zip(chunk).map(|(left, size)| left.min(*size)).collect();
        compared.add(&Region::new(start.to_vec(), count))
    })?;
    if !is_chunked {
        compared.add(&Region::all(extents))?;
    }
    Ok(compared.differs)
}

/// The comparison of elements with zeros, up to the first one that differs.
struct Compared<'a> {
    file: &'a File,
    array: &'a Array,
    /// The size of all regions compared so far.
    bytes: u64,
    differs: bool,
}

impl Compared<'_> {
    fn add(&mut self, region: &Region) -> Result<()> {
        let len = region.bytes(self.array.row_size())?;
        self.bytes = self.bytes.saturating_add(len as u64);
        self.differs |= self.bytes > MAX_COMPARED;
        if self.differs || len == 0 {
            return Ok(());
        }
        let _charge = self.file.reader().budget().charge(len as u64)?;
        let (mut rows, mut heap) = (vec![0; len], Heap::default());
        self.array.read(self.file, region, &mut rows, &mut heap)?;
        let is_empty = heap.buffers.is_empty() && heap.references.is_empty();
        self.differs = !is_empty || rows.iter().any(|byte| *byte != 0);
        Ok(())
    }
}

/// The maximum number of bytes of elements that are compared with zeros. A larger array counts as different.
const MAX_COMPARED: u64 = 64 << 20;

/// Whether a scale can be the coordinates of a dimension: it must be one-dimensional.
pub(super) fn is_coordinates(dataset: &Dataset) -> bool {
    dataset.extents().is_some_and(|dims| dims.len() == 1)
}

/// A named datatype of a NetCDF file.
pub(super) struct UserType {
    pub(super) address: Address,
    datatype: Datatype,
    element: ElementStorage,
    /// The names that members of compounds have in the source.
    fields: Names,
}

impl UserType {
    pub(super) fn is(&self, datatype: &Datatype, element: &ElementStorage) -> bool {
        self.datatype == *datatype && self.element == *element
    }
}
