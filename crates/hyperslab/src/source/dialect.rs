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
    /// The number that a string denotes as the attribute `_FillValue` of floating-point numbers. `None` if it denotes
    /// no number.
    pub fill_of_text: fn(&str) -> Option<f64>,
    /// The numbers of an attribute that is a string only because its format has no type for all of them. `None` for
    /// other attributes.
    pub numbers_of_text: fn(&Attribute) -> Option<Attribute>,
    /// Whether a string attribute has the type `char` in NetCDF, unless the document states another type.
    pub texts_are_characters: bool,
    /// Whether numeric attributes keep their type, which JSON attributes do not.
    pub has_typed_attributes: bool,
    /// Whether readers extend an array that is shorter than its unlimited dimensions to their full length with fill
    /// values; see [`FullLength`](crate::select::FullLength).
    pub fills_to_length: bool,
    /// Whether names may contain bytes that the model cannot represent as characters: each is shown as U+FFFD and two
    /// digits.
    pub escapes_names: bool,
    /// Whether readers show members and attributes in creation order.
    pub keeps_order: bool,
    /// Whether readers end variable-length strings at a NUL.
    pub ends_texts: bool,
    /// Whether readers show zeros where no element was written even if the fill value is undefined.
    pub undefined_is_zero: bool,
    /// Where the strings and sequences of variable-length elements are stored.
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

/// Where the strings and sequences of variable-length elements are stored. This determines the ratio between the bytes
/// that elements refer to and the bytes that a genuine store needs for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentStorage {
    /// In the chunks, separately for each element, and compressed with them.
    InChunks,
    /// In a separate place and uncompressed, as in the heaps of HDF5. Elements refer to them, so several elements may
    /// refer to the same content: a short string may be shared, a long one that many elements refer to is refused.
    Apart,
}
