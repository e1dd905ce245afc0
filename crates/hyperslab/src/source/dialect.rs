//! The properties of a store that follow from its format and version alone.

use super::MAX_RATIO;
use hyperslab_model::{Datatype, Fill};

/// The properties of all stores of one format and version.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The name of the format for heads and reports: `HDF5`, `NetCDF-4`.
    pub title: &'static str,
    /// The formats whose native directives apply to these stores; `None` for a document, which can have directives of
    /// every format.
    pub directives: Option<&'static [&'static str]>,
    /// The value that readers treat as missing although no attribute marks it, for arrays with this datatype and fill
    /// value: one row in memory. `None` if there is none.
    pub missing: fn(&Datatype, &Fill) -> Option<Vec<u8>>,
    /// Whether a text attribute has the type `char` in NetCDF, unless the document states another.
    pub texts_are_characters: bool,
    /// The most bytes that elements of variable length may name for each stored byte. Where many elements may name the
    /// same bytes, as in HDF5, no more than compression by deflate explains.
    pub max_content_ratio: u64,
}

impl Dialect {
    /// Stores in which only attributes mark missing values, with the native directives of these formats.
    pub const fn new(title: &'static str, directives: Option<&'static [&'static str]>) -> Dialect {
        Dialect {
            title,
            directives,
            missing: |_, _| None,
            texts_are_characters: false,
            max_content_ratio: MAX_RATIO,
        }
    }
}
