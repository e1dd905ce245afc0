//! Converts Zarr to the model: nodes, datatypes, dimensions, attributes, storage, elements.

pub(super) mod attribute;
pub(super) mod datatype;
pub(super) mod dimensions;
pub(super) mod elements;
pub(super) mod fill_attribute;
mod node;
pub(super) mod paths;
pub(super) mod storage;

pub(super) use node::{shown_storage, version_3};
