//! Level 1: file infrastructure. Spec: HDF5 III
