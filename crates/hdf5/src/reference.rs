//! Targets of references in data.

use crate::format::Address;
use hyperslab_core::nd::Selection;

/// A reference to an object, to elements of it, or to an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A null reference.
    Null,
    /// The object whose header is at this address.
    Object(Address),
    /// Elements of a dataset.
    Region(Address, Selection),
    /// An attribute of an object, by name.
    Attribute(Address, Vec<u8>),
    /// A target in another file.
    External {
        /// The name of the file when the reference was made.
        file: Vec<u8>,
        /// The target in that file.
        target: Box<Reference>,
    },
}
