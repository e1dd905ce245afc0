//! Which of NetCDF's formats a file has, by what it holds.

use crate::format::netcdf3::datatype::data_type;
use hyperslab_core::Error;
use hyperslab_model::Datatype;
use hyperslab_netcdf3::Version;
use hyperslab_netcdf3::name::MAX_NAME;
use std::fmt;

/// A format of NetCDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Flavour {
    /// NetCDF-4 with groups, types of users and texts of variable length.
    Enhanced,
    /// NetCDF-4 with what CDF-1 can hold.
    ClassicModel,
    /// NetCDF-3.
    Classic(Version),
}

impl Flavour {
    /// Whether it has groups, types of users and texts of variable length.
    pub(in crate::format) fn is_enhanced(self) -> bool {
        self == Flavour::Enhanced
    }

    /// Whether its files are HDF5 files, in which some attributes are those of the library.
    pub(in crate::format) fn is_hdf5(self) -> bool {
        !matches!(self, Flavour::Classic(_))
    }

    /// The number of bytes of the longest name. Of HDF5, libnetcdf 4.10 reads names of `NC_MAX_NAME` bytes with others
    /// behind them, or not at all.
    pub(in crate::format) fn longest_name(self) -> usize {
        if self.is_hdf5() { MAX_NAME - 1 } else { MAX_NAME }
    }

    /// Whether elements can have a type that was lowered.
    pub(in crate::format) fn holds(self, datatype: &Datatype) -> bool {
        let is_in = |version| data_type(datatype).is_some_and(|of| of.is_in(version));
        match self {
            Flavour::Enhanced => true,
            Flavour::ClassicModel => is_in(Version::Classic),
            Flavour::Classic(version) => is_in(version),
        }
    }

    /// The error for what it does not have.
    pub(in crate::format) fn without(self, what: impl fmt::Display) -> Error {
        Error::unsupported(format!("{what}, which {self} does not have"))
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flavour::Enhanced => f.write_str("NetCDF"),
            Flavour::ClassicModel => f.write_str("the classic model"),
            Flavour::Classic(version) => version.fmt(f),
        }
    }
}
