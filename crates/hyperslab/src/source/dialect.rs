//! What verbs must know of a store that follows from its format and version alone.

use hyperslab_model::{Datatype, Fill};

/// One kind of stores that a format has, as a row: its name in words, and what verbs do for such stores.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The format in words, for heads and reports: `HDF5`, `NetCDF-4`.
    pub title: &'static str,
    /// The names of the formats whose own directives say something of a store of this kind; `None` for a text, which
    /// has those of every format.
    pub directives: Option<&'static [&'static str]>,
    /// The value that readers of this kind of stores take for a missing one although no attribute says so: of elements
    /// of a type with this fill value, as one row in memory; `None` if there is none.
    pub missing: fn(&Datatype, &Fill) -> Option<Vec<u8>>,
    /// Whether a text of an attribute is characters unless the document says otherwise.
    pub texts_are_characters: bool,
}

impl Dialect {
    /// A kind of stores in which nothing is missing unless an attribute says so, with directives of these formats.
    pub const fn new(title: &'static str, directives: Option<&'static [&'static str]>) -> Dialect {
        Dialect { title, directives, missing: |_, _| None, texts_are_characters: false }
    }
}
