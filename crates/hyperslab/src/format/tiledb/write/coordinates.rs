//! Domains of dimensions for which only the coordinates are known, as in a part of an array or several arrays that are
//! joined.

use crate::source::Counted;
use crate::target::{Coordinates, Facts};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, DimCoord, Node, Values};

/// The member of a dense array. If it is a dimension whose domain does not determine its coordinates, it gets the
/// domain of the coordinates.
///
/// # Errors
/// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for coordinates that do not increase by one.
pub(super) fn counted(mut node: Node, facts: Facts) -> Result<Node> {
    let Node::DimCoord(own) = &mut node else { return Ok(node) };
    let first = match facts.coordinates {
        Coordinates::Told => return Ok(node),
        Coordinates::From(first) => first,
        Coordinates::Uneven { position, step } => {
            let detail = format!(
                "coordinate {position} is {step} more than the one before, but coordinates of a dense TileDB array increase by 1"
            );
            let hint =
                "select consecutive coordinates, or convert to Zarr or NetCDF, which store every coordinate";
            return Err(Error::unsupported(detail).with_hint(hint));
        }
    };
    let Some(datatype) = own.datatype.clone() else { return Ok(node) };
    let told = own.storage.domain.as_ref().and_then(|domain| Counted::first(&datatype, domain, own.size));
    if told != Some(first) {
        own.storage.domain = Some(domain(own, &datatype, first)?);
    }
    Ok(node)
}

/// The domain of a dimension, starting at its first coordinate.
fn domain(own: &DimCoord, datatype: &Datatype, first: i128) -> Result<Values> {
    let size = datatype.row_size().unwrap_or(0);
    let is_signed = !matches!(datatype.resolved(), Datatype::Int { signed: false, .. });
    let last = match own.size.max() {
        Some(max) => first.saturating_add(max.max(1).into()) - 1,
        // Whole tiles must fit after the domain.
        None => greatest(size, is_signed).saturating_sub(ROOM).max(first),
    };
    if last > greatest(size, is_signed) {
        let detail = format!("coordinates up to {last}, which the type {datatype} does not hold");
        return Err(Error::unsupported(detail));
    }
    let bytes = |end: i128| end.to_le_bytes().into_iter().take(size);
    let rows: Vec<u8> = bytes(first).chain(bytes(last)).collect();
    Ok(Values { rows: rows.into(), heap: Heap::default() })
}

/// The greatest integer of this size in bytes.
fn greatest(size: usize, is_signed: bool) -> i128 {
    let bits = size.saturating_mul(8).saturating_sub(usize::from(is_signed));
    u32::try_from(bits).ok().and_then(|bits| 1_i128.checked_shl(bits)).map_or(i128::MAX, |next| next - 1)
}

/// The number of integers of its type that an unlimited dimension leaves unused.
const ROOM: i128 = 1 << 32;
