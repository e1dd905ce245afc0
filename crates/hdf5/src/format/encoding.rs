//! Encodings of dataspaces and references. Spec: HDF5 VIII Appendix D

pub mod selection;

pub use selection::DataspaceSelection;
