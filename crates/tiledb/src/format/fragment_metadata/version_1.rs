//! Fragment metadata of versions 1 and 2: one generic tile.
//!
//! Spec: TileDB format_spec, fragment.md "Legacy Fragment metadata file"

use super::FragmentContext;
use super::mbr::{self, CoordinateSize, Mbrs};
use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// All metadata of a fragment of version 1 or 2. The lists of offsets and sizes have an entry for each attribute; where
/// noted, they have one more for coordinates.
///
/// It does not state whether the fragment is dense: a dense one has no file with coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyFragmentMetadata {
    /// The format version: 1 or 2.
    pub version: u32,
    /// The rectangle around the cells that were written, as the smallest and largest coordinate of each dimension;
    /// empty if there is none.
    pub non_empty_domain: Vec<u8>,
    /// The rectangles of the tiles of a sparse fragment.
    pub mbrs: Mbrs,
    /// The first and last coordinates of each tile of a sparse fragment.
    pub bounding_coords: Vec<u8>,
    /// The offsets of tiles, with an entry for coordinates.
    pub tile_offsets: Vec<Vec<u64>>,
    /// The offsets of tiles with values of variable size.
    pub tile_var_offsets: Vec<Vec<u64>>,
    /// The decoded sizes of tiles with values of variable size.
    pub tile_var_sizes: Vec<Vec<u64>>,
    /// The number of cells in the last tile of a sparse fragment.
    pub last_tile_cell_num: u64,
    /// The sizes in bytes of files, with an entry for coordinates.
    pub file_sizes: Vec<u64>,
    /// The sizes in bytes of files with values of variable size.
    pub file_var_sizes: Vec<u64>,
}

impl Structure for LegacyFragmentMetadata {
    type Context = FragmentContext;
    const NAME: &'static str = "Legacy Fragment Metadata";

    fn decode(d: &mut Decoder<'_>, context: &FragmentContext) -> Result<Self> {
        let at = d.clone();
        let version = d.u32()?;
        if !(1..=2).contains(&version) {
            return Err(at.malformed(format!("version {version}, expected 1 or 2")));
        }
        let rectangle = rectangle_len(&context.coordinates).map_err(|e| e.at_place(at.place()))?;
        let at = d.clone();
        let non_empty_domain = field::bytes64(d)?;
        if !non_empty_domain.is_empty() && non_empty_domain.len() != rectangle {
            let len = non_empty_domain.len();
            return Err(at.malformed(format!("a non-empty domain of {len} bytes, expected {rectangle}")));
        }
        let count = d.u64()?;
        let mbrs = Mbrs::decode(d, count, &context.coordinates)?;
        let count = d.u64()?;
        let count = d.count(count, rectangle)?;
        let bounding_coords = d.take(count.saturating_mul(rectangle))?.to_vec();
        let attributes = context.attributes as u64;
        let tile_offsets = lists(d, attributes.saturating_add(1))?;
        let tile_var_offsets = lists(d, attributes)?;
        let tile_var_sizes = lists(d, attributes)?;
        let last_tile_cell_num = d.u64()?;
        let file_sizes = field::u64s(d, attributes.saturating_add(1))?;
        let file_var_sizes = field::u64s(d, attributes)?;
        Ok(LegacyFragmentMetadata {
            version,
            non_empty_domain,
            mbrs,
            bounding_coords,
            tile_offsets,
            tile_var_offsets,
            tile_var_sizes,
            last_tile_cell_num,
            file_sizes,
            file_var_sizes,
        })
    }

    fn encode(&self, e: &mut Encoder, context: &FragmentContext) -> Result<()> {
        if !(1..=2).contains(&self.version) {
            return Err(Error::invalid(format!("version {}, expected 1 or 2", self.version)));
        }
        let rectangle = rectangle_len(&context.coordinates)?;
        if !self.non_empty_domain.is_empty() && self.non_empty_domain.len() != rectangle
            || !self.bounding_coords.len().is_multiple_of(rectangle)
        {
            return Err(Error::invalid(format!("coordinates that are not rectangles of {rectangle} bytes")));
        }
        e.u32(self.version);
        field::put_bytes64(e, &self.non_empty_domain);
        e.u64(self.mbrs.len() as u64);
        e.bytes(self.mbrs.as_bytes());
        e.u64((self.bounding_coords.len() / rectangle) as u64);
        e.bytes(&self.bounding_coords);
        let attributes = context.attributes;
        put_lists(e, &self.tile_offsets, attributes.saturating_add(1))?;
        put_lists(e, &self.tile_var_offsets, attributes)?;
        put_lists(e, &self.tile_var_sizes, attributes)?;
        e.u64(self.last_tile_cell_num);
        check_len(self.file_sizes.len(), attributes.saturating_add(1))?;
        field::put_u64s(e, &self.file_sizes);
        check_len(self.file_var_sizes.len(), attributes)?;
        field::put_u64s(e, &self.file_var_sizes);
        Ok(())
    }
}

/// The size in bytes of a rectangle, never zero.
fn rectangle_len(coordinates: &[CoordinateSize]) -> Result<usize> {
    match mbr::fixed_len(coordinates) {
        Some(len) if len > 0 => Ok(len),
        _ => Err(Error::malformed("dimensions of variable size before version 5")),
    }
}

/// Lists of numbers, each preceded by its length.
fn lists(d: &mut Decoder<'_>, count: u64) -> Result<Vec<Vec<u64>>> {
    let count = d.count(count, 8)?;
    let list = |_| {
        let len = d.u64()?;
        field::u64s(d, len)
    };
    (0..count).map(list).collect()
}

fn put_lists(e: &mut Encoder, lists: &[Vec<u64>], count: usize) -> Result<()> {
    check_len(lists.len(), count)?;
    for list in lists {
        e.u64(list.len() as u64);
        field::put_u64s(e, list);
    }
    Ok(())
}

fn check_len(found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::invalid(format!("a list of {found} attributes, expected {expected}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::mbr::{Mbr, Range};
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn context() -> FragmentContext {
        FragmentContext { attributes: 2, coordinates: vec![CoordinateSize::Fixed(4); 2] }
    }

    fn sparse() -> LegacyFragmentMetadata {
        let range = Range { min: vec![1, 0, 0, 0], max: vec![4, 0, 0, 0] };
        let rectangle = Mbr { ranges: vec![range.clone(), range] };
        let mbrs = Mbrs::of(&[rectangle.clone(), rectangle], &context().coordinates).unwrap();
        LegacyFragmentMetadata {
            version: 2,
            non_empty_domain: mbrs.as_bytes().iter().copied().take(16).collect(),
            bounding_coords: mbrs.as_bytes().to_vec(),
            mbrs,
            tile_offsets: vec![vec![0, 40], vec![0, 20], vec![0, 60]],
            tile_var_offsets: vec![vec![], vec![0, 90]],
            tile_var_sizes: vec![vec![], vec![70, 80]],
            last_tile_cell_num: 3,
            file_sizes: vec![80, 40, 120],
            file_var_sizes: vec![0, 170],
        }
    }

    fn dense() -> LegacyFragmentMetadata {
        let mbrs = Mbrs::of(&[], &context().coordinates).unwrap();
        LegacyFragmentMetadata {
            version: 1,
            mbrs,
            bounding_coords: vec![],
            non_empty_domain: vec![],
            ..sparse()
        }
    }

    structure_tests!(LegacyFragmentMetadata, context: context(), golden: [], values: [sparse(), dense()]);

    #[test]
    fn refuses_other_versions_and_lists_of_other_lengths() {
        for metadata in [
            LegacyFragmentMetadata { version: 3, ..sparse() },
            LegacyFragmentMetadata { file_sizes: vec![1], ..sparse() },
            LegacyFragmentMetadata { tile_var_sizes: vec![], ..sparse() },
            LegacyFragmentMetadata { non_empty_domain: vec![0; 8], ..sparse() },
        ] {
            assert!(metadata.encode(&mut Encoder::new(), &context()).is_err(), "{metadata:?}");
        }
        let strings = FragmentContext { attributes: 2, coordinates: vec![CoordinateSize::Var] };
        assert!(sparse().encode(&mut Encoder::new(), &strings).is_err());
        let bytes = crate::format::encode_all(&sparse(), &context()).unwrap();
        assert!(LegacyFragmentMetadata::decode(&mut Decoder::new("t", 0, &bytes), &strings).is_err());
    }
}
