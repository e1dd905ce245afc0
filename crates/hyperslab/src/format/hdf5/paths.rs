//! The first path of every object of a file.

use super::beside::Merged;
use super::check_paths;
use super::names::Shown;
use hyperslab_core::{Result, valid};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::{File, Link, Object, ObjectKind};
use hyperslab_model::NodePath;
use rustc_hash::FxHashMap;

/// The first path of each object, by address: the path with the least depth, then the least bytes.
pub(super) struct Paths {
    first: FxHashMap<u64, NodePath>,
    named_datatypes: Vec<Address>,
    /// The NetCDF dimensions that share their name with a variable that is not their coordinates, by that variable.
    beside: FxHashMap<u64, Address>,
}

impl Paths {
    /// Follows every hard link of the file, level by level. Skips malformed groups; opening them reports the error.
    /// Names are those of the NetCDF view if `netcdf` is set.
    ///
    /// # Errors
    /// If a read fails: without the members of a group, other objects would appear to have no path or a different one.
    pub(super) fn of(file: &File, netcdf: bool) -> Result<Paths> {
        let mut first = FxHashMap::from_iter([(file.root_address().0, NodePath::root())]);
        let mut named_datatypes = Vec::new();
        let mut beside = FxHashMap::default();
        let mut level = vec![(NodePath::root(), file.root_address())];
        while !level.is_empty() {
            let mut found = Vec::new();
            for (number, (path, address)) in level.iter().enumerate() {
                if number % File::MAX_FETCHED == 0 {
                    let next = level.iter().skip(number).take(File::MAX_FETCHED);
                    file.fetch_objects(&next.map(|(_, address)| *address).collect::<Vec<_>>());
                }
                let Some(object) = valid(file.object(*address))? else { continue };
                if object.kind() == ObjectKind::NamedDatatype {
                    named_datatypes.push(*address);
                }
                let links = valid(links(file, &object))?.unwrap_or_default();
                let Shown { links, merged } = Shown::of(file, &object, links, netcdf)?;
                if check_paths(file, path, links.len().saturating_add(merged.len())).is_err() {
                    continue;
                }
                for (name, Merged { variable, dimension, .. }) in merged {
                    first.entry(dimension.0).or_insert_with(|| path.child(&name));
                    beside.insert(variable.0, dimension);
                }
                for (name, link) in links {
                    let Some(target) = link.address().filter(|target| !first.contains_key(&target.0)) else {
                        continue;
                    };
                    found.push((path.child(&name), target));
                }
            }
            found.sort_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
            level.clear();
            for (path, address) in found {
                if let std::collections::hash_map::Entry::Vacant(free) = first.entry(address.0) {
                    free.insert(path.clone());
                    level.push((path, address));
                }
            }
        }
        Ok(Paths { first, named_datatypes, beside })
    }

    /// The committed datatypes, in the order of their paths.
    pub(super) fn named_datatypes(&self) -> &[Address] {
        &self.named_datatypes
    }

    /// The first path of the object at `address`.
    pub(super) fn get(&self, address: Address) -> Option<&NodePath> {
        self.first.get(&address.0)
    }

    /// The addresses of all objects, in the order of their paths.
    pub(super) fn addresses(&self) -> Vec<Address> {
        let mut found: Vec<_> = self.first.iter().collect();
        found.sort_unstable_by(|(a, x), (b, y)| x.cmp(y).then(a.cmp(b)));
        found.into_iter().map(|(address, _)| Address(*address)).collect()
    }

    /// The dimension that shares its name with a variable that is not its coordinates.
    pub(super) fn dimension_beside(&self, variable: Address) -> Option<Address> {
        self.beside.get(&variable.0).copied()
    }
}

fn links(file: &File, object: &Object) -> Result<Vec<Link>> {
    match object.kind() {
        ObjectKind::Group => object.links(file),
        _ => Ok(Vec::new()),
    }
}
