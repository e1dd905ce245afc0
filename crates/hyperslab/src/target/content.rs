//! Native directives that are content: data that users put into a file and that no other part of the model holds.

use hyperslab_model::{Directive, Storage};

/// The directives, by format. All others describe how a file is stored.
const CONTENT: &[(&str, &[&str])] = &[
    // Dimension labels, names of dimension scales and scales beyond the first belong to the HDF5 High-Level Library.
    ("hdf5", &["comment", "labels", "scale", "scales", "user_block"]),
    // Members of metadata documents that the specification does not define.
    ("zarr", &["members"]),
];

/// The directives of a node that are content, each with its format and its name.
pub(crate) fn content(storage: &Storage) -> impl Iterator<Item = (&'static str, &str, &Directive)> {
    storage.native.iter().flat_map(|(format, directives)| {
        let of_format = directives.iter().filter(|(key, _)| is_content(format, key));
        of_format.map(|(key, value)| (*format, key.as_str(), value))
    })
}

/// Whether a directive of this format is content.
pub(crate) fn is_content(format: &str, key: &str) -> bool {
    CONTENT.iter().any(|(own, keys)| *own == format && keys.contains(&key))
}

/// The directives that are content, without the other storage properties.
pub(crate) fn only_content(storage: &Storage) -> Storage {
    let mut native: Vec<(&'static str, Vec<(String, Directive)>)> = Vec::new();
    for (format, key, value) in content(storage) {
        let own = (key.to_owned(), value.clone());
        match native.last_mut().filter(|(name, _)| *name == format) {
            Some((_, directives)) => directives.push(own),
            None => native.push((format, vec![own])),
        }
    }
    Storage { native, ..Storage::default() }
}

/// A format with such directives, by its name.
pub(crate) fn format_with_content(name: &str) -> Option<&'static str> {
    CONTENT.iter().find(|(format, _)| *format == name).map(|(format, _)| *format)
}
