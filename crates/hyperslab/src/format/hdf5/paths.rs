//! The first path of every object of a file.

use hyperslab_core::Result;
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::{File, ObjectKind};
use hyperslab_model::NodePath;
use rustc_hash::FxHashMap;

/// First paths by address: of several paths to one object the least in (depth, bytes).
pub(super) struct Paths(FxHashMap<u64, NodePath>);

impl Paths {
    /// Follows every hard link of the file, level by level. What cannot be read is passed over: whoever asks
    /// for it will be told why.
    pub(super) fn of(file: &File) -> Paths {
        let mut first = FxHashMap::from_iter([(file.root_address().0, NodePath::root())]);
        let mut level = vec![(NodePath::root(), file.root_address())];
        while !level.is_empty() {
            let mut found = Vec::new();
            for (path, address) in &level {
                for (name, target) in hard_links(file, *address).unwrap_or_default() {
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
        Paths(first)
    }

    /// The first path of the object at `address`.
    pub(super) fn get(&self, address: Address) -> Option<&NodePath> {
        self.0.get(&address.0)
    }
}

fn hard_links(file: &File, address: Address) -> Result<Vec<(Vec<u8>, Address)>> {
    let object = file.object(address)?;
    if object.kind() != ObjectKind::Group {
        return Ok(Vec::new());
    }
    let links = object.links(file)?.into_iter();
    Ok(links.filter_map(|link| link.address().map(|address| (link.name, address))).collect())
}
