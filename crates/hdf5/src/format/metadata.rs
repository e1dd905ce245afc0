//! Level 0: file metadata. Spec: HDF5 II
