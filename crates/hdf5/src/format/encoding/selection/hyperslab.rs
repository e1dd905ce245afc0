//! Hyperslab selection: blocks of elements.
//!
//! Spec: HDF5 VIII.A Dataspace Encoding, "Layout: Selection Info for H5S_SEL_HYPERSLABS"

use super::{decode_rank, decode_width};
use hyperslab_core::nd::{Region, Selection};
use hyperslab_core::{Decoder, Encoder, Error, ErrorKind, Result};

/// Blocks that do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperslabSelection {
    /// The version of the encoding.
    pub version: HyperslabVersion,
    /// The blocks.
    pub blocks: Blocks,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HyperslabVersion {
    /// Numbers of 4 bytes, and each block listed separately.
    V1,
    /// Numbers of 8 bytes.
    V2,
    /// Numbers of any width.
    V3 {
        /// The size of a number in bytes: 2, 4 or 8.
        width: u8,
    },
}

/// The blocks of a hyperslab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Equal blocks at equal distances: start, stride, count and block of each dimension.
    Regular(Vec<Dimension>),
    /// Blocks listed separately.
    Irregular {
        /// The number of dimensions.
        rank: u32,
        /// For each block: `rank` coordinates of its first element, then `rank` coordinates of its last.
        bounds: Vec<u64>,
    },
}

/// The blocks of a regular hyperslab along one dimension. `count` or `block`, but not both, may be `u64::MAX`:
/// unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The start of the first block.
    pub start: u64,
    /// The distance between the starts of two blocks.
    pub stride: u64,
    /// The number of blocks.
    pub count: u64,
    /// The number of elements in a block.
    pub block: u64,
}

impl HyperslabSelection {
    /// The number of dimensions.
    pub fn rank(&self) -> u32 {
        match &self.blocks {
            Blocks::Regular(dimensions) => u32::try_from(dimensions.len()).unwrap_or(u32::MAX),
            Blocks::Irregular { rank, .. } => *rank,
        }
    }

    /// Whether the selection is unlimited along a dimension.
    pub fn is_unlimited(&self) -> bool {
        match &self.blocks {
            Blocks::Regular(dimensions) => dimensions.iter().any(Dimension::is_unlimited),
            Blocks::Irregular { .. } => false,
        }
    }

    /// The blocks in row-major order. They are one region if the blocks are single elements or have no gaps.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the selection is unlimited; [`ErrorKind::LimitExceeded`] if it is regular and
    /// has more than 65,536 blocks.
    pub fn to_selection(&self) -> Result<Selection> {
        if self.is_unlimited() {
            return Err(Error::unsupported(
                "unlimited selection, expected the extent of a dataspace to end it",
            ));
        }
        match &self.blocks {
            Blocks::Regular(dimensions) => regular_blocks(dimensions),
            Blocks::Irregular { rank, bounds } => irregular_blocks(*rank, bounds),
        }
        .map(selection_of)
    }

    /// The blocks in a dataspace of the shape `extent`, at which unlimited blocks end.
    ///
    /// # Errors
    /// As [`HyperslabSelection::to_selection`], but unlimited selections are valid; also if `extent` has another
    /// rank.
    pub fn to_selection_in(&self, extent: &[u64]) -> Result<Selection> {
        let Blocks::Regular(dimensions) = &self.blocks else { return self.to_selection() };
        if dimensions.len() != extent.len() {
            return Err(Error::malformed(format!(
                "selection of {} dimensions in a dataspace of {}",
                dimensions.len(),
                extent.len()
            )));
        }
        let ends = dimensions.iter().zip(extent).map(|(dimension, size)| dimension.ended(*size));
        let mut blocks = regular_blocks(&ends.collect::<Vec<_>>())?;
        for (index, (_, size)) in
            dimensions.iter().zip(extent).enumerate().filter(|(_, (d, _))| d.is_unlimited())
        {
            for Region { start, count, step } in &mut blocks {
                if let (Some(start), Some(count), Some(1)) =
                    (start.get(index), count.get_mut(index), step.get(index))
                {
                    *count = (*count).min(size.saturating_sub(*start));
                }
            }
        }
        Ok(selection_of(blocks))
    }

    pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        let (version, flags) = match d.u32()? {
            1 => {
                // A reserved field, and a length that follows from the other fields.
                d.reserved(8)?;
                (HyperslabVersion::V1, 0)
            }
            2 => {
                let flags = decode_flags(d)?;
                d.reserved(4)?;
                (HyperslabVersion::V2, flags)
            }
            3 => {
                let flags = decode_flags(d)?;
                (HyperslabVersion::V3 { width: decode_width(d)? }, flags)
            }
            other => return Err(at.unsupported(format!("version {other}, expected 1 to 3"))),
        };
        let width = version.width();
        let rank = decode_rank(d)?;
        let blocks = if flags & REGULAR != 0 {
            let len = d.count(rank.into(), 4 * usize::from(width))?;
            Blocks::Regular((0..len).map(|_| Dimension::decode(d, width)).collect::<Result<_>>()?)
        } else {
            let count = d.uint(width)?;
            let numbers = count.saturating_mul(2 * u64::from(rank));
            let bounds =
                (0..d.count(numbers, width.into())?).map(|_| d.uint(width)).collect::<Result<_>>()?;
            Blocks::Irregular { rank, bounds }
        };
        Ok(HyperslabSelection { version, blocks })
    }

    pub(super) fn encode(&self, e: &mut Encoder) -> Result<()> {
        let width = self.version.width();
        let (flags, numbers) = match &self.blocks {
            Blocks::Regular(dimensions) => (REGULAR, 4 * dimensions.len()),
            Blocks::Irregular { bounds, .. } => (0, bounds.len() + 1),
        };
        // The number of bytes from the rank to the end.
        let len = numbers.saturating_mul(width.into()).saturating_add(4);
        match self.version {
            HyperslabVersion::V1 if flags != 0 => {
                return Err(Error::invalid("a regular hyperslab needs version 2 or later"));
            }
            HyperslabVersion::V1 => {
                e.u32(1);
                e.reserved(4);
                e.len_as(4, len)?;
            }
            HyperslabVersion::V2 => {
                e.u32(2);
                e.u8(flags);
                e.len_as(4, len)?;
            }
            HyperslabVersion::V3 { width } => {
                e.u32(3);
                e.u8(flags);
                e.u8(width);
            }
        }
        e.u32(self.rank());
        match &self.blocks {
            Blocks::Regular(dimensions) => {
                dimensions.iter().try_for_each(|dimension| dimension.encode(e, width))
            }
            Blocks::Irregular { rank, bounds } => {
                let in_block = usize::try_from(*rank).unwrap_or(usize::MAX).saturating_mul(2);
                if in_block == 0 || !bounds.len().is_multiple_of(in_block) {
                    return Err(Error::invalid(format!(
                        "{} bounds for {rank} dimensions, expected a multiple of twice the rank",
                        bounds.len()
                    )));
                }
                e.len_as(width, bounds.len() / in_block)?;
                bounds.iter().try_for_each(|bound| e.uint(width, *bound))
            }
        }
    }
}

impl Blocks {
    /// A regular hyperslab for a single region with gaps; otherwise the regions as separate blocks.
    pub(super) fn of(regions: &[Region]) -> Result<Blocks> {
        let has_gaps = |region: &Region| region.step.iter().any(|step| *step != 1);
        if let [region] = regions
            && has_gaps(region)
        {
            let dimensions = region.start.iter().zip(&region.count).zip(&region.step);
            let dimensions = dimensions.map(|((&start, &count), &stride)| match stride {
                // Without gaps it is one block: readers list the blocks.
                1 => Dimension { start, stride: count, count: 1, block: count },
                _ => Dimension { start, stride, count, block: 1 },
            });
            return Ok(Blocks::Regular(dimensions.collect()));
        }
        let rank = regions.first().map_or(0, Region::rank);
        if regions.iter().any(Region::is_empty) {
            return Err(Error::invalid("a selection with an empty region, expected elements in each"));
        }
        if regions.iter().any(|region| region.rank() != rank) {
            return Err(Error::invalid("a selection with regions of several ranks, expected one"));
        }
        let count = regions.iter().try_fold(0_u64, |sum, region| sum.checked_add(region.block_count()?));
        if count.is_none_or(|count| count > MAX_SEPARATE) {
            return Err(Error::invalid(format!(
                "a selection of more than {MAX_SEPARATE} separate blocks, which take more memory than its elements"
            )));
        }
        let mut bounds = Vec::with_capacity(regions.len().saturating_mul(2 * rank));
        for region in regions.iter().flat_map(Region::blocks) {
            bounds.extend_from_slice(&region.start);
            for (start, count) in region.start.iter().zip(&region.count) {
                let last = count.checked_sub(1).and_then(|last| start.checked_add(last));
                bounds.push(last.ok_or_else(|| {
                    Error::invalid("a block of a selection is empty or ends at 2^64 or later")
                })?);
            }
        }
        let rank = u32::try_from(rank).map_err(|_| Error::invalid(format!("{rank} dimensions")))?;
        Ok(Blocks::Irregular { rank, bounds })
    }
}

/// The maximum number of separate blocks of a selection that is written.
const MAX_SEPARATE: u64 = 1 << 20;

impl Dimension {
    /// Whether the dimension is unlimited.
    pub fn is_unlimited(&self) -> bool {
        self.count == u64::MAX || self.block == u64::MAX
    }

    /// The dimension with an unlimited count or block ended at `size`.
    fn ended(&self, size: u64) -> Dimension {
        let left = size.saturating_sub(self.start);
        match *self {
            Dimension { count: u64::MAX, .. } => {
                Dimension { count: left.div_ceil(self.stride.max(1)), ..*self }
            }
            Dimension { block: u64::MAX, .. } => Dimension { block: left, ..*self },
            limited => limited,
        }
    }

    fn decode(d: &mut Decoder<'_>, width: u8) -> Result<Self> {
        let limited = |d: &mut Decoder<'_>| -> Result<u64> {
            let number = d.uint(width)?;
            Ok(if number == unlimited(width) { u64::MAX } else { number })
        };
        Ok(Dimension {
            start: d.uint(width)?,
            stride: d.uint(width)?,
            count: limited(d)?,
            block: limited(d)?,
        })
    }

    fn encode(&self, e: &mut Encoder, width: u8) -> Result<()> {
        e.uint(width, self.start)?;
        e.uint(width, self.stride)?;
        for number in [self.count, self.block] {
            match number {
                u64::MAX => e.uint(width, unlimited(width))?,
                number if number == unlimited(width) => {
                    return Err(Error::invalid(format!(
                        "{number} in {width} bytes would be read as unlimited"
                    )));
                }
                number => e.uint(width, number)?,
            }
        }
        Ok(())
    }

    /// The blocks as one range, if there is one block or the blocks are single elements: start, count and step.
    fn one_region(&self) -> Option<(u64, u64, u64)> {
        match *self {
            Dimension { start, count: 1, block, .. } => Some((start, block, 1)),
            Dimension { start, stride, count, block } if stride == block => {
                Some((start, count.checked_mul(block)?, 1))
            }
            Dimension { start, stride, count, block: 1 } => Some((start, count, stride)),
            _ => None,
        }
    }
}

impl HyperslabVersion {
    fn width(self) -> u8 {
        match self {
            HyperslabVersion::V1 => 4,
            HyperslabVersion::V2 => 8,
            HyperslabVersion::V3 { width } => width,
        }
    }
}

fn decode_flags(d: &mut Decoder<'_>) -> Result<u8> {
    let at = d.clone();
    let flags = d.u8()?;
    if flags & !REGULAR != 0 {
        return Err(at.unsupported(format!("flags {flags:#04x}, expected 0 or 1")));
    }
    Ok(flags)
}

const fn unlimited(width: u8) -> u64 {
    match width {
        2 => 0xffff,
        4 => 0xffff_ffff,
        _ => u64::MAX,
    }
}

fn selection_of(mut blocks: Vec<Region>) -> Selection {
    match blocks.len() {
        0 => Selection::None,
        1 => blocks.pop().map_or(Selection::None, Selection::Region),
        _ => Selection::Blocks(blocks),
    }
}

fn regular_blocks(dimensions: &[Dimension]) -> Result<Vec<Region>> {
    if dimensions.iter().any(|dimension| dimension.count == 0 || dimension.block == 0) {
        return Ok(Vec::new());
    }
    // The starts of the blocks along each dimension; a dimension is one region if possible.
    let columns = dimensions.iter().map(|dimension| match dimension.one_region() {
        Some(region) => (region, 1),
        None => ((dimension.start, dimension.block, 1), dimension.count),
    });
    let columns: Vec<_> = columns.collect();
    let count = columns.iter().try_fold(1, |product: u64, (_, count)| product.checked_mul(*count));
    let count = match count {
        Some(count) if count <= MAX_BLOCKS => count,
        _ => {
            let detail = format!("selection of more than {MAX_BLOCKS} blocks");
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
    };
    (0..count)
        .map(|number| {
            let mut region = Region::new(Vec::new(), Vec::new());
            let mut rest = number;
            // The last dimension varies fastest.
            for (((start, count, step), blocks), dimension) in columns.iter().zip(dimensions).rev() {
                let block = rest % blocks;
                rest /= blocks;
                let start = block.checked_mul(dimension.stride).and_then(|offset| offset.checked_add(*start));
                region.start.push(
                    start.ok_or_else(|| Error::malformed("selection with coordinates of 2^64 or more"))?,
                );
                region.count.push(*count);
                region.step.push(*step);
            }
            region.start.reverse();
            region.count.reverse();
            region.step.reverse();
            Ok(region)
        })
        .collect()
}

fn irregular_blocks(rank: u32, bounds: &[u64]) -> Result<Vec<Region>> {
    let rank = usize::try_from(rank).unwrap_or(usize::MAX).max(1);
    let blocks = bounds.chunks_exact(rank.saturating_mul(2));
    blocks
        .map(|block| {
            let (start, end) = block.split_at(rank);
            let count = start.iter().zip(end).map(|(start, end)| {
                end.checked_sub(*start).and_then(|count| count.checked_add(1)).ok_or_else(|| {
                    Error::malformed(format!(
                        "selected block from {start} to {end}, expected an end after the start"
                    ))
                })
            });
            Ok(Region::new(start.to_vec(), count.collect::<Result<_>>()?))
        })
        .collect()
}

const REGULAR: u8 = 1;
/// The maximum number of blocks: a few bytes of a file can declare any number.
const MAX_BLOCKS: u64 = 1 << 16;
