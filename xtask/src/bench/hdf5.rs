//! `cargo xtask bench hdf5`: writing HDF5 compared with other libraries and programs.

mod rows;

use super::compare::Comparison;

pub(super) const COMPARISON: Comparison = Comparison {
    name: "hdf5",
    title: "Speed of writing HDF5",
    about: "The array is 512×512×1024 float32, in chunks of 128³ where it has chunks; the many datasets have 10 float32 each. A run \
            of the\ncommand, of h5repack or of cp is a process of its own, its start included; its memory counts from \
            that of the process that\nstarted it. Libraries write from memory. Nobody waits for the disk; what is \
            written is removed after each run, and read by\nh5py to find out what is in it.\n\n",
    command: true,
    rows: rows::rows,
};
