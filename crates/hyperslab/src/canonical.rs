//! The canonical bytes of an element, which are equal in every format. Digests hash them, and they order elements that
//! have no natural order.

use hyperslab_core::nd::{Region, Selection};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, ElementRef, Elements, Float, NodePath, Reference, ReferencedPart};

/// Appends the canonical bytes of one element. `rank` returns the number of dimensions of a referenced array.
///
/// # Errors
/// If the element does not fit its datatype, or refers to a region of too many blocks.
pub(crate) fn canonical(
    rank: &dyn Fn(&NodePath) -> usize,
    element: ElementRef<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    if let Datatype::Nullable(_) = element.datatype().resolved() {
        let present = element.present();
        out.push(u8::from(present.is_some()));
        return present.map_or(Ok(()), |value| canonical(rank, value, out));
    }
    match element.get() {
        Element::Int(value) | Element::Enum(value, _) => {
            let bytes = value.to_le_bytes();
            out.extend_from_slice(bytes.get(..int_bytes(element.datatype())).unwrap_or(&bytes));
        }
        Element::Float(_) | Element::Complex(_) => native_floats(element.datatype(), element.row(), out),
        Element::RawFloat(bytes) | Element::Opaque(bytes) | Element::Bits(bytes) => {
            out.extend_from_slice(bytes)
        }
        Element::Bool(value) => out.push(u8::from(value)),
        Element::Text(text) => string(text, out),
        Element::Reference(reference) => reference_bytes(rank, element.datatype(), reference, out)?,
        Element::Compound(fields) => {
            for (_, field) in fields {
                canonical(rank, field, out)?;
            }
        }
        Element::Vlen(elements) => {
            out.extend_from_slice(&(elements.len() as u64).to_le_bytes());
            canonical_all(rank, elements, out)?;
        }
        Element::Array(elements, _) => canonical_all(rank, elements, out)?,
        Element::Null | Element::Broken => return Err(Error::malformed("an element does not fit its type")),
    }
    Ok(())
}

/// Appends the canonical bytes of the elements inside an element.
fn canonical_all(
    rank: &dyn Fn(&NodePath) -> usize,
    mut elements: Elements<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let len = elements.len().checked_mul(elements.row_size());
    if len == Some(elements.rows().len()) && is_verbatim(elements.datatype()) {
        out.extend_from_slice(elements.rows());
        return Ok(());
    }
    elements.try_for_each(|element| canonical(rank, element, out))
}

/// Whether rows are already canonical bytes.
pub(crate) fn is_verbatim(datatype: &Datatype) -> bool {
    cfg!(target_endian = "little") && is_little_endian(datatype)
}

/// Whether rows are canonical bytes on a little-endian machine.
fn is_little_endian(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Int { bits, .. } | Datatype::Time { bits } => matches!(bits, 8 | 16 | 32 | 64 | 128),
        Datatype::Float(_)
        | Datatype::Complex(_)
        | Datatype::Datetime(_)
        | Datatype::Bitfield { .. }
        | Datatype::Opaque { .. } => true,
        Datatype::Bool
        | Datatype::String(_)
        | Datatype::ObjRef
        | Datatype::RegRef
        | Datatype::Reference
        | Datatype::Vlen(_)
        | Datatype::Nullable(_) => false,
        Datatype::Enum { base, .. } | Datatype::Array { base, .. } => is_little_endian(base),
        Datatype::Compound(members) => members.iter().all(|member| is_little_endian(&member.datatype)),
        Datatype::Named(_, of) => is_little_endian(of),
    }
}

fn int_bytes(datatype: &Datatype) -> usize {
    match datatype.resolved() {
        Datatype::Int { bits, .. } | Datatype::Time { bits } => usize::from(*bits).div_ceil(8),
        Datatype::Enum { base, .. } => int_bytes(base),
        _ => 8,
    }
}

/// Appends floating-point numbers of well-known formats, whose rows are in native byte order.
fn native_floats(datatype: &Datatype, row: &[u8], out: &mut Vec<u8>) {
    let size = match datatype.resolved() {
        Datatype::Float(float) | Datatype::Complex(float) => match float {
            Float::Other(_) => 1,
            named => named.row_size(),
        },
        _ => 1,
    };
    for number in row.chunks(size.max(1)) {
        if cfg!(target_endian = "little") {
            out.extend_from_slice(number);
        } else {
            out.extend(number.iter().rev());
        }
    }
}

fn string(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text);
}

fn reference_bytes(
    rank: &dyn Fn(&NodePath) -> usize,
    datatype: &Datatype,
    reference: &Reference,
    out: &mut Vec<u8>,
) -> Result<()> {
    let revised = matches!(datatype.resolved(), Datatype::Reference);
    let region = matches!(datatype.resolved(), Datatype::RegRef);
    match reference {
        Reference::Null if revised => out.push(0),
        Reference::Null => {
            out.extend_from_slice(&u64::MAX.to_le_bytes());
            if region {
                selection(&Selection::None, 0, out)?;
            }
        }
        Reference::Object(path) => {
            if revised {
                out.push(1);
            }
            string(path.as_str().as_bytes(), out);
        }
        Reference::Region(path, selected) => {
            if revised {
                out.push(2);
            }
            string(path.as_str().as_bytes(), out);
            selection(selected, rank(path), out)?;
        }
        Reference::Attribute(path, name) => {
            if revised {
                out.push(3);
            }
            string(path.as_str().as_bytes(), out);
            string(name.as_bytes(), out);
        }
        // The target is not in the file and has no path. Its address distinguishes it from others.
        Reference::Dangling(address) => string(format!("address {address}").as_bytes(), out),
        Reference::External { file, address, part } => {
            let object = format!("{file}:address {address}");
            match part {
                ReferencedPart::Object => string(object.as_bytes(), out),
                ReferencedPart::Region(selected) => {
                    string(format!("{object} region").as_bytes(), out);
                    selection(selected, own_rank(selected), out)?;
                }
                ReferencedPart::Attribute(name) => {
                    string(format!("{object} attribute {name}").as_bytes(), out)
                }
            }
        }
    }
    Ok(())
}

/// The number of dimensions of a selection whose array is not known.
fn own_rank(of: &Selection) -> usize {
    match of {
        Selection::All | Selection::None => 0,
        Selection::Region(region) => region.rank(),
        Selection::Blocks(blocks) => blocks.first().map_or(0, Region::rank),
        Selection::Points { rank, .. } => usize::try_from(*rank).unwrap_or(usize::MAX),
    }
}

/// Appends kind, rank, count and coordinates of a selection in an array with `rank` dimensions.
fn selection(selection: &Selection, rank: usize, out: &mut Vec<u8>) -> Result<()> {
    let mut put = |kind: u8, rank: usize, count: u64, coordinates: &mut dyn Iterator<Item = u64>| {
        out.push(kind);
        out.extend_from_slice(&(rank as u64).to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        coordinates.for_each(|c| out.extend_from_slice(&c.to_le_bytes()));
    };
    let corners = |block: &Region| {
        let last = block.start.iter().zip(&block.count);
        let last = last.map(|(start, count)| start.saturating_add(count.saturating_sub(1)));
        block.start.iter().copied().chain(last).collect::<Vec<_>>()
    };
    let mut put_blocks = |regions: &[Region]| {
        let rank = regions.first().map_or(rank, Region::rank);
        let counts = regions.iter().map(|region| region.block_count().unwrap_or(u64::MAX));
        let count = counts.fold(0_u64, u64::saturating_add);
        if count > MAX_BLOCKS {
            return Err(Error::unsupported(format!("a region of more than {MAX_BLOCKS} blocks")));
        }
        put(2, rank, count, &mut regions.iter().flat_map(Region::blocks).flat_map(|block| corners(&block)));
        Ok(())
    };
    match selection {
        Selection::None => put(0, rank, 0, &mut std::iter::empty()),
        Selection::All => put(3, rank, 0, &mut std::iter::empty()),
        Selection::Points { rank, coordinates } => {
            let rank = usize::try_from(*rank).unwrap_or(usize::MAX);
            let count = coordinates.len().checked_div(rank).unwrap_or(0) as u64;
            put(1, rank, count, &mut coordinates.iter().copied());
        }
        Selection::Region(region) => put_blocks(std::slice::from_ref(region))?,
        Selection::Blocks(regions) => put_blocks(regions)?,
    }
    Ok(())
}

/// The maximum number of blocks of one region: a few bytes of a file can declare any number.
const MAX_BLOCKS: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::Values;

    #[test]
    fn a_mark_stands_before_each_value_that_can_be_null() {
        let datatype = Datatype::Nullable(Box::new(Datatype::int(16, true)));
        let rows = [&[1][..], &7_i16.to_ne_bytes(), &[0, 9, 9]].concat();
        let values = Values { rows: rows.into(), ..Values::default() };
        let mut bytes = Vec::new();
        for element in Elements::new(&datatype, &values) {
            canonical(&|_| 0, element, &mut bytes).unwrap();
        }
        assert_eq!(bytes, [1, 7, 0, 0], "a null value has the mark alone");
    }
}
