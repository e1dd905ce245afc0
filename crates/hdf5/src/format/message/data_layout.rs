//! Data Layout message, type 0x0008.
//!
//! Spec: HDF5 IV.A.2.i

pub mod chunked;

pub use chunked::{ChunkIndex, Chunked, ExtensibleArrayParameters, FilteredChunk};

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The layout of the elements of a dataset in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// The version of the encoding.
    pub version: Version,
    /// The layout class, with its properties.
    pub class: LayoutClass,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Of the first libhdf5, for allocated storage.
    V1 = 1,
    /// As version 1; storage may be unallocated.
    V2 = 2,
    /// Since libhdf5 1.6.3.
    V3 = 3,
    /// Since libhdf5 1.10, for chunk indexes and virtual datasets.
    V4 = 4,
    /// Since libhdf5 2.0, for chunks over 4 GiB.
    V5 = 5,
}

/// The layout classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutClass {
    /// Compact: the elements are in the message.
    Compact {
        /// The bytes of the elements.
        data: Vec<u8>,
        /// In versions 1 and 2, the dimension sizes of the dataset. Empty in later versions.
        dimensions: Vec<u32>,
    },
    /// Contiguous: the elements are in one block of the file.
    Contiguous {
        /// The address of the block; undefined if it is not allocated.
        address: Address,
        /// The size of the block in bytes, since version 3.
        size: Option<u64>,
        /// In versions 1 and 2, the dimension sizes of the dataset, truncated to 4 bytes. Empty in later versions.
        dimensions: Vec<u32>,
    },
    /// Chunked: the elements are in chunks.
    Chunked(Chunked),
    /// Virtual: the elements are those of other datasets.
    Virtual {
        /// The address of the global heap collection with the mappings; undefined if there are none.
        heap: Address,
        /// The index of the object in the collection.
        index: u32,
    },
}

impl Structure for DataLayout {
    type Context = Sizes;
    const NAME: &'static str = "Data Layout message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = match d.u8()? {
            1 => Version::V1,
            2 => Version::V2,
            3 => Version::V3,
            4 => Version::V4,
            5 => Version::V5,
            other => return Err(at.unsupported(format!("version {other}, expected 1 to 5"))),
        };
        let class = match version {
            Version::V1 | Version::V2 => LayoutClass::decode_old(d, sizes)?,
            Version::V3 | Version::V4 | Version::V5 => LayoutClass::decode(d, version, sizes)?,
        };
        Ok(DataLayout { version, class })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.u8(self.version as u8);
        match self.version {
            Version::V1 | Version::V2 => self.class.encode_old(e, sizes),
            Version::V3 | Version::V4 | Version::V5 => self.class.encode(e, self.version, sizes),
        }
    }
}

impl HeaderMessage for DataLayout {
    const TYPE: MessageType = MessageType::DATA_LAYOUT;
}

impl LayoutClass {
    /// Versions 1 and 2.
    fn decode_old(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let rank = d.u8()?;
        if !(1..=chunked::MAX_DIMENSIONS).contains(&rank) {
            return Err(at.malformed(format!("{rank} dimensions, expected 1 to {}", chunked::MAX_DIMENSIONS)));
        }
        let at = d.clone();
        let code = d.u8()?;
        d.reserved(5)?;
        let address = match code {
            COMPACT => Address::UNDEFINED,
            CONTIGUOUS | CHUNKED => sizes.address(d)?,
            other => return Err(at.unsupported(format!("class {other}, expected 0 to 2"))),
        };
        if code == CHUNKED {
            return Chunked::decode_old(d, address, rank).map(LayoutClass::Chunked);
        }
        let dimensions = (0..rank).map(|_| d.u32()).collect::<Result<_>>()?;
        if code == CONTIGUOUS {
            return Ok(LayoutClass::Contiguous { address, size: None, dimensions });
        }
        let len = d.u32()?;
        let len = d.len_of(len.into())?;
        Ok(LayoutClass::Compact { data: d.take(len)?.to_vec(), dimensions })
    }

    fn encode_old(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let mut head = |rank: usize, code, address| {
            e.len_as(1, rank)?;
            e.u8(code);
            e.reserved(5);
            match address {
                Some(address) => sizes.put_address(e, address),
                None => Ok(()),
            }
        };
        match self {
            LayoutClass::Compact { data, dimensions } => {
                head(dimensions.len(), COMPACT, None)?;
                dimensions.iter().for_each(|size| e.u32(*size));
                e.len_as(4, data.len())?;
                e.bytes(data);
                Ok(())
            }
            LayoutClass::Contiguous { address, size: None, dimensions } => {
                head(dimensions.len(), CONTIGUOUS, Some(*address))?;
                dimensions.iter().for_each(|size| e.u32(*size));
                Ok(())
            }
            LayoutClass::Contiguous { size: Some(_), .. } => {
                Err(Error::invalid("contiguous storage with a size needs version 3 or later"))
            }
            LayoutClass::Chunked(chunked) => {
                head(chunked.dimensions.len() + 1, CHUNKED, Some(chunked.address))?;
                chunked.encode_old(e)
            }
            LayoutClass::Virtual { .. } => Err(Error::invalid("virtual storage needs version 4")),
        }
    }

    /// Versions 3 to 5.
    fn decode(d: &mut Decoder<'_>, version: Version, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            COMPACT => {
                let len = d.u16()?;
                Ok(LayoutClass::Compact { data: d.take(len.into())?.to_vec(), dimensions: Vec::new() })
            }
            CONTIGUOUS => Ok(LayoutClass::Contiguous {
                address: sizes.address(d)?,
                size: Some(sizes.length(d)?),
                dimensions: Vec::new(),
            }),
            CHUNKED if version == Version::V3 => Chunked::decode_v3(d, sizes).map(LayoutClass::Chunked),
            CHUNKED => Chunked::decode(d, sizes).map(LayoutClass::Chunked),
            VIRTUAL if version == Version::V3 => {
                Err(at.malformed("virtual storage in version 3, expected version 4 or later"))
            }
            VIRTUAL => Ok(LayoutClass::Virtual { heap: sizes.address(d)?, index: d.u32()? }),
            other => Err(at.unsupported(format!("class {other}, expected 0 to 3"))),
        }
    }

    fn encode(&self, e: &mut Encoder, version: Version, sizes: &Sizes) -> Result<()> {
        match self {
            LayoutClass::Compact { data, .. } => {
                e.u8(COMPACT);
                e.len_as(2, data.len())?;
                e.bytes(data);
                Ok(())
            }
            LayoutClass::Contiguous { address, size: Some(size), .. } => {
                e.u8(CONTIGUOUS);
                sizes.put_address(e, *address)?;
                sizes.put_length(e, *size)
            }
            LayoutClass::Contiguous { size: None, .. } => {
                Err(Error::invalid("contiguous storage in versions 3 to 5 needs a size"))
            }
            LayoutClass::Chunked(chunked) => {
                e.u8(CHUNKED);
                match version {
                    Version::V3 => chunked.encode_v3(e, sizes),
                    _ => chunked.encode(e, sizes),
                }
            }
            LayoutClass::Virtual { .. } if version == Version::V3 => {
                Err(Error::invalid("virtual storage needs version 4"))
            }
            LayoutClass::Virtual { heap, index } => {
                e.u8(VIRTUAL);
                sizes.put_address(e, *heap)?;
                e.u32(*index);
                Ok(())
            }
        }
    }
}

const COMPACT: u8 = 0;
const CONTIGUOUS: u8 = 1;
const CHUNKED: u8 = 2;
const VIRTUAL: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{self, structure_tests};

    const CHUNKED_V3: &str = include_str!("../../../tests/golden/message_data_layout_v3_chunked.hex");

    fn old(version: Version, class: LayoutClass) -> DataLayout {
        DataLayout { version, class }
    }

    fn btree(dimensions: &[u64]) -> LayoutClass {
        LayoutClass::Chunked(Chunked {
            dimensions: dimensions.to_vec(),
            element_size: 4,
            dimension_width: 4,
            partial_edge_chunks_unfiltered: false,
            index: ChunkIndex::BtreeV1,
            address: Address(0x800),
        })
    }

    structure_tests!(DataLayout, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_data_layout_v3_compact.hex"),
        include_str!("../../../tests/golden/message_data_layout_v3_contiguous.hex"),
        include_str!("../../../tests/golden/message_data_layout_v3_contiguous_unallocated.hex"),
        CHUNKED_V3,
        include_str!("../../../tests/golden/message_data_layout_v4_single_chunk.hex"),
        include_str!("../../../tests/golden/message_data_layout_v4_single_chunk_filtered.hex"),
        include_str!("../../../tests/golden/message_data_layout_v4_implicit.hex"),
        include_str!("../../../tests/golden/message_data_layout_v4_fixed_array.hex"),
        include_str!("../../../tests/golden/message_data_layout_v4_extensible_array.hex"),
        include_str!("../../../tests/golden/message_data_layout_v4_btree_v2.hex"),
        include_str!("../../../tests/golden/message_data_layout_v4_unfiltered_edges.hex"),
        include_str!("../../../tests/golden/message_data_layout_v4_virtual.hex"),
        include_str!("../../../tests/golden/message_data_layout_v5_extensible_array.hex"),
        include_str!("../../../tests/golden/message_data_layout_v5_single_chunk_filtered.hex"),
    ],
    values: [
        old(Version::V1, LayoutClass::Contiguous {
            address: Address(0x400), size: None, dimensions: vec![3, 4, 8],
        }),
        old(Version::V2, LayoutClass::Contiguous {
            address: Address::UNDEFINED, size: None, dimensions: vec![8],
        }),
        old(Version::V2, LayoutClass::Compact { data: vec![1, 2, 3, 4], dimensions: vec![2, 2] }),
        old(Version::V1, btree(&[5, 6])),
        old(Version::V2, btree(&[1; 32])),
        old(Version::V5, LayoutClass::Virtual { heap: Address::UNDEFINED, index: 0 }),
    ]);

    #[test]
    fn versions_1_and_2_have_addresses_before_dimensions() {
        let numbers =
            |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let head = |version, rank, class| vec![version, rank, class, 0, 0, 0, 0, 0];
        let address = 0x400_u64.to_le_bytes().to_vec();
        let contiguous =
            LayoutClass::Contiguous { address: Address(0x400), size: None, dimensions: vec![3, 4, 8] };
        for (bytes, want) in [
            ([head(1, 3, 1), address.clone(), numbers(&[3, 4, 8])].concat(), old(Version::V1, contiguous)),
            (
                [head(2, 2, 0), numbers(&[2, 2]), numbers(&[4]), vec![1, 2, 3, 4]].concat(),
                old(Version::V2, LayoutClass::Compact { data: vec![1, 2, 3, 4], dimensions: vec![2, 2] }),
            ),
        ] {
            let got = DataLayout::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap();
            assert_eq!(got, want);
        }
        let chunked = [head(1, 3, 2), address, numbers(&[5, 6, 4])].concat();
        let got = DataLayout::decode(&mut Decoder::new("t", 0, &chunked), &Sizes::DEFAULT).unwrap();
        let LayoutClass::Chunked(chunked) = got.class else { panic!("{got:?}") };
        assert_eq!((chunked.dimensions, chunked.element_size), (vec![5, 6], 4));
    }

    #[test]
    fn round_trips_with_narrow_sizes() {
        let narrow = [
            include_str!("../../../tests/golden/message_data_layout_v3_chunked_narrow.hex"),
            include_str!("../../../tests/golden/message_data_layout_v3_contiguous_narrow.hex"),
        ];
        structure_tests::golden::<DataLayout>(&narrow, &Sizes { offsets: 4, lengths: 4 });
    }

    fn decode(change: impl FnOnce(&mut Vec<u8>), text: &str) -> Result<DataLayout> {
        let mut bytes = structure_tests::hex(text);
        change(&mut bytes);
        DataLayout::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT)
    }

    #[test]
    fn rejects_empty_chunks_and_impossible_ranks() {
        assert!(decode(|b| b[11..15].fill(0), CHUNKED_V3).is_err());
        assert!(decode(|b| b[2] = 1, CHUNKED_V3).is_err());
        assert!(decode(|b| b[2] = 34, CHUNKED_V3).is_err());
        assert!(decode(|b| b[0] = 6, CHUNKED_V3).is_err());
        assert!(decode(|b| b[1] = 3, CHUNKED_V3).is_err());
        assert!(decode(|b| b[1] = 4, CHUNKED_V3).is_err());
        let old = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(DataLayout::decode(&mut Decoder::new("t", 0, &old), &Sizes::DEFAULT).is_err());
    }

    #[test]
    fn rejects_classes_that_do_not_fit_the_version() {
        let refused = [
            old(Version::V1, LayoutClass::Virtual { heap: Address(8), index: 1 }),
            old(Version::V3, LayoutClass::Virtual { heap: Address(8), index: 1 }),
            old(Version::V3, LayoutClass::Contiguous { address: Address(8), size: None, dimensions: vec![] }),
            old(
                Version::V2,
                LayoutClass::Contiguous { address: Address(8), size: Some(8), dimensions: vec![8] },
            ),
            old(Version::V4, btree(&[2])),
            old(Version::V3, btree(&[1 << 32])),
        ];
        for layout in refused {
            assert!(layout.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err(), "{layout:?}");
        }
    }
}
