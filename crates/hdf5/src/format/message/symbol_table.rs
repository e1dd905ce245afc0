//! Symbol Table message, type 0x0011.
//!
//! Spec: HDF5 IV.A.2.r

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The location of the links of an old-style group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolTable {
    /// The address of the version 1 B-tree of symbol table nodes.
    pub btree: Address,
    /// The address of the local heap of link names.
    pub heap: Address,
}

impl Structure for SymbolTable {
    type Context = Sizes;
    const NAME: &'static str = "Symbol Table message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        Ok(SymbolTable { btree: sizes.address(d)?, heap: sizes.address(d)? })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        sizes.put_address(e, self.btree)?;
        sizes.put_address(e, self.heap)
    }
}

impl HeaderMessage for SymbolTable {
    const TYPE: MessageType = MessageType::SYMBOL_TABLE;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{self, structure_tests};

    structure_tests!(SymbolTable, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_symbol_table.hex")],
        values: [SymbolTable { btree: Address(0x88), heap: Address::UNDEFINED }]);

    #[test]
    fn round_trips_with_narrow_offsets() {
        let narrow = include_str!("../../../tests/golden/message_symbol_table_narrow.hex");
        structure_tests::golden::<SymbolTable>(&[narrow], &Sizes { offsets: 4, lengths: 4 });
    }
}
