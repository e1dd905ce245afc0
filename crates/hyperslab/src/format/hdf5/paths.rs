//! The first path of every object of a file.

use super::check_paths;
use hyperslab_core::Result;
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::{File, Object, ObjectKind};
use hyperslab_model::NodePath;
use rustc_hash::FxHashMap;

/// The first path of each object, by address: the path with the least depth, then the least bytes.
pub(super) struct Paths {
    first: FxHashMap<u64, NodePath>,
    named_datatypes: Vec<(NodePath, Address)>,
}

impl Paths {
    /// Follows every hard link of the file, level by level. Skips unreadable groups; opening them reports the error.
    pub(super) fn of(file: &File) -> Paths {
        let mut first = FxHashMap::from_iter([(file.root_address().0, NodePath::root())]);
        let mut named_datatypes = Vec::new();
        let mut level = vec![(NodePath::root(), file.root_address())];
        while !level.is_empty() {
            let mut found = Vec::new();
            for (number, (path, address)) in level.iter().enumerate() {
                if number % File::MAX_FETCHED == 0 {
                    let next = level.iter().skip(number).take(File::MAX_FETCHED);
                    file.fetch_objects(&next.map(|(_, address)| *address).collect::<Vec<_>>());
                }
                let Ok(object) = file.object(*address) else { continue };
                if object.kind() == ObjectKind::NamedDatatype {
                    named_datatypes.push((path.clone(), *address));
                }
                let links = hard_links(file, &object).unwrap_or_default();
                if check_paths(file, path, links.len()).is_err() {
                    continue;
                }
                for (name, target) in links {
                    if !first.contains_key(&target.0) {
                        found.push((path.child(&String::from_utf8_lossy(&name)), target));
                    }
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
        Paths { first, named_datatypes }
    }

    /// The committed datatypes, in the order of their paths.
    pub(super) fn named_datatypes(&self) -> &[(NodePath, Address)] {
        &self.named_datatypes
    }

    /// The first path of the object at `address`.
    pub(super) fn get(&self, address: Address) -> Option<&NodePath> {
        self.first.get(&address.0)
    }
}

fn hard_links(file: &File, object: &Object) -> Result<Vec<(Vec<u8>, Address)>> {
    if object.kind() != ObjectKind::Group {
        return Ok(Vec::new());
    }
    let links = object.links(file)?.into_iter();
    Ok(links.filter_map(|link| link.address().map(|address| (link.name, address))).collect())
}
