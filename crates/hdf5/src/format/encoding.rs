//! Encodings of selections and references. Spec: HDF5 Appendix D
