//! Tile offsets, tile sizes and null counts: a number for each tile.
//!
//! Spec: TileDB format_spec, fragment.md "Tile Offsets", "Tile Sizes" and "Tile Null Count"

use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Result};

/// A number for each tile, or none: for offsets, the first byte of each tile in its file; for sizes, the number of
/// bytes of each decoded tile; for null counts, the number of cells that are null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileOffsets {
    /// The numbers.
    pub offsets: Vec<u64>,
}

impl Structure for TileOffsets {
    type Context = ();
    const NAME: &'static str = "Tile Offsets";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let count = d.u64()?;
        Ok(TileOffsets { offsets: field::u64s(d, count)? })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u64(self.offsets.len() as u64);
        field::put_u64s(e, &self.offsets);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(TileOffsets, context: (),
        golden: [
            include_str!("../../../tests/golden/tile_offsets.hex"),
            include_str!("../../../tests/golden/tile_null_counts.hex"),
            "0000000000000000 # of an attribute of fixed size: no offsets of variable tiles",
        ],
        values: [TileOffsets { offsets: vec![0, u64::MAX] }]);
}
