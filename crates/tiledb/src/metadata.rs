//! The metadata of an array or a group, combined from all its files.

use crate::directory::NamedFile;
use crate::format::metadata::{Metadata, Value};
use crate::read::generic_tile::GenericTiles;
use hyperslab_core::Result;
use std::collections::BTreeMap;

/// The values of keys after all files, which are given from oldest to newest. Ordered by key.
///
/// Keys are returned as stored. TileDB-Py splits a NumPy array into two keys, with `__np_flat_` and `__np_shape_` in
/// front of its name, and deletes the other spellings of a key whenever it writes one.
pub fn folded(files: impl IntoIterator<Item = Metadata>) -> Vec<(Vec<u8>, Value)> {
    let mut values = BTreeMap::new();
    for entry in files.into_iter().flat_map(|file| file.entries) {
        match entry.value {
            Some(value) => values.insert(entry.key, value),
            None => values.remove(&entry.key),
        };
    }
    values.into_iter().collect()
}

pub(crate) fn read(tiles: &GenericTiles<'_>, files: &[&NamedFile]) -> Result<Vec<(Vec<u8>, Value)>> {
    let read: Result<Vec<Metadata>> = files.iter().map(|file| tiles.structure(&file.key, 0, &())).collect();
    Ok(folded(read?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::data_type::DataType;
    use crate::format::metadata::Entry;

    #[test]
    fn later_values_replace_earlier_ones_and_deleted_keys_are_gone() {
        let value = |byte: u8| Value { data_type: DataType::UInt8, bytes: vec![byte] };
        let file = |entries: &[(&[u8], Option<u8>)]| {
            let entry =
                |(key, byte): &(&[u8], Option<u8>)| Entry { key: key.to_vec(), value: byte.map(value) };
            Metadata { entries: entries.iter().map(entry).collect() }
        };
        let first = file(&[(b"b", Some(1)), (b"a", Some(2)), (b"c", Some(3))]);
        let second = file(&[(b"a", None), (b"b", Some(4)), (b"d", None)]);
        let expected = [(b"b".to_vec(), value(4)), (b"c".to_vec(), value(3))];
        assert_eq!(folded([first, second]), expected);
        assert_eq!(folded([]), []);
    }
}
