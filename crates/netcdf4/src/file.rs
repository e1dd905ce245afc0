//! Recognises NetCDF-4 files.

use crate::{Scale, dimensions, name};
use hyperslab_core::Result;
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::{File, Object, ObjectKind};

/// Whether a file was written as NetCDF-4.
///
/// Since 4.4.1 the NetCDF library writes the attribute `_NCProperties` to the root group; `_nc3_strict` marks the
/// classic model. Files of older versions are recognised by the datasets of the root group and the scales of their
/// dimensions: by attributes that only this library writes, or by the `NAME` of a dimension without coordinates. The
/// oldest files have neither if all their dimensions have coordinates. They are recognised if links are tracked in
/// the order of creation, which few other programs do, and all dimensions of all datasets have scales.
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
        // Such a file is hardly ever one, and reading all headers of a large one takes long.
        addresses.truncate(MAX_EXAMINED);
        file.fetch_objects(&addresses);
    }
    for address in addresses {
        let Ok(object) = file.object(address) else { continue };
        if object.kind() != ObjectKind::Dataset {
            continue;
        }
        let found = examine(file, &object);
        if found == Found::Mark {
            return Ok(true);
        }
        attached |= found == Found::Attached;
        complete &= found != Found::Other;
    }
    Ok(ordered && attached && complete)
}

/// What the attributes of a dataset say about the program that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Only the NetCDF library writes this.
    Mark,
    /// It is a dimension scale or a scalar, which has no scales.
    Alone,
    /// All its dimensions have scales.
    Attached,
    /// Not all its dimensions have scales.
    Other,
}

fn examine(file: &File, object: &Object) -> Found {
    let rank = object.dataset(file).ok().and_then(|dataset| dataset.extents().map(<[u64]>::len));
    if !object.has_attributes(file).unwrap_or(false) {
        return if rank == Some(0) { Found::Alone } else { Found::Other };
    }
    if has_mark(file, object) {
        return Found::Mark;
    }
    if matches!(Scale::of(file, object), Ok(Some(_))) {
        return Found::Alone;
    }
    let attached = dimensions(file, object).unwrap_or_default();
    let scales = attached.iter().flatten().filter_map(|address| file.object(*address).ok());
    match scales.into_iter().any(|scale| has_mark(file, &scale)) {
        true => Found::Mark,
        false if rank == Some(0) => Found::Alone,
        false if rank == Some(attached.len()) && attached.iter().all(Option::is_some) => Found::Attached,
        false => Found::Other,
    }
}

fn has_mark(file: &File, object: &Object) -> bool {
    let has = |name: &str| object.attribute(file, name.as_bytes()).is_ok_and(|found| found.is_some());
    [name::DIMENSION_ID, name::COORDINATES].into_iter().any(has)
        || Scale::of(file, object).ok().flatten().is_some_and(|scale| scale.pure)
}

/// The number of objects that are examined in a file whose links are not tracked in the order of creation.
const MAX_EXAMINED: usize = 64;
