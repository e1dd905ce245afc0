//! Encodings of dataspaces and references. Spec: HDF5 VIII Appendix D

pub mod dataspace;
pub mod reference;
pub mod selection;

pub use dataspace::EncodedDataspace;
pub use reference::{ReferenceBlock, ReferenceHeader, RegionReference, StoredReference};
pub use selection::DataspaceSelection;
