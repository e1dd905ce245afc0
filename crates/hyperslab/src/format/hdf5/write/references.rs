//! Converts references of the model to references with the addresses of a file.

use super::name;
use hyperslab_core::rows::Heap;
use hyperslab_hdf5::Reference as Hdf5Reference;
use hyperslab_hdf5::format::Address;
use hyperslab_model::{NodePath, Reference, ReferencedPart};
use rustc_hash::FxHashMap;
use std::hash::{BuildHasher, RandomState};

/// The addresses of the objects of a file. Paths are kept only as hashes, with a random key so that nobody can
/// construct two paths with the same hash.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    hasher: RandomState,
    of: FxHashMap<u64, Address>,
}

impl Addresses {
    pub(super) fn insert(&mut self, path: &NodePath, address: Address) {
        self.of.insert(self.hasher.hash_one(path), address);
    }

    /// The address of the object at a path; `None` if it is not in the file.
    pub(super) fn get(&self, path: &NodePath) -> Option<Address> {
        self.of.get(&self.hasher.hash_one(path)).copied()
    }
}

/// The address of every object while a file is measured, when objects have none. Its value changes no length.
pub(super) const SOMEWHERE: Address = Address(1);

/// Converts a heap to one with addresses in references. References that lead nowhere become null references.
pub(super) fn heap(
    of: &Heap<Reference>,
    address: &dyn Fn(&NodePath) -> Option<Address>,
) -> Heap<Hdf5Reference> {
    Heap {
        buffers: of.buffers.clone(),
        shared: of.shared.clone(),
        references: of.references.iter().map(|of| reference(of, address)).collect(),
        ..Heap::default()
    }
}

fn reference(of: &Reference, address: &dyn Fn(&NodePath) -> Option<Address>) -> Hdf5Reference {
    let at = |path: &NodePath, make: &dyn Fn(Address) -> Hdf5Reference| {
        address(path).map_or(Hdf5Reference::Null, make)
    };
    match of {
        Reference::Null | Reference::Dangling(_) => Hdf5Reference::Null,
        Reference::Object(path) => at(path, &Hdf5Reference::Object),
        Reference::Region(path, selection) => {
            at(path, &|address| Hdf5Reference::Region(address, (**selection).clone()))
        }
        Reference::Attribute(path, name) => {
            at(path, &|address| Hdf5Reference::Attribute(address, name::stored(name).0))
        }
        Reference::External { file, address, part } => {
            let address = Address(*address);
            let target = match part {
                ReferencedPart::Object => Hdf5Reference::Object(address),
                ReferencedPart::Region(selection) => Hdf5Reference::Region(address, (**selection).clone()),
                ReferencedPart::Attribute(name) => Hdf5Reference::Attribute(address, name::stored(name).0),
            };
            Hdf5Reference::External { file: name::stored(file).0, target: Box::new(target) }
        }
    }
}
