//! Recognises NetCDF-4 files.

use crate::{Scale, name};
use hyperslab_core::Result;
use hyperslab_hdf5::File;
use hyperslab_hdf5::ObjectKind;

/// Whether a file was written as NetCDF-4.
///
/// Since 4.4.1 the NetCDF library writes the attribute `_NCProperties` to the root group; `_nc3_strict` marks the
/// classic model. Older files have attributes that only this library writes on datasets of the root group.
///
/// # Errors
/// If the root group cannot be read.
pub fn is_netcdf4(file: &File) -> Result<bool> {
    let root = file.root()?;
    // Every version of the NetCDF library tracks creation order; few other programs do.
    if !root.tracks_creation_order(file)? {
        return Ok(false);
    }
    for name in [name::PROPERTIES, name::CLASSIC_MODEL] {
        if root.attribute(file, name.as_bytes())?.is_some() {
            return Ok(true);
        }
    }
    for address in root.links(file)?.iter().filter_map(hyperslab_hdf5::Link::address) {
        let Ok(object) = file.object(address) else { continue };
        if object.kind() != ObjectKind::Dataset || !object.has_attributes(file).unwrap_or(false) {
            continue;
        }
        for name in [name::DIMENSION_ID, name::COORDINATES] {
            if object.attribute(file, name.as_bytes()).is_ok_and(|found| found.is_some()) {
                return Ok(true);
            }
        }
        if Scale::of(file, &object).ok().flatten().is_some_and(|scale| scale.pure) {
            return Ok(true);
        }
    }
    Ok(false)
}
