//! Dimensions: what the arrays of one group say together.
//!
//! Spec: Zarr v3 "dimension_names"

use super::document::Document;
use super::{Checker, rule};
use crate::metadata::v3::ArrayMetadata;
use hyperslab_core::store::Key;
use std::collections::HashMap;

/// The length of each dimension of a group: that of the first array which has it.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    first: HashMap<String, (u64, Key)>,
    /// Bytes of names and paths in `first`.
    bytes: usize,
}

impl Checker<'_> {
    /// Compares the lengths of an array's dimensions with those in the arrays before it in the group.
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
                    let message = format!("dimension {name:?} of length {length}, in /{other} it is {first}");
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

/// Names of dimensions and paths of arrays that are kept for one group; only a group made to harm has more.
const MAX_BYTES: usize = 1 << 20;
