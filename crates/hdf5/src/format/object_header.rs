//! Level 2: object headers. Spec: HDF5 IV.A.1
