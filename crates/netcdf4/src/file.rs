//! Recognises NetCDF-4 files.

use crate::{Scale, dimensions, name};
use hyperslab_core::{Result, valid};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::{File, Object, ObjectKind};

/// Whether a file was written as NetCDF-4.
///
/// Since version 4.4.1, the NetCDF library writes the attribute `_NCProperties` to the root group; `_nc3_strict` marks
/// the classic model. Files of older versions are recognised by the datasets of the root group and the scales of their
/// dimensions: by attributes that only this library writes, or by the `NAME` of a dimension without coordinates. The
/// oldest files have neither if all their dimensions have coordinates. They are recognised if the creation order of
/// links is tracked, which few other programs do, and all dimensions of all datasets have scales.
///
/// # Errors
/// If the root group cannot be read.
pub fn is_netcdf4(file: &File) -> Result<bool> {
    let root = file.root()?;
    for name in [name::PROPERTIES, name::CLASSIC_MODEL] {
        if root.attribute(file, name.as_bytes())?.is_some() {
            return Ok(true);
        }
    }
    let ordered = root.tracks_creation_order(file)?;
    let (mut attached, mut complete) = (false, true);
    let links = root.links(file)?;
    let mut addresses: Vec<Address> = links.iter().filter_map(hyperslab_hdf5::Link::address).collect();
    if !ordered {
        // Such a file is hardly ever NetCDF-4, and reading all headers of a large one takes long.
        addresses.truncate(MAX_EXAMINED);
        file.fetch_objects(&addresses);
    }
    for address in addresses {
        let Some(object) = valid(file.object(address))? else { continue };
        if object.kind() != ObjectKind::Dataset {
            continue;
        }
        let found = examine(file, &object)?;
        if found == Found::Mark {
            return Ok(true);
        }
        attached |= found == Found::Attached;
        complete &= found != Found::Other;
    }
    Ok(ordered && attached && complete)
}

/// What the attributes of a dataset reveal about the program that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// An attribute that only the NetCDF library writes.
    Mark,
    /// It is a dimension scale or a scalar, which has no scales.
    Alone,
    /// All its dimensions have scales.
    Attached,
    /// Not all its dimensions have scales.
    Other,
}

fn examine(file: &File, object: &Object) -> Result<Found> {
    let rank = valid(object.dataset(file))?.and_then(|dataset| dataset.extents().map(<[u64]>::len));
    if valid(object.has_attributes(file))? != Some(true) {
        return Ok(if rank == Some(0) { Found::Alone } else { Found::Other });
    }
    if has_mark(file, object)? {
        return Ok(Found::Mark);
    }
    if valid(Scale::of(file, object))?.flatten().is_some() {
        return Ok(Found::Alone);
    }
    let attached = valid(dimensions(file, object))?.unwrap_or_default();
    for address in attached.iter().flatten() {
        if let Some(scale) = valid(file.object(*address))?
            && has_mark(file, &scale)?
        {
            return Ok(Found::Mark);
        }
    }
    let has_all = rank == Some(attached.len()) && attached.iter().all(Option::is_some);
    Ok(match rank {
        Some(0) => Found::Alone,
        _ if has_all => Found::Attached,
        _ => Found::Other,
    })
}

fn has_mark(file: &File, object: &Object) -> Result<bool> {
    for name in [name::DIMENSION_ID, name::COORDINATES] {
        if valid(object.attribute(file, name.as_bytes()))?.flatten().is_some() {
            return Ok(true);
        }
    }
    Ok(valid(Scale::of(file, object))?.flatten().is_some_and(|scale| scale.pure))
}

/// The number of objects that are examined in a file that does not track the creation order of links.
const MAX_EXAMINED: usize = 64;
