//! NetCDF-4 on top of HDF5: which datasets are dimensions, which attributes only hold that together.
//!
//! NetCDF-4 stores a dimension as an HDF5 dimension scale: a dataset with the attribute `CLASS` =
//! `DIMENSION_SCALE`. Its values are the coordinate variable, or, where `NAME` begins with
//! [`PURE_DIMENSION`], nothing. A variable names the scale of each of its dimensions in `DIMENSION_LIST`;
//! the scale names the variables back in `REFERENCE_LIST`.
//!
//! * [`Scale`]: a dataset as a dimension.
//! * [`dimensions`]: the scales of a variable's dimensions.
//! * [`is_hidden`], [`is_sound`]: the attributes that are bookkeeping.
//! * [`NumberType`]: the values of elements that were never written.
//! * [`name`]: the names of attributes with a meaning.
//! * [`is_netcdf4`]: whether a file was written as NetCDF-4 or only uses the same conventions.
//!
//! ```
//! use hyperslab_core::{Limits, storage::FileStorage};
//! use hyperslab_hdf5::File;
//! use hyperslab_netcdf4::{Scale, is_netcdf4};
//!
//! let file = File::open(Box::new(FileStorage::open("../../examples/ocean.nc")?), Limits::default())?;
//! assert!(is_netcdf4(&file)?);
//! let link = file.root()?.link(&file, b"lat")?.expect("there is a latitude");
//! let latitude = file.object(link.address().expect("the link is hard"))?;
//! assert!(Scale::of(&file, &latitude)?.is_some_and(|scale| !scale.pure));
//! # Ok::<(), hyperslab_core::Error>(())
//! ```
//!
//! Dimensions of HDF5 datasets without scales have no name; NetCDF calls them phony. They stay numbers here.

mod dimension;
mod file;
mod fill;
mod hidden;
pub mod name;
mod variable;

pub use dimension::{PURE_DIMENSION, Scale};
pub use file::is_netcdf4;
pub use fill::NumberType;
pub use hidden::{Owner, is_hidden, is_sound};
pub use variable::{dimension_labels, dimensions};
