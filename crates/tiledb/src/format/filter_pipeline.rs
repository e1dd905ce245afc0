//! Filter pipeline.
//!
//! Spec: TileDB format_spec, filter_pipeline.md

use super::Structure;
use bytes::Bytes;
use hyperslab_core::{Decoder, Encoder, Result};

/// The filters of tiles, in the order in which they are applied when writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterPipeline {
    /// The maximum size in bytes of a chunk. Writers cut at 65,536 bytes whatever it says.
    pub max_chunk_size: u32,
    /// The filters.
    pub filters: Vec<Filter>,
}

/// A filter with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The type of the filter.
    pub id: u8,
    /// The options, whose layout is that of the type.
    pub options: Bytes,
}

impl Structure for FilterPipeline {
    /// The format version.
    type Context = u32;
    const NAME: &'static str = "Filter Pipeline";

    fn decode(d: &mut Decoder<'_>, _: &u32) -> Result<Self> {
        let max_chunk_size = d.u32()?;
        let count = u64::from(d.u32()?);
        let count = d.count(count, 5)?;
        let filters = (0..count).map(|_| Filter::decode(d)).collect::<Result<_>>()?;
        Ok(FilterPipeline { max_chunk_size, filters })
    }

    fn encode(&self, e: &mut Encoder, _: &u32) -> Result<()> {
        e.u32(self.max_chunk_size);
        e.len_as(4, self.filters.len())?;
        self.filters.iter().try_for_each(|filter| filter.encode(e))
    }
}

impl Filter {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let id = d.u8()?;
        let len = u64::from(d.u32()?);
        let len = d.len_of(len)?;
        let options = Bytes::copy_from_slice(d.take(len)?);
        Ok(Filter { id, options })
    }

    fn encode(&self, e: &mut Encoder) -> Result<()> {
        e.u8(self.id);
        e.len_as(4, self.options.len())?;
        e.bytes(&self.options);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(FilterPipeline, context: 22,
        golden: ["00000100 01000000 01 05000000 01 01000000"],
        values: [FilterPipeline::default()]);
}
