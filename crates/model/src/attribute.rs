//! Attributes.

use crate::{Datatype, Directive, ElementStorage, Values};
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
    /// What one format alone has, under that format's name: `zarr: json` marks a text that is JSON there.
    /// Under [`EXTRA`](crate::EXTRA) a map of what other programs say of it.
    pub native: Vec<(&'static str, Directive)>,
}
