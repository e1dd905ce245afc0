//! The NetCDF formats, distinguished by what a file can contain.

use crate::format::netcdf3::datatype::data_type;
use hyperslab_core::Error;
use hyperslab_model::Datatype;
use hyperslab_netcdf3::Version;
use hyperslab_netcdf3::name::MAX_NAME;
use std::fmt;

/// A NetCDF format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Flavour {
    /// NetCDF-4 with groups, user-defined types and variable-length strings.
    Enhanced,
    /// NetCDF-4 restricted to what CDF-1 can represent.
    ClassicModel,
    /// NetCDF-3.
    Classic(Version),
}

impl Flavour {
    /// Whether it has groups, user-defined types and variable-length strings.
    pub(in crate::format) fn is_enhanced(self) -> bool {
        self == Flavour::Enhanced
    }

    /// Whether its files are HDF5 files, in which some attributes are reserved for the library.
    pub(in crate::format) fn is_hdf5(self) -> bool {
        !matches!(self, Flavour::Classic(_))
    }

    /// The maximum length of a name in bytes. In HDF5 files, libnetcdf 4.10 reads names of `NC_MAX_NAME` bytes with
    /// additional bytes at the end, or not at all.
    pub(in crate::format) fn longest_name(self) -> usize {
        if self.is_hdf5() { MAX_NAME - 1 } else { MAX_NAME }
    }

    /// Whether elements can have a given lowered type.
    pub(in crate::format) fn holds(self, datatype: &Datatype) -> bool {
        let is_in = |version| data_type(datatype).is_some_and(|of| of.is_in(version));
        match self {
            Flavour::Enhanced => true,
            Flavour::ClassicModel => is_in(Version::Classic),
            Flavour::Classic(version) => is_in(version),
        }
    }

    /// The error for something that the format does not have.
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
