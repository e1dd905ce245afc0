//! The bytes of an element that are hashed, alike in every format.

use crate::source::{Item, Source};
use blake3::Hasher;
use hyperslab_core::nd::{Region, Selection};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, ElementRef, Elements, Float, NodePath, Reference, Values};

pub(super) fn head(datatype: &str, shape: Option<&[u64]>) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(b"ndl-digest-1\n").update(datatype.as_bytes()).update(b"\n");
    match shape {
        Some(shape) => {
            let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
            hasher.update(extents.join(",").as_bytes()).update(b"\n");
        }
        None => {
            hasher.update(b"null\n");
        }
    }
    hasher
}

/// How the elements of a type are hashed.
pub(super) struct Plan<'a> {
    datatype: &'a Datatype,
    /// Whether rows are already the bytes that are hashed.
    verbatim: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(datatype: &'a Datatype) -> Self {
        Plan { datatype, verbatim: cfg!(target_endian = "little") && is_verbatim(datatype) }
    }

    pub(super) fn hash(
        &self,
        source: &dyn Source,
        values: &Values,
        count: Option<u64>,
        hasher: &mut Hasher,
    ) -> Result<()> {
        if self.verbatim {
            hasher.update(&values.rows);
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(1 << 16);
        let elements = Elements::new(self.datatype, values);
        if count.is_some_and(|count| count != elements.len() as u64) {
            return Err(Error::malformed("elements of no bytes cannot be counted"));
        }
        for element in elements {
            canonical(&|path| rank_of(source, path), element, &mut bytes)?;
            if bytes.len() >= 1 << 16 {
                hasher.update(&bytes);
                bytes.clear();
            }
        }
        hasher.update(&bytes);
        Ok(())
    }
}

/// Whether a row on a little-endian machine is what the digest hashes.
fn is_verbatim(datatype: &Datatype) -> bool {
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
        Datatype::Enum { base, .. } | Datatype::Array { base, .. } => is_verbatim(base),
        Datatype::Compound(members) => members.iter().all(|member| is_verbatim(&member.datatype)),
        Datatype::Named(_, of) => is_verbatim(of),
    }
}

/// Appends the bytes that are hashed for one element. `rank` finds the rank of an array that a reference leads to.
///
/// # Errors
/// If the element does not fit its type, or refers to a region of too many blocks.
pub(crate) fn canonical(
    rank: &dyn Fn(&NodePath) -> usize,
    element: ElementRef<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
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
            for element in elements {
                canonical(rank, element, out)?;
            }
        }
        Element::Array(elements, _) => {
            for element in elements {
                canonical(rank, element, out)?;
            }
        }
        Element::Null => out.push(0),
        Element::Broken => return Err(Error::malformed("an element does not fit its type")),
    }
    Ok(())
}

fn int_bytes(datatype: &Datatype) -> usize {
    match datatype.resolved() {
        Datatype::Int { bits, .. } | Datatype::Time { bits } => usize::from(*bits).div_ceil(8),
        Datatype::Enum { base, .. } => int_bytes(base),
        _ => 8,
    }
}

/// Floats of named formats, whose rows are in native order.
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
        // What is not in the file has no path to hash; its address keeps two of them apart.
        Reference::Dangling(address) => string(format!("address {address}").as_bytes(), out),
        Reference::External { file, address } => string(format!("{file}:address {address}").as_bytes(), out),
    }
    Ok(())
}

/// The rank of an array that a selection of all or nothing leaves unsaid.
fn rank_of(source: &dyn Source, path: &NodePath) -> usize {
    match source.find(path).map(|entry| entry.item) {
        Ok(Item::Array { shape, .. }) => shape.dims().len(),
        _ => 0,
    }
}

/// Kind, rank, count and coordinates of a selection in an array of `rank` dimensions.
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

/// Blocks of one region that are written down; a few bytes of a file can ask for any number.
const MAX_BLOCKS: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::testing::Nothing;
    use bytes::Bytes;
    use hyperslab_core::rows::Slot;
    use hyperslab_model::Text;

    #[test]
    fn worked_example_scalar() {
        let t = Datatype::int(32, true);
        let values = Values { rows: Bytes::copy_from_slice(&42_i32.to_ne_bytes()), ..Values::default() };
        let mut hasher = head(&t.to_string(), Some(&[]));
        Plan::new(&t).hash(&Nothing, &values, Some(1), &mut hasher).unwrap();
        assert_eq!(
            hasher.finalize().to_string(),
            "6bb45e5f179b49e5b80e08d5155fcc9b100d0bc916776c3726b7a3bde0ca801a"
        );
    }

    #[test]
    fn worked_example_strings() {
        let t = Datatype::String(Text::Variable);
        let mut values = Values::default();
        values.heap.push(Bytes::from_static("aé".as_bytes())).unwrap();
        let slots = [Slot { buffer: 0, count: 1, offset: 0 }, Slot { buffer: 0, count: 2, offset: 1 }];
        values.rows = slots.iter().flat_map(|slot| slot.to_bytes()).collect::<Vec<_>>().into();
        let mut hasher = head(&t.to_string(), Some(&[2]));
        Plan::new(&t).hash(&Nothing, &values, Some(2), &mut hasher).unwrap();
        assert_eq!(
            hasher.finalize().to_string(),
            "cd30cd073d2f88b1b0e43b98015ed2bb971d979463d59b13d4e4179cc235370b"
        );
    }

    #[test]
    fn verbatim_rows_hash_as_element_by_element() {
        let t = Datatype::Compound(vec![
            hyperslab_model::Member { name: "a".into(), datatype: Datatype::int(16, true) },
            hyperslab_model::Member { name: "b".into(), datatype: Datatype::Float(Float::Double) },
        ]);
        let values = Values { rows: (0..=99).collect::<Vec<u8>>().into(), ..Values::default() };
        let mut fast = head("t", Some(&[10]));
        Plan { datatype: &t, verbatim: true }.hash(&Nothing, &values, Some(10), &mut fast).unwrap();
        let mut slow = head("t", Some(&[10]));
        Plan { datatype: &t, verbatim: false }.hash(&Nothing, &values, Some(10), &mut slow).unwrap();
        assert_eq!(fast.finalize(), slow.finalize());
    }
}
