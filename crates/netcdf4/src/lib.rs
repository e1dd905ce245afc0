#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! NetCDF-4 stores a dimension as an HDF5 dimension scale: a dataset with the attribute `CLASS` = `DIMENSION_SCALE`.
//! The dataset is the coordinate variable. If its attribute `NAME` begins with [`PURE_DIMENSION`], the dimension has
//! no coordinate variable. The attribute `DIMENSION_LIST` of a variable refers to the scales of its dimensions; the
//! attribute `REFERENCE_LIST` of a scale refers to the variables.
//!
//! * [`Scale`]: a dataset that represents a dimension.
//! * [`dimensions`], [`dimension_scales`]: the scales of a variable's dimensions, the first of each and all.
//! * [`dimension_ids`]: the dimensions of a multidimensional coordinate variable.
//! * [`is_hidden`], [`is_sound`]: attributes that only represent structure.
//! * [`NumberType`]: default fill values.
//! * [`name`]: names of attributes with a meaning in NetCDF.
//! * [`rules`]: attribute names that the NetCDF library reserves, and chunk shapes that it chooses.
//! * [`is_netcdf4`]: whether a file was written as NetCDF-4 or only uses the same conventions.
//!
//! Dimensions of HDF5 datasets without scales have no name; NetCDF calls them phony dimensions. In this crate, they
//! only have an index.

mod dimension;
mod file;
mod fill;
mod hidden;
pub mod name;
pub mod rules;
mod variable;

pub use dimension::{PURE_DIMENSION, Scale};
pub use file::is_netcdf4;
pub use fill::NumberType;
pub use hidden::{Owner, is_hidden, is_sound};
pub use variable::{dimension_ids, dimension_labels, dimension_scales, dimensions};
