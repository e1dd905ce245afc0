//! Attributes.

use crate::{Datatype, Directive, ElementStorage, Values};
use std::sync::Arc;

/// An attribute: a small array with a name, attached to an object.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The extent of each dimension. `None` for a null dataspace.
    pub shape: Option<Vec<u64>>,
    /// Its type.
    pub datatype: Arc<Datatype>,
    /// Its elements.
    pub value: Values,
    /// How the elements are stored.
    pub storage: ElementStorage,
    /// Directives that only one format has, under the name of that format: `zarr: json` marks a string that is JSON in
    /// Zarr. Under [`EXTRA`](crate::EXTRA), keys that other programs added.
    pub native: Vec<(&'static str, Directive)>,
}

impl Attribute {
    /// An attribute whose elements are stored as their type states. The shape is `[]` for a single one.
    pub fn new(shape: Vec<u64>, datatype: Arc<Datatype>, value: Values) -> Self {
        Attribute {
            shape: Some(shape),
            datatype,
            value,
            storage: ElementStorage::default(),
            native: Vec::new(),
        }
    }
}
