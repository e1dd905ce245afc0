//! Types of indexes for dataset chunks. Spec: HDF5 Appendix C
