//! Level 2: header messages. Spec: HDF5 IV.A.2
