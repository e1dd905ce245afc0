//! Attributes that only encode structure.

use crate::name as named;
use crate::variable::is_variable_length;
use hyperslab_hdf5::{Attribute, File};

/// What an attribute's owner is, as far as hiding goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Whether it is a dimension scale.
    pub scale: bool,
    /// Whether it is a dataset.
    pub dataset: bool,
    /// Whether it is the root group.
    pub root: bool,
}

/// Whether an attribute of such an owner is bookkeeping that the dimensions already say.
///
/// `CLASS` and `NAME` are ordinary words, so they count only on dimension scales.
pub fn is_hidden(name: &str, owner: Owner) -> bool {
    match name {
        named::CLASS | named::NAME | named::REFERENCE_LIST => owner.scale,
        named::DIMENSION_LIST | named::DIMENSION_LABELS => owner.dataset,
        named::DIMENSION_ID | named::COORDINATES => owner.dataset,
        named::CLASSIC_MODEL | named::PROPERTIES => owner.root,
        _ => false,
    }
}

/// Whether a hidden attribute says what its name promises: one that cannot be read, or is of another type, is
/// to be seen.
pub fn is_sound(file: &File, attribute: &Attribute) -> bool {
    let lists = [named::DIMENSION_LIST, named::DIMENSION_LABELS];
    match lists.iter().any(|list| attribute.name() == list.as_bytes()) {
        true => is_variable_length(attribute) && attribute.read(file).is_ok(),
        false => true,
    }
}
