//! What references in data refer to.

use crate::format::Address;
use hyperslab_core::nd::Selection;

/// A reference to an object, to elements of it, or to an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// To nothing.
    Null,
    /// To the object whose header is at this address.
    Object(Address),
    /// To elements of a dataset.
    Region(Address, Selection),
    /// To an attribute of an object, by name.
    Attribute(Address, Vec<u8>),
    /// To something of another file.
    External {
        /// The name that the file had when the reference was made.
        file: Vec<u8>,
        /// What is meant in that file.
        target: Box<Reference>,
    },
}
