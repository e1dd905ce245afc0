//! Chunked storage, and the indexes that locate chunks.
//!
//! Spec: HDF5 IV.A.2.i, Chunked Storage Property Description

use crate::format::{Address, Sizes};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Chunked storage: elements in chunks of equal shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunked {
    /// The chunk shape in elements, the slowest varying dimension first: one size for each dimension of the dataset.
    pub dimensions: Vec<u64>,
    /// The size of an element in bytes. The file stores it as a last dimension.
    pub element_size: u64,
    /// The size in bytes of each dimension size, since version 4. libhdf5 2.0.0 to 2.1.x reject a larger size than
    /// the largest dimension size needs.
    pub dimension_width: u8,
    /// Since version 4, whether partial chunks at the edge of the dataset are stored without filters.
    pub partial_edge_chunks_unfiltered: bool,
    /// The type of the chunk index.
    pub index: ChunkIndex,
    /// The address of the index, or of the chunks themselves; undefined if there are none.
    pub address: Address,
}

/// The type of a chunk index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkIndex {
    /// A version 1 B-tree: always before version 4, never since.
    BtreeV1,
    /// A single chunk without index.
    SingleChunk {
        /// The stored size and filter mask, if the chunk is filtered.
        filtered: Option<FilteredChunk>,
    },
    /// Implicit: the chunks follow each other.
    Implicit,
    /// A fixed array.
    FixedArray {
        /// The binary logarithm of the number of elements in a page.
        page_bits: u8,
    },
    /// An extensible array.
    ExtensibleArray(ExtensibleArrayParameters),
    /// A version 2 B-tree.
    BtreeV2 {
        /// The size of a node in bytes.
        node_size: u32,
        /// The fullness of a node, in percent, at which it is split.
        split_percent: u8,
        /// The fullness of a node, in percent, at which it is merged.
        merge_percent: u8,
    },
}

/// The stored size and filter mask of a single chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilteredChunk {
    /// The stored size in bytes.
    pub size: u64,
    /// A bit for each filter that was skipped.
    pub filter_mask: u32,
}

/// The creation parameters of an extensible array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensibleArrayParameters {
    /// The number of bits of the maximum number of elements.
    pub maximum_bits: u8,
    /// The number of elements in the index block.
    pub index_block_elements: u8,
    /// The minimum number of data block pointers in a secondary block.
    pub super_block_minimum_data_pointers: u8,
    /// The minimum number of elements in a data block.
    pub data_block_minimum_elements: u8,
    /// The binary logarithm of the number of elements in a page.
    pub page_bits: u8,
}

impl Chunked {
    /// The size of a chunk before filters in bytes. `None` on overflow.
    pub fn chunk_bytes(&self) -> Option<u64> {
        self.dimensions.iter().try_fold(self.element_size, |len, size| len.checked_mul(*size))
    }

    /// Decodes versions 1 and 2, after the address.
    pub(super) fn decode_old(d: &mut Decoder<'_>, address: Address, rank: u8) -> Result<Self> {
        let (dimensions, element_size) = decode_dimensions(d, rank, 4)?;
        Ok(Chunked::with_btree_v1(dimensions, element_size, address))
    }

    pub(super) fn encode_old(&self, e: &mut Encoder) -> Result<()> {
        self.check_btree_v1()?;
        self.encode_dimensions(e, 4)
    }

    pub(super) fn decode_v3(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let rank = d.u8()?;
        let address = sizes.address(d)?;
        let (dimensions, element_size) = decode_dimensions(d, rank, 4)?;
        Ok(Chunked::with_btree_v1(dimensions, element_size, address))
    }

    pub(super) fn encode_v3(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        self.check_btree_v1()?;
        e.len_as(1, self.dimensions.len() + 1)?;
        sizes.put_address(e, self.address)?;
        self.encode_dimensions(e, 4)
    }

    /// Decodes versions 4 and 5.
    pub(super) fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let flags = d.u8()?;
        if flags & !(UNFILTERED_EDGES | SINGLE_CHUNK_FILTERED) != 0 {
            return Err(at.unsupported(format!("chunked storage flags {flags:#04x}, expected at most 0x03")));
        }
        let rank = d.u8()?;
        let at = d.clone();
        let dimension_width = d.u8()?;
        if !(1..=8).contains(&dimension_width) {
            return Err(
                at.malformed(format!("dimension size encoded length {dimension_width}, expected 1 to 8"))
            );
        }
        let (dimensions, element_size) = decode_dimensions(d, rank, dimension_width)?;
        let index = ChunkIndex::decode(d, flags, sizes)?;
        Ok(Chunked {
            dimensions,
            element_size,
            dimension_width,
            partial_edge_chunks_unfiltered: flags & UNFILTERED_EDGES != 0,
            index,
            address: sizes.address(d)?,
        })
    }

    pub(super) fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let filtered = matches!(self.index, ChunkIndex::SingleChunk { filtered: Some(_) });
        let flag = |flag, set| if set { flag } else { 0 };
        e.u8(flag(UNFILTERED_EDGES, self.partial_edge_chunks_unfiltered)
            | flag(SINGLE_CHUNK_FILTERED, filtered));
        e.len_as(1, self.dimensions.len() + 1)?;
        e.u8(self.dimension_width);
        self.encode_dimensions(e, self.dimension_width)?;
        self.index.encode(e, sizes)?;
        sizes.put_address(e, self.address)
    }

    fn with_btree_v1(dimensions: Vec<u64>, element_size: u64, address: Address) -> Self {
        Chunked {
            dimensions,
            element_size,
            dimension_width: 4,
            partial_edge_chunks_unfiltered: false,
            index: ChunkIndex::BtreeV1,
            address,
        }
    }

    fn check_btree_v1(&self) -> Result<()> {
        if self.index != ChunkIndex::BtreeV1 || self.partial_edge_chunks_unfiltered {
            return Err(Error::invalid(format!("chunk index {:?} needs version 4 or later", self.index)));
        }
        Ok(())
    }

    fn encode_dimensions(&self, e: &mut Encoder, width: u8) -> Result<()> {
        self.dimensions.iter().chain([&self.element_size]).try_for_each(|size| e.uint(width, *size))
    }
}

impl ChunkIndex {
    fn decode(d: &mut Decoder<'_>, flags: u8, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let index = match d.u8()? {
            SINGLE_CHUNK => {
                // DIFFERENCE: the specification says bit 0, which is that of edge chunks.
                let filtered = if flags & SINGLE_CHUNK_FILTERED != 0 {
                    Some(FilteredChunk { size: sizes.length(d)?, filter_mask: d.u32()? })
                } else {
                    None
                };
                ChunkIndex::SingleChunk { filtered }
            }
            IMPLICIT => ChunkIndex::Implicit,
            FIXED_ARRAY => {
                let page_bits = d.u8()?;
                if page_bits == 0 {
                    return Err(at.malformed("fixed array page bits 0, expected 1 or more"));
                }
                ChunkIndex::FixedArray { page_bits }
            }
            EXTENSIBLE_ARRAY => ExtensibleArrayParameters::decode(d, &at).map(ChunkIndex::ExtensibleArray)?,
            BTREE_V2 => {
                let (node_size, split_percent, merge_percent) = (d.u32()?, d.u8()?, d.u8()?);
                if !(1..=100).contains(&split_percent) || !(1..=100).contains(&merge_percent) {
                    return Err(at.malformed(format!(
                        "B-tree split percent {split_percent} and merge percent {merge_percent}, expected 1 to 100"
                    )));
                }
                ChunkIndex::BtreeV2 { node_size, split_percent, merge_percent }
            }
            0 => {
                return Err(at.malformed(
                    "chunk index type 0 (version 1 B-tree) in version 4 or later, expected 1 to 5",
                ));
            }
            other => return Err(at.unsupported(format!("chunk index type {other}, expected 1 to 5"))),
        };
        Ok(index)
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        match self {
            ChunkIndex::BtreeV1 => {
                return Err(Error::invalid("a version 1 B-tree needs version 3 or earlier"));
            }
            ChunkIndex::SingleChunk { filtered } => {
                e.u8(SINGLE_CHUNK);
                if let Some(chunk) = filtered {
                    sizes.put_length(e, chunk.size)?;
                    e.u32(chunk.filter_mask);
                }
            }
            ChunkIndex::Implicit => e.u8(IMPLICIT),
            ChunkIndex::FixedArray { page_bits } => {
                e.u8(FIXED_ARRAY);
                e.u8(*page_bits);
            }
            ChunkIndex::ExtensibleArray(parameters) => {
                e.u8(EXTENSIBLE_ARRAY);
                parameters.encode(e);
            }
            ChunkIndex::BtreeV2 { node_size, split_percent, merge_percent } => {
                e.u8(BTREE_V2);
                e.u32(*node_size);
                e.u8(*split_percent);
                e.u8(*merge_percent);
            }
        }
        Ok(())
    }
}

impl ExtensibleArrayParameters {
    fn decode(d: &mut Decoder<'_>, at: &Decoder<'_>) -> Result<Self> {
        let parameters = ExtensibleArrayParameters {
            maximum_bits: d.u8()?,
            index_block_elements: d.u8()?,
            super_block_minimum_data_pointers: d.u8()?,
            data_block_minimum_elements: d.u8()?,
            // DIFFERENCE: the specification draws two bytes, libhdf5 writes one.
            page_bits: d.u8()?,
        };
        let ExtensibleArrayParameters {
            maximum_bits: a,
            index_block_elements: b,
            super_block_minimum_data_pointers: c,
            data_block_minimum_elements: d,
            page_bits: e,
        } = parameters;
        if [a, b, c, d, e].contains(&0) {
            return Err(at.malformed(format!(
                "extensible array parameters {:?}, expected 1 or more each",
                [a, b, c, d, e]
            )));
        }
        Ok(parameters)
    }

    fn encode(&self, e: &mut Encoder) {
        e.u8(self.maximum_bits);
        e.u8(self.index_block_elements);
        e.u8(self.super_block_minimum_data_pointers);
        e.u8(self.data_block_minimum_elements);
        e.u8(self.page_bits);
    }
}

/// Decodes the chunk shape, and the element size that follows it.
fn decode_dimensions(d: &mut Decoder<'_>, rank: u8, width: u8) -> Result<(Vec<u64>, u64)> {
    let at = d.clone();
    if !(2..=MAX_DIMENSIONS).contains(&rank) {
        return Err(at.malformed(format!("{rank} chunk dimensions, expected 2 to {MAX_DIMENSIONS}")));
    }
    let mut dimensions = (0..rank).map(|_| d.uint(width)).collect::<Result<Vec<u64>>>()?;
    if dimensions.contains(&0) {
        return Err(at.malformed(format!("chunk dimensions {dimensions:?}, expected 1 or more each")));
    }
    let element_size = dimensions.pop().unwrap_or_default();
    Ok((dimensions, element_size))
}

/// The maximum rank of a dataspace, plus one for the element size.
pub(super) const MAX_DIMENSIONS: u8 = 33;

const UNFILTERED_EDGES: u8 = 1;
const SINGLE_CHUNK_FILTERED: u8 = 2;

const SINGLE_CHUNK: u8 = 1;
const IMPLICIT: u8 = 2;
const FIXED_ARRAY: u8 = 3;
const EXTENSIBLE_ARRAY: u8 = 4;
const BTREE_V2: u8 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_bytes_do_not_wrap() {
        let chunked = |dimensions: &[u64]| Chunked::with_btree_v1(dimensions.to_vec(), 8, Address(8));
        assert_eq!(chunked(&[3, 4]).chunk_bytes(), Some(96));
        assert_eq!(chunked(&[1 << 32, 1 << 31]).chunk_bytes(), None);
    }

    #[test]
    fn rejects_parameters_of_0() {
        let decode = |bytes: &[u8]| {
            let mut d = Decoder::new("t", 0, bytes);
            ChunkIndex::decode(&mut d, 0, &Sizes::DEFAULT).map_err(|e| e.kind())
        };
        use hyperslab_core::ErrorKind::{Malformed, Unsupported};
        assert_eq!(decode(&[0]), Err(Malformed));
        assert_eq!(decode(&[6]), Err(Unsupported));
        assert_eq!(decode(&[FIXED_ARRAY, 0]), Err(Malformed));
        assert_eq!(decode(&[EXTENSIBLE_ARRAY, 32, 4, 0, 16, 10]), Err(Malformed));
        assert_eq!(decode(&[BTREE_V2, 0, 8, 0, 0, 101, 40]), Err(Malformed));
        assert!(decode(&[BTREE_V2, 0, 8, 0, 0, 100, 40]).is_ok());
    }
}
