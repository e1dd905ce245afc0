//! Checks the lengths of named dimensions in the arrays of a group.
//!
//! Spec: Zarr v3 "dimension_names"

use super::document::Document;
use super::{Checker, rule};
use crate::metadata::v3::ArrayMetadata;
use hyperslab_core::store::Key;
use std::collections::HashMap;

/// The length of each dimension of a group, from the first array with this dimension.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    first: HashMap<String, (u64, Key)>,
    /// The number of bytes of names and paths in `first`.
    bytes: usize,
}

impl Checker<'_> {
    /// Compares the lengths of dimensions of an array with those in earlier arrays of the group.
    pub(super) fn check_lengths(
        &mut self,
        path: &Key,
        array: &ArrayMetadata,
        document: &Document,
        lengths: &mut Lengths,
    ) {
        let names = array.dimension_names.iter().flatten();
        for (number, (name, length)) in names.zip(&array.shape).enumerate() {
            let Some(name) = name.as_ref().filter(|name| !name.is_empty()) else { continue };
            match lengths.first.get(name) {
                Some((first, _)) if first == length => {}
                Some((first, other)) => {
                    let message =
                        format!("dimension {name:?} of length {length}, but of length {first} in /{other}");
                    let pointer = format!("/dimension_names/{number}");
                    self.tell_at(&rule::DIMENSION_LENGTH, path, document, &pointer, message);
                }
                None if lengths.bytes < MAX_BYTES => {
                    lengths.bytes += name.len() + path.as_str().len();
                    lengths.first.insert(name.clone(), (*length, path.clone()));
                }
                None => {
                    let message =
                        format!("dimensions with names of more than {MAX_BYTES} bytes in one group");
                    self.tell(&rule::LIMIT, path, message);
                    return;
                }
            }
        }
    }
}

/// The maximum number of bytes of names and paths that are kept for a group. Only a malicious group has more.
const MAX_BYTES: usize = 1 << 20;
