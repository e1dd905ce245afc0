//! The versions of libhdf5 that must be able to read a file, and the versions of structures that follow from them.
//!
//! The specification leaves the choice to the writer. This is the choice of libhdf5: the oldest version that can
//! represent the content, but none older than the lower bound requires.

use crate::format::message::attribute::Version as AttributeVersion;
use crate::format::message::character_set::CharacterSet;
use crate::format::message::dataspace::{Extent, Version as DataspaceVersion};
use crate::format::message::fill_value::Version as FillValueVersion;
use crate::format::message::filter_pipeline::Version as FilterPipelineVersion;
use hyperslab_core::{Error, Result};
use std::fmt;

/// A version of libhdf5, as a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LibraryVersion {
    /// All versions.
    Earliest,
    /// HDF5 1.8.
    V1_8,
    /// HDF5 1.10.
    V1_10,
    /// HDF5 1.12.
    V1_12,
    /// HDF5 1.14.
    V1_14,
    /// HDF5 2.0.
    V2_0,
}

impl LibraryVersion {
    /// All bounds, oldest first.
    pub const ALL: [LibraryVersion; 6] = [
        LibraryVersion::Earliest,
        LibraryVersion::V1_8,
        LibraryVersion::V1_10,
        LibraryVersion::V1_12,
        LibraryVersion::V1_14,
        LibraryVersion::V2_0,
    ];

    /// Its name, as h5py spells it.
    pub const fn name(self) -> &'static str {
        match self {
            LibraryVersion::Earliest => "earliest",
            LibraryVersion::V1_8 => "v1.8",
            LibraryVersion::V1_10 => "v1.10",
            LibraryVersion::V1_12 => "v1.12",
            LibraryVersion::V1_14 => "v1.14",
            LibraryVersion::V2_0 => "v2.0",
        }
    }

    /// Checks that this upper bound allows content that needs the version `needed`. `what` names the content, in the
    /// plural.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if it does not.
    pub fn allow(self, needed: LibraryVersion, what: impl fmt::Display) -> Result<()> {
        match needed <= self {
            true => Ok(()),
            false => Err(Error::invalid(format!("{what} need HDF5 {needed}, expected at most {self}"))),
        }
    }

    /// The version of dataspace messages with this lower bound.
    pub fn dataspace(self, extent: &Extent) -> DataspaceVersion {
        match extent {
            Extent::Null => DataspaceVersion::V2,
            _ if self >= LibraryVersion::V1_8 => DataspaceVersion::V2,
            _ => DataspaceVersion::V1,
        }
    }

    /// The version of fill value messages with this lower bound.
    pub fn fill_value(self) -> FillValueVersion {
        if self >= LibraryVersion::V1_8 { FillValueVersion::V3 } else { FillValueVersion::V2 }
    }

    /// The version of filter pipeline messages with this lower bound.
    pub fn filter_pipeline(self) -> FilterPipelineVersion {
        if self >= LibraryVersion::V1_8 { FilterPipelineVersion::V2 } else { FilterPipelineVersion::V1 }
    }

    /// The version of attribute messages with this lower bound. `is_shared` is true if the datatype or the dataspace is
    /// stored elsewhere.
    pub fn attribute(self, character_set: CharacterSet, is_shared: bool) -> AttributeVersion {
        if self >= LibraryVersion::V1_8 || character_set != CharacterSet::Ascii {
            AttributeVersion::V3 { character_set }
        } else if is_shared {
            AttributeVersion::V2
        } else {
            AttributeVersion::V1
        }
    }
}

impl fmt::Display for LibraryVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
