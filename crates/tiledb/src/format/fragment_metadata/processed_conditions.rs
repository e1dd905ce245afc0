//! Processed conditions: the deletes that were already applied to a fragment. New in version 16.
//!
//! Spec: TileDB format_spec, fragment.md "Tile Processed Conditions"

use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Result};

/// The conditions that were applied when the fragment was written, and must not be applied again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessedConditions {
    /// The files of the conditions, sorted, as `__commits/NAME.del`.
    pub files: Vec<Vec<u8>>,
}

impl Structure for ProcessedConditions {
    type Context = ();
    const NAME: &'static str = "Tile Processed Conditions";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let count = d.u64()?;
        let count = d.count(count, 8)?;
        let files = (0..count).map(|_| field::bytes64(d)).collect::<Result<_>>()?;
        Ok(ProcessedConditions { files })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u64(self.files.len() as u64);
        self.files.iter().for_each(|file| field::put_bytes64(e, file));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(ProcessedConditions, context: (),
        golden: [include_str!("../../../tests/golden/processed_conditions.hex")],
        values: [ProcessedConditions::default()]);
}
