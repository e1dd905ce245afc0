//! Names of members, which are unique in an object.

use crate::json::Name;
use std::collections::HashSet;

/// The names of one object. A set is used only for large objects, where a linear search would be slow.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Adds the name of the member after `members`. Returns false if one of them has the same name.
    pub(super) fn add<N: AsRef<str>, T>(&mut self, members: &[(N, T)], name: &str) -> bool {
        if members.len() < MANY {
            return members.iter().all(|(found, _)| found.as_ref() != name);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|(found, _)| found.as_ref().to_owned()));
        }
        self.0.insert(name.to_owned())
    }
}

/// A name that takes no memory of its own if it is a frequent one.
pub(super) fn owned(name: &str) -> Name {
    let known = KNOWN.iter().find(|known| **known == name);
    known.map_or_else(|| Name::Owned(name.to_owned()), |known| Name::Borrowed(known))
}

const MANY: usize = 16;

/// The frequent names of members, those of all arrays first.
const KNOWN: [&str; 31] = [
    "name",
    "configuration",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_shape",
    "chunk_key_encoding",
    "separator",
    "fill_value",
    "codecs",
    "endian",
    "level",
    "checksum",
    "attributes",
    "zarr_format",
    "node_type",
    "dimension_names",
    "storage_transformers",
    "index_codecs",
    "index_location",
    "cname",
    "clevel",
    "shuffle",
    "typesize",
    "blocksize",
    "id",
    "chunks",
    "compressor",
    "dtype",
    "filters",
    "order",
];
