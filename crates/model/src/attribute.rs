//! Attributes.

use crate::{Datatype, ElementStorage, Values};
use std::sync::Arc;

/// A small named value of an object.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its extents; `None` for a null dataspace.
    pub shape: Option<Vec<u64>>,
    /// Its type.
    pub datatype: Arc<Datatype>,
    /// Its elements.
    pub value: Values,
    /// How the elements are stored.
    pub storage: ElementStorage,
}
