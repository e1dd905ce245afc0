//! Writes NetCDF-4: HDF5 files in which the NetCDF library finds its dimensions, variables and types.
//!
//! An object of the model becomes the object that the library would make of it (`netcdf/`), and the HDF5 writer writes
//! that object. What the library stores in addition to objects is known only when all of them are planned: dimensions
//! and their identifiers, and user-defined types.

mod order;
mod planner;
mod target;

use super::hdf5::write::planner::Hdf5Planner;
use super::netcdf::flavour::Flavour;
use super::netcdf::lowerings;
use crate::target::{
    Growing, Lowered, OptionType, Planned, Planner, Target, TargetFormat, TargetOption, TargetOptions,
};
use hyperslab_core::{Error, Result};
use std::path::Path;

/// NetCDF-4 as a target, with either all its types or those of the classic model.
pub(crate) struct Netcdf4Format {
    flavour: Flavour,
}

/// NetCDF-4.
pub(crate) static NETCDF4: Netcdf4Format = Netcdf4Format { flavour: Flavour::Enhanced };

/// NetCDF-4 in the classic model: what NetCDF-3 can represent, with chunks and filters.
pub(crate) static NETCDF4_CLASSIC: Netcdf4Format = Netcdf4Format { flavour: Flavour::ClassicModel };

const HOIST_DIMENSIONS: &str = "netcdf.hoist-dims";

/// The options of NetCDF-4 as a target.
static OPTIONS: &[TargetOption] = &[TargetOption {
    key: "hoist-dims",
    takes: OptionType::Flag,
    means: "move dimensions used outside their groups to the nearest group above all of their uses, rather \
            than replace them there by other dimensions (default: false)",
}];

impl TargetFormat for Netcdf4Format {
    fn name(&self) -> &'static str {
        if self.flavour.is_enhanced() { "netcdf4" } else { "netcdf4-classic" }
    }

    fn has_datetimes(&self) -> bool {
        false
    }

    fn ends_texts(&self) -> bool {
        true
    }

    fn decodes_texts(&self) -> bool {
        true
    }

    fn aliases(&self) -> &'static [&'static str] {
        // The kinds accepted by nccopy, the names that `ncdump -k` prints, and the names used by netCDF4 and xarray.
        match self.flavour.is_enhanced() {
            true => &["nc4", "nc", "netCDF-4", "NETCDF4"],
            false => &["nc7", "netCDF-4 classic model", "NETCDF4_CLASSIC"],
        }
    }

    fn family(&self) -> &'static str {
        "netcdf"
    }

    fn has_filters_of(&self, dialect: &str) -> bool {
        // HDF5 readers support filters that the NetCDF library lacks, such as LZF from h5py.
        self.dialects().contains(&dialect)
    }

    fn has_typed_marks(&self) -> bool {
        true
    }

    fn suffixes(&self) -> &'static [&'static str] {
        if self.flavour.is_enhanced() { &[".nc", ".nc4"] } else { &[] }
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

    fn has_declared_order(&self) -> bool {
        true
    }

    fn keeps_dangling(&self) -> bool {
        false
    }

    fn options(&self) -> &'static [TargetOption] {
        if self.flavour.is_enhanced() { OPTIONS } else { &[] }
    }

    fn lowerings(&self) -> &'static [&'static Lowered] {
        lowerings::of(self.flavour)
    }

    fn planner<'a>(&self, options: &'a TargetOptions, _: &'a Growing) -> Box<dyn Planner + 'a> {
        let hoists = options.flag(HOIST_DIMENSIONS);
        Box::new(planner::Netcdf4Planner::new(Hdf5Planner::for_netcdf(), self.flavour, hoists))
    }

    fn create(&self, path: &Path, _: bool, _: &TargetOptions, planned: &Planned) -> Result<Box<dyn Target>> {
        let outcome = planned.outcome.clone().and_then(|outcome| outcome.downcast::<planner::Found>().ok());
        let found = outcome.ok_or_else(|| Error::invalid("the conversion was planned for another format"))?;
        Ok(Box::new(target::Netcdf4Target::create(path, found)?))
    }
}
