//! What a writer of arrays asks beyond what all may.

use super::Array;
use crate::codec::Chain;
use hyperslab_core::store::Key;

impl Array {
    /// Where it lies in the store.
    pub fn path(&self) -> &Key {
        &self.path
    }

    /// What chunks are written through.
    pub(crate) fn chain(&self) -> &Chain {
        &self.chain
    }
}
