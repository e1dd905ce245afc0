//! Data Storage - Filter Pipeline message, type 0x000B.
//!
//! Spec: HDF5 IV.A.2.l

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The filters of chunks, in the order in which they are applied when writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterPipeline {
    /// The version of the encoding.
    pub version: Version,
    /// The filters.
    pub filters: Vec<Filter>,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Of the first libhdf5, with padding and names.
    V1 = 1,
    /// Since libhdf5 1.8.
    V2 = 2,
}

/// A filter with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The registered filter identification value.
    pub id: u16,
    /// The name without NUL; empty if there is none. Version 2 stores no name for filters below 256.
    pub name: Vec<u8>,
    /// Whether a chunk may be written without this filter if it fails.
    pub optional: bool,
    /// The client data: parameters that only the filter defines.
    pub client_data: Vec<u32>,
}

impl Structure for FilterPipeline {
    type Context = Sizes;
    const NAME: &'static str = "Filter Pipeline message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = match d.u8()? {
            1 => Version::V1,
            2 => Version::V2,
            other => return Err(at.unsupported(format!("version {other}, expected 1 or 2"))),
        };
        let at = d.clone();
        let count = d.u8()?;
        if count > MAX_FILTERS {
            return Err(at.malformed(format!("{count} filters, expected at most {MAX_FILTERS}")));
        }
        if version == Version::V1 {
            d.reserved(6)?;
        }
        let filters = (0..count).map(|_| Filter::decode(d, version)).collect::<Result<_>>()?;
        Ok(FilterPipeline { version, filters })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.u8(self.version as u8);
        if self.filters.len() > usize::from(MAX_FILTERS) {
            return Err(Error::invalid(format!(
                "{} filters, expected at most {MAX_FILTERS}",
                self.filters.len()
            )));
        }
        e.len_as(1, self.filters.len())?;
        if self.version == Version::V1 {
            e.reserved(6);
        }
        self.filters.iter().try_for_each(|filter| filter.encode(e, self.version))
    }
}

impl HeaderMessage for FilterPipeline {
    const TYPE: MessageType = MessageType::FILTER_PIPELINE;
}

impl Filter {
    fn decode(d: &mut Decoder<'_>, version: Version) -> Result<Self> {
        let id = d.u16()?;
        let at = d.clone();
        let name_len = if has_name(id, version) { d.u16()? } else { 0 };
        if version == Version::V1 && !name_len.is_multiple_of(8) {
            return Err(at.malformed(format!("filter name length {name_len}, expected a multiple of 8")));
        }
        let optional = d.u16()? & OPTIONAL != 0;
        let value_count = d.u16()?;
        let name = d.take(name_len.into())?.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        d.count(value_count.into(), 4)?;
        let client_data = (0..value_count).map(|_| d.u32()).collect::<Result<_>>()?;
        if version == Version::V1 && !value_count.is_multiple_of(2) {
            d.reserved(4)?;
        }
        Ok(Filter { id, name, optional, client_data })
    }

    fn encode(&self, e: &mut Encoder, version: Version) -> Result<()> {
        e.u16(self.id);
        let mut name = Encoder::new();
        if has_name(self.id, version) {
            if !self.name.is_empty() {
                name.bytes(&self.name);
                name.u8(0);
            }
            if version == Version::V1 {
                name.pad_to(0, 8);
            }
            e.len_as(2, name.len())?;
        }
        e.u16(if self.optional { OPTIONAL } else { 0 });
        e.len_as(2, self.client_data.len())?;
        e.bytes(name.as_slice());
        for value in &self.client_data {
            e.u32(*value);
        }
        if version == Version::V1 && !self.client_data.len().is_multiple_of(2) {
            e.reserved(4);
        }
        Ok(())
    }
}

/// Whether the name is stored. Version 2 omits the names of filters that the format itself defines.
fn has_name(id: u16, version: Version) -> bool {
    version == Version::V1 || id >= 256
}

const OPTIONAL: u16 = 1;

const MAX_FILTERS: u8 = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn filter(id: u16, name: &[u8], client_data: &[u32]) -> Filter {
        Filter { id, name: name.to_vec(), optional: false, client_data: client_data.to_vec() }
    }

    structure_tests!(FilterPipeline, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_filter_pipeline_v1.hex"),
        include_str!("../../../tests/golden/message_filter_pipeline_v2.hex"),
        include_str!("../../../tests/golden/message_filter_pipeline_v1_plugin.hex"),
        include_str!("../../../tests/golden/message_filter_pipeline_v2_plugin.hex"),
    ],
    values: [
        FilterPipeline { version: Version::V1, filters: vec![] },
        FilterPipeline {
            version: Version::V1,
            filters: vec![filter(1, b"", &[]), filter(65535, b"eight by", &[1, 2, 3])],
        },
        FilterPipeline {
            version: Version::V2,
            filters: vec![filter(256, b"", &[7]), filter(255, b"", &[8, 9])],
        },
    ]);

    #[test]
    fn rejects_too_many_filters_and_names_that_are_not_padded() {
        let decode = |bytes: &[u8]| FilterPipeline::decode(&mut Decoder::new("t", 0, bytes), &Sizes::DEFAULT);
        assert_eq!(decode(&[2, 33]).unwrap_err().detail(), "33 filters, expected at most 32");
        let mut bytes = [0; 28];
        bytes[..2].copy_from_slice(&[1, 1]);
        bytes[10] = 7;
        assert!(decode(&bytes).is_err());
    }
}
