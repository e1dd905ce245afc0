//! Level 1: file infrastructure. Spec: HDF5 III

pub mod fractal_heap;

pub use fractal_heap::FractalHeapHeader;
