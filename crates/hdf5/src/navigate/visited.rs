//! Keeps walks over nodes finite.

use crate::format::Address;
use crate::navigate::Reader;
use hyperslab_core::{Error, Result};
use rustc_hash::FxHashSet;

/// The nodes that a walk has visited.
///
/// Nodes do not share bytes, so a walk that reads more bytes than the file has goes in circles, or through nodes within
/// nodes. Bounding it this way costs no more than reading the file.
pub(super) struct Visited {
    addresses: FxHashSet<Address>,
    bytes_left: u64,
}

impl Visited {
    pub(super) fn new(reader: &Reader) -> Result<Self> {
        Ok(Visited { addresses: FxHashSet::default(), bytes_left: reader.len()? })
    }

    /// Records a node of `len` bytes that is about to be read.
    pub(super) fn enter(
        &mut self,
        reader: &Reader,
        structure: &'static str,
        address: Address,
        len: u64,
    ) -> Result<()> {
        let offset = reader.offset(structure, address)?;
        if !self.addresses.insert(address) {
            return Err(Error::malformed("two nodes refer to it, expected a tree").at(structure, offset));
        }
        self.bytes_left = self.bytes_left.checked_sub(len).ok_or_else(|| {
            Error::malformed("the nodes on the way here take more bytes than the file has")
                .at(structure, offset)
        })?;
        Ok(())
    }
}
