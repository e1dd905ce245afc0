//! Tile sums: the sum of the values of each tile. New in version 11.
//!
//! Spec: TileDB format_spec, fragment.md "Tile Sums"

use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Result};

/// The sum of the values of each tile of an attribute, or nothing for attributes without sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileSums {
    /// The bits of the sums: an `i64`, `u64` or `f64`, depending on the kind of datatype. Sums of integers saturate at
    /// the limits.
    pub sums: Vec<u64>,
}

impl Structure for TileSums {
    type Context = ();
    const NAME: &'static str = "Tile Sums";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let count = d.u64()?;
        Ok(TileSums { sums: field::u64s(d, count)? })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u64(self.sums.len() as u64);
        field::put_u64s(e, &self.sums);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(TileSums, context: (),
        golden: [include_str!("../../../tests/golden/tile_sums.hex")],
        values: [TileSums::default(), TileSums { sums: vec![1.5_f64.to_bits()] }]);
}
