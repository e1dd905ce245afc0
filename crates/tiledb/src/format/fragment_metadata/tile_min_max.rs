//! Tile mins and maxes: the minimum or the maximum value of each tile. New in version 11.
//!
//! Spec: TileDB format_spec, fragment.md "Tile Mins Maxes". Its table counts values, and puts the second size after the
//! first buffer; files begin with two sizes in bytes.

use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Result};

/// The minimum or the maximum value of each tile of an attribute or dimension. Both buffers are empty for fields
/// without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileMinMax {
    /// A value for each tile; for attributes of variable size, the offset of its value in [`var`](Self::var), as 64
    /// bits.
    pub fixed: Vec<u8>,
    /// The values of variable size.
    pub var: Vec<u8>,
}

impl Structure for TileMinMax {
    type Context = ();
    const NAME: &'static str = "Tile Mins Maxes";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let fixed = d.u64()?;
        let var = d.u64()?;
        let fixed = field::bytes(d, fixed)?;
        let var = field::bytes(d, var)?;
        Ok(TileMinMax { fixed, var })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u64(self.fixed.len() as u64);
        e.u64(self.var.len() as u64);
        e.bytes(&self.fixed);
        e.bytes(&self.var);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(TileMinMax, context: (),
        golden: [
            include_str!("../../../tests/golden/tile_mins.hex"),
            include_str!("../../../tests/golden/tile_maxes_string.hex"),
        ],
        values: [TileMinMax::default(), TileMinMax { fixed: vec![0; 8], var: b"abc".to_vec() }]);
}
