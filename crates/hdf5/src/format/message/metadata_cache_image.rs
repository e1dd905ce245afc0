//! Metadata Cache Image message, type 0x0018.
//!
//! Spec: none; libhdf5 1.10 and later write it to the superblock extension.

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The location of the metadata cache image that libhdf5 wrote when it closed the file. Metadata in the image may be
/// missing or older at its own addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataCacheImage {
    /// The address of the image; undefined if there is none.
    pub address: Address,
    /// The size of the image in bytes.
    pub len: u64,
}

impl Structure for MetadataCacheImage {
    type Context = Sizes;
    const NAME: &'static str = "Metadata Cache Image message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        Ok(MetadataCacheImage { address: sizes.address(d)?, len: sizes.length(d)? })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.u8(0);
        sizes.put_address(e, self.address)?;
        sizes.put_length(e, self.len)
    }
}

impl HeaderMessage for MetadataCacheImage {
    const TYPE: MessageType = MessageType::METADATA_CACHE_IMAGE;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(MetadataCacheImage, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_metadata_cache_image.hex")],
        values: [MetadataCacheImage { address: Address::UNDEFINED, len: 0 }]);
}
