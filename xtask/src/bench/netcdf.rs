//! `cargo xtask bench netcdf`: writing NetCDF-4 compared with the NetCDF library.

mod rows;

use super::compare::Comparison;

pub(super) const COMPARISON: Comparison = Comparison {
    name: "netcdf",
    title: "Speed of writing NetCDF-4",
    about: "The array is 256×512×1024 float32 along an unlimited dimension, in chunks of 8×256×256, in a NetCDF-4 file that is \
            shuffled and\ndeflated (level 1), and in a NetCDF-3 file. The many variables have 10 float32 each along one \
            dimension. A run of the command,\nof nccopy or of ncdump is a process of its own, its start included; netCDF4 is \
            imported before. Nobody waits for the disk; what is\nwritten is removed after each run, and read by netCDF4 to \
            find out what is in it.\n\n",
    command: true,
    rows: rows::rows,
};
