//! Fragment min, max, sum and null count. New in version 12.
//!
//! Spec: TileDB format_spec, fragment.md "Tile Fragment Min Max Sum Null Count", which says version 11; files of
//! version 11 have none

use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The summary of all values of a fragment, for each [slot](super::slots::Slots).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentSummary {
    /// The summaries, in the order of slots.
    pub slots: Vec<SlotSummary>,
}

/// The summary of all values of an attribute or dimension of a fragment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotSummary {
    /// The minimum value; empty if unknown.
    pub min: Vec<u8>,
    /// The maximum value; empty if unknown.
    pub max: Vec<u8>,
    /// The bits of the sum, as in [`TileSums`](super::tile_sums::TileSums).
    pub sum: u64,
    /// The number of null cells.
    pub null_count: u64,
}

impl Structure for FragmentSummary {
    /// The number of slots.
    type Context = usize;
    const NAME: &'static str = "Fragment Min Max Sum Null Count";

    fn decode(d: &mut Decoder<'_>, slots: &usize) -> Result<Self> {
        let count = d.count(*slots as u64, 32)?;
        let slots = (0..count).map(|_| SlotSummary::decode(d, &())).collect::<Result<_>>()?;
        Ok(FragmentSummary { slots })
    }

    fn encode(&self, e: &mut Encoder, slots: &usize) -> Result<()> {
        if self.slots.len() != *slots {
            return Err(Error::invalid(format!("a summary of {} slots, expected {slots}", self.slots.len())));
        }
        self.slots.iter().try_for_each(|slot| slot.encode(e, &()))
    }
}

impl Structure for SlotSummary {
    type Context = ();
    const NAME: &'static str = "Fragment Min Max Sum Null Count";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let min = field::bytes64(d)?;
        let max = field::bytes64(d)?;
        let sum = d.u64()?;
        let null_count = d.u64()?;
        Ok(SlotSummary { min, max, sum, null_count })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        field::put_bytes64(e, &self.min);
        field::put_bytes64(e, &self.max);
        e.u64(self.sum);
        e.u64(self.null_count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    // Two attributes, the unused slot, two dimensions.
    structure_tests!(FragmentSummary, context: 5,
        golden: [include_str!("../../../tests/golden/fragment_summary.hex")],
        values: [FragmentSummary { slots: vec![SlotSummary::default(); 5] }]);

    mod slot {
        use super::*;
        structure_tests!(SlotSummary, context: (), golden: [], values: [SlotSummary {
            min: b"a".to_vec(),
            max: b"zebra".to_vec(),
            sum: 7,
            null_count: 1,
        }]);
    }

    #[test]
    fn refuses_another_number_of_slots() {
        let summary = FragmentSummary { slots: vec![SlotSummary::default(); 2] };
        assert!(summary.encode(&mut Encoder::new(), &3).is_err());
    }
}
