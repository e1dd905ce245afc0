//! Symbol table node, the leaf of a group's version 1 B-tree.
//!
//! Spec: HDF5 III.B Disk Format: Level 1B - Group Symbol Table Nodes

use crate::format::infrastructure::SymbolTableEntry;
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// Links of a group, in order of their names.
///
/// In the file, a node has room for twice the group leaf K of the superblock; the unused part is not encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolTableNode {
    /// The links.
    pub entries: Vec<SymbolTableEntry>,
}

impl SymbolTableNode {
    /// The number of bytes from which [`SymbolTableNode::stored_len`] determines the size of a node.
    pub const PREFIX_LEN: u64 = 8;

    /// The size in bytes of the node at the cursor.
    pub fn stored_len(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<u64> {
        Ok(Self::PREFIX_LEN + u64::from(decode_prefix(d)?) * SymbolTableEntry::len(sizes))
    }
}

impl Structure for SymbolTableNode {
    type Context = Sizes;
    const NAME: &'static str = "Symbol Table Node";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let count = decode_prefix(d)?;
        let entries = (0..count).map(|_| SymbolTableEntry::decode(d, sizes)).collect::<Result<_>>()?;
        Ok(SymbolTableNode { entries })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.bytes(SIGNATURE);
        e.u8(VERSION);
        e.reserved(1);
        e.len_as(2, self.entries.len())?;
        self.entries.iter().try_for_each(|entry| entry.encode(e, sizes))
    }
}

/// Decodes the fields before the entries. Returns the number of entries.
fn decode_prefix(d: &mut Decoder<'_>) -> Result<u16> {
    d.signature(SIGNATURE)?;
    let at = d.clone();
    let version = d.u8()?;
    if version != VERSION {
        return Err(at.unsupported(format!("version {version}, expected {VERSION}")));
    }
    d.reserved(1)?;
    d.u16()
}

const SIGNATURE: &[u8] = b"SNOD";
const VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Address;
    use crate::format::infrastructure::symbol_table_entry::Cache;
    use crate::format::structure_tests::structure_tests;

    fn entry(name_offset: u64) -> SymbolTableEntry {
        SymbolTableEntry { name_offset, object_header: Address(name_offset * 100), cache: Cache::Nothing }
    }

    structure_tests!(SymbolTableNode, context: Sizes::DEFAULT,
    golden: [include_str!("../../../tests/golden/symbol_table_node.hex")],
    values: [
        SymbolTableNode { entries: vec![] },
        SymbolTableNode { entries: vec![entry(8), entry(16), entry(24)] },
    ]);

    #[test]
    fn the_prefix_determines_the_size() {
        let node = SymbolTableNode { entries: vec![entry(8), entry(16)] };
        let mut e = Encoder::new();
        node.encode(&mut e, &Sizes::DEFAULT).unwrap();
        let prefix = &e.as_slice()[..8];
        let len = SymbolTableNode::stored_len(&mut Decoder::new("t", 0, prefix), &Sizes::DEFAULT).unwrap();
        assert_eq!(len, e.len() as u64);
    }
}
