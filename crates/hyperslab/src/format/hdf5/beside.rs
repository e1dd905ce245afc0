//! NetCDF variables that have the name of a dimension but are not its coordinates.
//!
//! In the file a dimension and a variable cannot share a name, so the NetCDF library adds a prefix to the name of the
//! variable. A coordinate variable with several dimensions, such as `lat(lat, lon)`, is itself the scale of its first
//! dimension, and lists its dimensions by their identifiers.

use super::Hdf5Source;
use super::netcdf::unless_broken;
use hyperslab_core::{Result, valid};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::{Dataset, File, Link as Hdf5Link, Object, ObjectKind};
use hyperslab_model::Extent;
use hyperslab_netcdf4::name::NON_COORDINATE;
use hyperslab_netcdf4::{Scale, dimension_ids, dimensions};
use rustc_hash::FxHashMap;

/// Gives variables the names that the NetCDF library shows, and removes the links of the dimensions with these names.
/// Returns these variables with their dimensions.
///
/// # Errors
/// If a read fails.
pub(super) fn merge_names(file: &File, links: &mut Vec<Hdf5Link>) -> Result<Vec<Merged>> {
    let mut merged = Vec::new();
    let has_prefix =
        |link: &Hdf5Link| link.name.len() > NON_COORDINATE.len() && link.name.starts_with(NON_COORDINATE);
    if !links.iter().any(has_prefix) {
        return Ok(merged);
    }
    let mut places: FxHashMap<Vec<u8>, usize> =
        links.iter().enumerate().map(|(place, link)| (link.name.clone(), place)).collect();
    let mut dimensions = vec![false; links.len()];
    for place in 0..links.len() {
        let Some(link) = links.get(place).filter(|link| has_prefix(link)) else { continue };
        let Some(name) = link.name.strip_prefix(NON_COORDINATE).map(<[u8]>::to_vec) else { continue };
        let Some(variable) = link.address() else { continue };
        if !is_dataset(file, variable)? {
            continue;
        }
        if let Some(beside) = places.get(&name).copied() {
            let dimension = links.get(beside).and_then(Hdf5Link::address);
            // Anything else with this name keeps it, and the variable is shown under its name in the file.
            let Some(dimension) = dimension else { continue };
            if !is_pure(file, dimension)? {
                continue;
            }
            dimensions.get_mut(beside).into_iter().for_each(|taken| *taken = true);
            merged.push(Merged { name: name.clone(), variable, dimension });
        }
        places.insert(name.clone(), place);
        links.get_mut(place).into_iter().for_each(|link| link.name = name.clone());
    }
    let mut taken = dimensions.into_iter();
    links.retain(|_| !taken.next().unwrap_or_default());
    Ok(merged)
}

/// A variable and a dimension of the same name.
pub(super) struct Merged {
    pub(super) name: Vec<u8>,
    pub(super) variable: Address,
    pub(super) dimension: Address,
}

fn is_dataset(file: &File, address: Address) -> Result<bool> {
    let object = valid(file.object(address))?;
    Ok(object.is_some_and(|object| object.kind() == ObjectKind::Dataset))
}

/// Whether an object is a dimension without a coordinate variable.
fn is_pure(file: &File, address: Address) -> Result<bool> {
    let Some(object) = valid(file.object(address))? else { return Ok(false) };
    let scale = valid(Scale::of(file, &object))?.flatten();
    Ok(scale.is_some_and(|scale| scale.pure))
}

impl Hdf5Source {
    /// The variable with the name of a dimension: the target of the link `name`, unless that is a dimension, in which
    /// case the variable is stored under a longer name.
    pub(super) fn variable_of_name(
        &self,
        group: &Object,
        name: &str,
        found: Option<Hdf5Link>,
    ) -> Result<Option<Hdf5Link>> {
        if !self.netcdf {
            return Ok(found);
        }
        if let Some(link) = &found {
            match link.address() {
                Some(address) if self.is_pure(address)? => {}
                _ => return Ok(found),
            }
        }
        let stored = [NON_COORDINATE, name.as_bytes()].concat();
        match group.link(&self.file, &stored)? {
            Some(variable) => match variable.address() {
                Some(address) if is_dataset(&self.file, address)? => Ok(Some(variable)),
                _ => Ok(found),
            },
            None => Ok(found),
        }
    }

    /// As [`is_pure()`], for objects that were opened.
    fn is_pure(&self, address: Address) -> Result<bool> {
        let Some(opened) = valid(self.open(address))? else { return Ok(false) };
        Ok(valid(self.scale(&opened.object))?.flatten().is_some_and(|scale| scale.pure))
    }

    /// The length of the dimension that shares its name with a variable that is not its coordinates.
    pub(super) fn dimension_beside(
        &self,
        object: &Object,
        dataset: &Dataset,
        scale: Option<&Scale>,
    ) -> Result<Option<Extent>> {
        if !self.netcdf {
            return Ok(None);
        }
        if let Some(scale) = scale.filter(|_| self.names_dimension(dataset)) {
            return self.dimension_size(object, dataset, scale).map(Some);
        }
        let Some(beside) = self.paths()?.dimension_beside(object.address()) else { return Ok(None) };
        let object = self.file.object(beside)?;
        let dataset = object.dataset(&self.file)?;
        match self.scale(&object)? {
            Some(scale) => self.dimension_size(&object, &dataset, &scale).map(Some),
            None => Ok(None),
        }
    }

    /// The addresses of the scales of a dataset's dimensions.
    pub(super) fn scales(&self, object: &Object, rank: usize) -> Result<Vec<Option<Address>>> {
        let attached = unless_broken(dimensions(&self.file, object))?;
        if !self.netcdf || !attached.is_empty() {
            return Ok(attached);
        }
        let ids = unless_broken(dimension_ids(&self.file, object))?;
        if ids.len() == rank {
            let dimensions = self.dimensions_by_id()?;
            return Ok(ids.iter().map(|id| dimensions.get(id).copied()).collect());
        }
        // Without the list, as in files of old versions of the library, only the first dimension is known.
        Ok(self.scale(object)?.map(|_| object.address()).into_iter().map(Some).collect())
    }

    /// All dimensions of a NetCDF file, by identifier.
    fn dimensions_by_id(&self) -> Result<&FxHashMap<i64, Address>> {
        self.dimensions_by_id.get_or_find(|| {
            let mut found = FxHashMap::default();
            for address in self.paths()?.addresses() {
                let Some(object) = valid(self.file.object(address))? else { continue };
                if object.kind() != ObjectKind::Dataset || valid(self.scale(&object))?.flatten().is_none() {
                    continue;
                }
                if let Some(id) = valid(Scale::dimension_id(&self.file, &object))?.flatten() {
                    found.entry(id).or_insert(address);
                }
            }
            Ok(found)
        })
    }
}
