//! Writes HDF5 files.
//!
//! The HDF5 form of an object of the model is computed from the model alone (`objects`): the plan of a conversion calls
//! it to find what is lost, and the target calls it again to write the same. In between, everything is measured
//! (`pass`). An object is measured as soon as it is planned, unless objects depend on others that come later.

mod array;
mod datatype;
mod dimensions;
mod fill;
mod filters;
mod log;
pub(in crate::format) mod lowerings;
mod name;
mod objects;
mod options;
mod pass;
pub(in crate::format) mod planner;
mod references;
pub(in crate::format) mod target;
mod trial;
mod uses;

pub(in crate::format) use array::MIN_RECORDED;

use crate::target::{
    Growing, Lowered, OptionValue, Planned, Planner, Target, TargetFormat, TargetOption, TargetOptions,
};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Directive, Node};
use std::path::Path;

/// HDF5 as a target.
pub(crate) struct Hdf5Format;

/// HDF5.
pub(crate) static HDF5: Hdf5Format = Hdf5Format;

impl TargetFormat for Hdf5Format {
    fn name(&self) -> &'static str {
        "hdf5"
    }

    fn has_datetimes(&self) -> bool {
        false
    }

    fn ends_texts(&self) -> bool {
        true
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["h5"]
    }

    fn dialects(&self) -> &'static [&'static str] {
        &["HDF5"]
    }

    fn stores_names_as_bytes(&self) -> bool {
        true
    }

    fn has_filters_of(&self, dialect: &str) -> bool {
        super::DIALECTS.iter().any(|own| own.title == dialect)
    }

    fn shares_suffixes_with(&self) -> Option<&'static str> {
        // NetCDF-4 files are HDF5 files.
        Some("netcdf")
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".h5", ".hdf5", ".he5", ".hdf"]
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

    fn needs_default_fill(&self, source: &str) -> bool {
        // The default fill value of HDF5 is zero, but that of NetCDF-4 and others is not.
        !self.dialects().contains(&source)
    }

    fn needs_growing(&self) -> bool {
        false
    }

    fn track_order(&self, node: &mut Node) -> Result<()> {
        let is_group = matches!(node, Node::Group(_));
        let Some(storage) = node.storage_mut() else { return Ok(()) };
        let keys = ["track_attributes", "track_order"];
        for key in keys.into_iter().take(if is_group { 2 } else { 1 }) {
            storage.native_mut("hdf5")?.push((key.to_owned(), Directive::Bool(true)));
        }
        Ok(())
    }

    fn keeps_dangling(&self) -> bool {
        false
    }

    fn options(&self) -> &'static [TargetOption] {
        options::OPTIONS
    }

    fn check_options(&self, options: &TargetOptions) -> Result<()> {
        options::Options::of(options).map(drop)
    }

    fn repacking(&self, options: TargetOptions) -> Result<TargetOptions> {
        options.with(self, "sources", OptionValue::Word("keep".into()))
    }

    fn lowerings(&self) -> &'static [&'static Lowered] {
        lowerings::LOWERINGS
    }

    fn planner<'a>(&self, options: &'a TargetOptions, _: &'a Growing) -> Box<dyn Planner + 'a> {
        Box::new(planner::Hdf5Planner::new(options))
    }

    fn create(&self, path: &Path, _: bool, _: &TargetOptions, planned: &Planned) -> Result<Box<dyn Target>> {
        let outcome = planned.outcome.clone().and_then(|outcome| outcome.downcast::<planner::Found>().ok());
        let found = outcome.ok_or_else(|| Error::invalid("the conversion was planned for another format"))?;
        Ok(Box::new(target::Hdf5Target::create(path, found, planned.is_whole)?))
    }
}
