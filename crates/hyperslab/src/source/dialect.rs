//! The properties of a store that follow from its format and version alone.

use hyperslab_model::{Attribute, Datatype, Fill};

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
    /// The number that a text means as the attribute `_FillValue` of floating-point numbers. `None` if it is none.
    pub fill_of_text: fn(&str) -> Option<f64>,
    /// The numbers of an attribute that is a text only because its format has no type for all of them. `None` for others.
    pub numbers_of_text: fn(&Attribute) -> Option<Attribute>,
    /// Whether a text attribute has the type `char` in NetCDF, unless the document states another.
    pub texts_are_characters: bool,
    /// Whether attributes keep the type of their numbers, which those of JSON do not.
    pub has_typed_attributes: bool,
    /// Whether readers show an array that is shorter than its unlimited dimensions at their length, with fill values; see
    /// [`FullLength`](crate::select::FullLength).
    pub fills_to_length: bool,
    /// Whether names may have bytes that the model has no characters for: each is shown as U+FFFD and two digits.
    pub escapes_names: bool,
    /// Whether readers show members and attributes in the order in which they were made.
    pub keeps_order: bool,
    /// Whether readers end texts of variable length at a NUL.
    pub ends_texts: bool,
    /// Whether readers show zeros where no element was written, also if the fill value is undefined.
    pub undefined_is_zero: bool,
    /// Where the texts and sequences of elements of variable length are stored.
    pub content: ContentStorage,
}

impl Dialect {
    /// Stores in which only attributes mark missing values, with the native directives of these formats.
    pub const fn new(title: &'static str, directives: Option<&'static [&'static str]>) -> Dialect {
        Dialect {
            title,
            directives,
            missing: |_, _| None,
            fill_of_text: |_| None,
            numbers_of_text: |_| None,
            texts_are_characters: false,
            has_typed_attributes: true,
            fills_to_length: false,
            escapes_names: false,
            keeps_order: false,
            ends_texts: false,
            undefined_is_zero: false,
            content: ContentStorage::Apart,
        }
    }
}

/// Where the texts and sequences of elements of variable length are stored. It follows how many bytes an honest store
/// names with how few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentStorage {
    /// In the chunks, each element with its own, and compressed with them.
    InChunks,
    /// In a place of their own and not compressed, as in the heaps of HDF5. Elements name them, so several may name the
    /// same: a text that is short may be shared, a long one that many elements name is refused.
    Apart,
}
