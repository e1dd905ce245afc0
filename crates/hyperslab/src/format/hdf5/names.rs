//! The displayed names of members and attributes: those of the NetCDF view, and the names of the source where a
//! [record](super::super::netcdf::record) keeps them.

use super::super::netcdf::record::{ATTRIBUTE, Record, restore};
use super::beside::{Merged, merge_names};
use super::into_text;
use hyperslab_core::{Result, valid};
use hyperslab_hdf5::{File, Link as Hdf5Link, Object};

/// The links of a group with their displayed names.
pub(super) struct Shown {
    pub(super) links: Vec<(String, Hdf5Link)>,
    /// The NetCDF dimensions that share their name with a variable that is not their coordinates.
    pub(super) merged: Vec<(String, Merged)>,
}

impl Shown {
    /// Determines the names of the links of a group, in the NetCDF view if `netcdf` is set.
    ///
    /// # Errors
    /// If a read fails.
    pub(super) fn of(file: &File, group: &Object, mut links: Vec<Hdf5Link>, netcdf: bool) -> Result<Shown> {
        let merged = if netcdf { merge_names(file, &mut links)? } else { Vec::new() };
        let name = |mut link: Hdf5Link| (into_text(std::mem::take(&mut link.name)), link);
        let mut links: Vec<_> = links.into_iter().map(name).collect();
        let mut merged: Vec<_> = merged.into_iter().map(|of| (into_text(of.name.clone()), of)).collect();
        if netcdf {
            let originals = record(file, group)?.members;
            restore(&originals, links.iter_mut().map(|(name, _)| name));
            restore(&originals, merged.iter_mut().map(|(name, _)| name));
        }
        Ok(Shown { links, merged })
    }
}

/// The record of an object, empty if it has none.
///
/// # Errors
/// If a read fails.
pub(super) fn record(file: &File, object: &Object) -> Result<Record> {
    let Some(Some(attribute)) = valid(object.attribute(file, ATTRIBUTE.as_bytes()))? else {
        return Ok(Record::default());
    };
    Ok(record_in(file, &attribute)?.unwrap_or_default())
}

/// The record in an attribute; `None` if the attribute is not a record.
///
/// # Errors
/// If a read fails.
pub(super) fn record_in(file: &File, attribute: &hyperslab_hdf5::Attribute) -> Result<Option<Record>> {
    let text = valid(attribute.text(file))?.flatten();
    Ok(text.and_then(|text| Record::parse(&text)))
}
