//! `cargo xtask bench convert`: the command compared with other converters.

mod rows;

use super::compare::Comparison;

pub(super) const COMPARISON: Comparison = Comparison {
    name: "convert",
    title: "Speed of conversion",
    about: "The source is a NetCDF-4 file of 240×1024×1024 float32 in chunks of 8×256×256, shuffled and deflated \
            (level 4), with\ncoordinates. A run of hyperslab, gdalmdimtranslate 3.6 or cp is a process of its own, its \
            start included; its memory counts\nfrom the 13 MB of the process that started it. xarray with dask's \
            threads and zarr-python is imported before. Nobody waits\nfor the disk; what is written is removed after \
            each run, and read by another library to find out what is in it. GDAL knows\nno final version 3 of Zarr \
            and writes version 2, with zlib. The limit is what libdeflate and libzstd take alone: all chunks inflated, \
            unshuffled and encoded\nfrom memory to memory, in their own shape, by two threads.\n\n",
    command: true,
    rows: rows::rows,
};
