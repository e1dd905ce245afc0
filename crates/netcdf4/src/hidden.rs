//! Attributes that only represent structure.

use crate::name as named;
use crate::variable::is_variable_length;
use hyperslab_core::{Result, valid};
use hyperslab_hdf5::{Attribute, File};

/// The object that has an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Whether it is a dimension scale.
    pub scale: bool,
    /// Whether it is a dataset.
    pub dataset: bool,
    /// Whether it is the root group.
    pub root: bool,
}

/// Whether an attribute only repeats what the dimensions express, so that users need not see it.
///
/// `CLASS` and `NAME` are common names, so they are hidden only on dimension scales.
pub fn is_hidden(name: &str, owner: Owner) -> bool {
    match name {
        named::CLASS | named::NAME | named::REFERENCE_LIST => owner.scale,
        named::DIMENSION_LIST | named::DIMENSION_LABELS => owner.dataset,
        named::DIMENSION_ID | named::COORDINATES => owner.dataset,
        named::CLASSIC_MODEL | named::PROPERTIES => owner.root,
        _ => false,
    }
}

/// Whether a hidden attribute has the expected datatype and can be decoded. Otherwise it must be shown.
///
/// # Errors
/// If a read fails.
pub fn is_sound(file: &File, attribute: &Attribute) -> Result<bool> {
    let lists = [named::DIMENSION_LIST, named::DIMENSION_LABELS];
    match lists.iter().any(|list| attribute.name() == list.as_bytes()) {
        true => Ok(is_variable_length(attribute) && valid(attribute.read(file))?.is_some()),
        false => Ok(true),
    }
}
