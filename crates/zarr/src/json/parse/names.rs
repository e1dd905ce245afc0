//! Names of members: those of one object are different.

use crate::json::Name;
use std::collections::HashSet;

/// The names of one object; a set only where looking through the members would take long.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Adds the name of a member that follows `members`; false if one of them has it.
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

/// A name as documents have it, without memory of its own where it is a common one.
pub(super) fn owned(name: &str) -> Name {
    let known = KNOWN.iter().find(|known| **known == name);
    known.map_or_else(|| Name::Owned(name.to_owned()), |known| Name::Borrowed(known))
}

const MANY: usize = 16;

/// Names that most documents are made of, those of every array first.
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
