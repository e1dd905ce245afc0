//! B-tree 'K' Values message, type 0x0013.
//!
//! Spec: HDF5 IV.A.2.t

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The sizes of version 1 B-tree nodes, if they are not the default. In the superblock extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BtreeKValues {
    /// Half the maximum number of children of a node that indexes chunks.
    pub indexed_storage_internal: u16,
    /// Half the maximum number of children of a node that indexes groups.
    pub group_internal: u16,
    /// Half the maximum number of entries of a symbol table node.
    pub group_leaf: u16,
}

impl Default for BtreeKValues {
    fn default() -> Self {
        BtreeKValues { indexed_storage_internal: 32, group_internal: 16, group_leaf: 4 }
    }
}

impl Structure for BtreeKValues {
    type Context = Sizes;
    const NAME: &'static str = "B-tree 'K' Values message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        Ok(BtreeKValues {
            indexed_storage_internal: d.u16()?,
            group_internal: d.u16()?,
            group_leaf: d.u16()?,
        })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.u8(0);
        e.u16(self.indexed_storage_internal);
        e.u16(self.group_internal);
        e.u16(self.group_leaf);
        Ok(())
    }
}

impl HeaderMessage for BtreeKValues {
    const TYPE: MessageType = MessageType::BTREE_K_VALUES;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(BtreeKValues, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_btree_k_values.hex")],
        values: [BtreeKValues::default()]);
}
