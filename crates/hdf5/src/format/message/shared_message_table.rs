//! Shared Message Table message, type 0x000F.
//!
//! Spec: HDF5 IV.A.2.p

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The location of the indexes of shared messages. In the superblock extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMessageTable {
    /// The address of the table.
    pub address: Address,
    /// The number of its indexes.
    pub index_count: u8,
}

impl Structure for SharedMessageTable {
    type Context = Sizes;
    const NAME: &'static str = "Shared Message Table message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        Ok(SharedMessageTable { address: sizes.address(d)?, index_count: d.u8()? })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.u8(0);
        sizes.put_address(e, self.address)?;
        e.u8(self.index_count);
        Ok(())
    }
}

impl HeaderMessage for SharedMessageTable {
    const TYPE: MessageType = MessageType::SHARED_MESSAGE_TABLE;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(SharedMessageTable, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_shared_message_table.hex")],
        values: [SharedMessageTable { address: Address(0x99), index_count: 8 }]);
}
