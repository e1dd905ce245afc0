//! Access for the writer of arrays.

use super::Array;
use crate::codec::Chain;
use hyperslab_core::store::Key;

impl Array {
    /// The path of the array in the store.
    pub fn path(&self) -> &Key {
        &self.path
    }

    /// The codecs of the chunks.
    pub(crate) fn chain(&self) -> &Chain {
        &self.chain
    }
}
