//! Writes NetCDF classic files.
//!
//! An object of the model is first converted to its NetCDF form (`netcdf/`). The header contains all objects, so it is
//! built when the last one is planned (`definition`); the positions of the elements can then be computed (`array`).

mod array;
mod definition;
mod planner;
mod target;

use super::super::netcdf::flavour::Flavour;
use super::super::netcdf::lowerings;
use crate::target::{Growing, Lowered, Planned, Planner, Target, TargetFormat, TargetOption, TargetOptions};
use hyperslab_core::{Error, Result};
use hyperslab_netcdf3::Version;
use std::path::Path;

/// A version of NetCDF-3 as a target.
pub(crate) struct Netcdf3Format {
    version: Version,
}

/// CDF-1.
pub(crate) static NETCDF3: Netcdf3Format = Netcdf3Format { version: Version::Classic };

/// CDF-2.
pub(crate) static NETCDF3_OFFSET_64: Netcdf3Format = Netcdf3Format { version: Version::Offset64 };

/// CDF-5.
pub(crate) static NETCDF3_DATA_64: Netcdf3Format = Netcdf3Format { version: Version::Data64 };

impl TargetFormat for Netcdf3Format {
    fn name(&self) -> &'static str {
        name(self.version)
    }

    fn has_datetimes(&self) -> bool {
        false
    }

    fn ends_texts(&self) -> bool {
        true
    }

    fn aliases(&self) -> &'static [&'static str] {
        // Includes the kinds accepted by nccopy, the names that `ncdump -k` prints, and the names used by netCDF4 and
        // xarray.
        match self.version {
            Version::Classic => &["cdf1", "nc3", "classic", "NETCDF3_CLASSIC"],
            Version::Offset64 => {
                &["cdf2", "nc6", "64-bit-offset", "64-bit offset", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT"]
            }
            Version::Data64 => &["cdf5", "nc5", "64-bit-data", "NETCDF3_64BIT_DATA"],
        }
    }

    fn family(&self) -> &'static str {
        "netcdf"
    }

    fn dialects(&self) -> &'static [&'static str] {
        match self.version {
            Version::Classic => &[super::CLASSIC_TITLE],
            Version::Offset64 => &[super::OFFSET_64_TITLE],
            Version::Data64 => &[super::DATA_64_TITLE],
        }
    }

    fn has_typed_marks(&self) -> bool {
        true
    }

    fn suffixes(&self) -> &'static [&'static str] {
        match self.version {
            Version::Classic => &[".nc3", ".cdf"],
            Version::Offset64 | Version::Data64 => &[],
        }
    }

    fn is_directory(&self, _: &Path) -> bool {
        false
    }

    fn has_root_arrays(&self) -> bool {
        false
    }

    fn is_always_chunked(&self) -> bool {
        false
    }

    fn has_declared_order(&self) -> bool {
        true
    }

    fn has_chunks(&self) -> bool {
        false
    }

    fn marks_missing(&self) -> bool {
        true
    }

    fn needs_default_fill(&self, _: &str) -> bool {
        true
    }

    fn has_zero_fill(&self) -> bool {
        false
    }

    fn needs_growing(&self) -> bool {
        false
    }

    fn keeps_dangling(&self) -> bool {
        false
    }

    fn options(&self) -> &'static [TargetOption] {
        &[]
    }

    fn lowerings(&self) -> &'static [&'static Lowered] {
        lowerings::of(Flavour::Classic(self.version))
    }

    fn planner<'a>(&self, _: &'a TargetOptions, _: &'a Growing) -> Box<dyn Planner + 'a> {
        Box::new(planner::Netcdf3Planner::new(self.version))
    }

    fn create(&self, path: &Path, _: bool, _: &TargetOptions, planned: &Planned) -> Result<Box<dyn Target>> {
        let outcome =
            planned.outcome.clone().and_then(|outcome| outcome.downcast::<definition::Found>().ok());
        let found = outcome.ok_or_else(|| Error::invalid("the conversion was planned for another format"))?;
        Ok(Box::new(target::Netcdf3Target::create(path, found)?))
    }
}

/// The name of a version as a target.
fn name(version: Version) -> &'static str {
    match version {
        Version::Classic => "netcdf3",
        Version::Offset64 => "netcdf3-64bit-offset",
        Version::Data64 => "netcdf3-64bit-data",
    }
}
