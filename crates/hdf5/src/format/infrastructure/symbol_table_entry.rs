//! Symbol table entry.
//!
//! Spec: HDF5 III.C Disk Format: Level 1C - Symbol Table Entry. There the link name offset has the size of offsets.
//! libhdf5 writes it with the size of lengths, and so do readers here.

use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A link of a group that is stored as a symbol table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolTableEntry {
    /// The offset of the link name in the group's local heap.
    pub name_offset: u64,
    /// The address of the object header; undefined for a soft link.
    pub object_header: Address,
    /// The cached properties of the object.
    pub cache: Cache,
}

/// The cache of a symbol table entry: the scratch-pad space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Type 0: nothing.
    Nothing,
    /// Type 1: the object is a group that is itself stored as a symbol table.
    Group {
        /// The address of the root of its B-tree.
        btree: Address,
        /// The address of the local heap of its names.
        heap: Address,
    },
    /// Type 2: the link is soft.
    SoftLink {
        /// The offset of the target path in the group's local heap.
        target_offset: u32,
    },
}

impl SymbolTableEntry {
    /// The size of an entry in bytes.
    pub fn len(sizes: &Sizes) -> u64 {
        u64::from(sizes.lengths) + u64::from(sizes.offsets) + 8 + SCRATCH_PAD as u64
    }
}

impl Structure for SymbolTableEntry {
    type Context = Sizes;
    const NAME: &'static str = "Symbol Table Entry";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let name_offset = sizes.length(d)?;
        let object_header = sizes.address(d)?;
        let at = d.clone();
        let cache_type = d.u32()?;
        d.reserved(4)?;
        let mut scratch = d.sub(Self::NAME, SCRATCH_PAD)?;
        let cache = match cache_type {
            0 => Cache::Nothing,
            1 => Cache::Group { btree: sizes.address(&mut scratch)?, heap: sizes.address(&mut scratch)? },
            2 => Cache::SoftLink { target_offset: scratch.u32()? },
            other => return Err(at.malformed(format!("cache type {other}, expected 0 to 2"))),
        };
        Ok(SymbolTableEntry { name_offset, object_header, cache })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        sizes.put_length(e, self.name_offset)?;
        sizes.put_address(e, self.object_header)?;
        e.u32(match self.cache {
            Cache::Nothing => 0,
            Cache::Group { .. } => 1,
            Cache::SoftLink { .. } => 2,
        });
        e.reserved(4);
        let scratch = e.len();
        match self.cache {
            Cache::Nothing => {}
            Cache::Group { btree, heap } => {
                sizes.put_address(e, btree)?;
                sizes.put_address(e, heap)?;
            }
            Cache::SoftLink { target_offset } => e.u32(target_offset),
        }
        let left = (scratch + SCRATCH_PAD)
            .checked_sub(e.len())
            .ok_or_else(|| Error::invalid("addresses are too wide for the scratch-pad space"))?;
        e.reserved(left);
        Ok(())
    }
}

const SCRATCH_PAD: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn values() -> [SymbolTableEntry; 3] {
        [
            Cache::Nothing,
            Cache::Group { btree: Address(0x88), heap: Address(0x2a8) },
            Cache::SoftLink { target_offset: 24 },
        ]
        .map(|cache| SymbolTableEntry { name_offset: 16, object_header: Address(0x320), cache })
    }

    structure_tests!(SymbolTableEntry, context: Sizes::DEFAULT,
        golden: [
            include_str!("../../../tests/golden/symbol_table_entry_dataset.hex"),
            include_str!("../../../tests/golden/symbol_table_entry_group.hex"),
            include_str!("../../../tests/golden/symbol_table_entry_soft_link.hex"),
        ],
        values: [values()[0].clone(), values()[1].clone(), values()[2].clone()]);

    mod narrow {
        use super::*;
        structure_tests!(SymbolTableEntry, context: Sizes { offsets: 4, lengths: 4 },
            golden: [include_str!("../../../tests/golden/symbol_table_entry_group_narrow.hex")],
            values: [values()[0].clone(), values()[1].clone(), values()[2].clone()]);
    }

    #[test]
    fn rejects_unknown_cache_types() {
        let mut bytes = [0; 40];
        bytes[16] = 3;
        let e = SymbolTableEntry::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap_err();
        assert_eq!(e.to_string(), "malformed t at byte 0x10: cache type 3, expected 0 to 2");
    }
}
