//! Consolidated fragment metadata: the footers of many fragments in one file.
//!
//! Spec: TileDB format_spec, consolidated_fragment_metadata_file.md, which mentions neither that the file is a
//! generic tile, of which this is the body, nor the number of fragments. Offsets count from the beginning of the body.

use super::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Result};

/// The footers of fragments, which are also in their own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsolidatedFragmentMetadata {
    /// The fragments, in the order of the file.
    pub fragments: Vec<ConsolidatedFooter>,
}

/// The footer of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsolidatedFooter {
    /// The name of the fragment. Before version 9, an absolute URI, of which only the [last
    /// name](super::uri_lines::last_name) is reliable.
    pub uri: Vec<u8>,
    /// The bytes of the [footer](super::fragment_metadata::footer::Footer), without their length.
    pub footer: Vec<u8>,
}

impl Structure for ConsolidatedFragmentMetadata {
    type Context = ();
    const NAME: &'static str = "Consolidated Fragment Metadata";

    /// All bytes belong to entries and footers: the last footer extends to the end.
    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let start = d.offset();
        let count = u64::from(d.u32()?);
        let count = d.count(count, 16)?;
        let entry = |_| Ok((field::bytes64(d)?, d.u64()?));
        let entries: Vec<(Vec<u8>, u64)> = (0..count).map(entry).collect::<Result<_>>()?;
        let ends: Vec<Option<u64>> =
            entries.iter().skip(1).map(|(_, begin)| Some(*begin)).chain([None]).collect();
        let mut fragments = Vec::with_capacity(count);
        for ((uri, begin), end) in entries.into_iter().zip(ends) {
            let position = d.offset().saturating_sub(start);
            if begin != position {
                return Err(
                    d.malformed(format!("a footer at {begin}, expected {position}, behind the one before"))
                );
            }
            let footer = match end {
                Some(end) => field::bytes(d, end.saturating_sub(begin))?,
                None => d.rest().to_vec(),
            };
            fragments.push(ConsolidatedFooter { uri, footer });
        }
        Ok(ConsolidatedFragmentMetadata { fragments })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        let start = e.len();
        e.len_as(4, self.fragments.len())?;
        let mut places = Vec::with_capacity(self.fragments.len());
        for ConsolidatedFooter { uri, .. } in &self.fragments {
            field::put_bytes64(e, uri);
            places.push(e.reserve(8));
        }
        for (ConsolidatedFooter { footer, .. }, place) in self.fragments.iter().zip(places) {
            let begin = e.len().saturating_sub(start) as u64;
            e.patch(place, begin)?;
            e.bytes(footer);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn two() -> ConsolidatedFragmentMetadata {
        let footer = |uri: &str, footer: &str| ConsolidatedFooter { uri: uri.into(), footer: footer.into() };
        ConsolidatedFragmentMetadata { fragments: vec![footer("a", "first"), footer("bc", "second")] }
    }

    // The last footer extends to the end, wherever that is.
    structure_tests!(ConsolidatedFragmentMetadata, context: (),
        golden: [include_str!("../../tests/golden/consolidated_fragment_metadata.hex")],
        values: [two(), ConsolidatedFragmentMetadata::default()], open_ended);

    #[test]
    fn rejects_footers_that_do_not_follow_each_other() {
        let bytes = crate::format::encode_all(&two(), &()).unwrap();
        for (at, value, message) in [
            (13, 3, "a footer at 3, expected 39, behind the one before"),
            (31, 3, "a footer at 3, expected 39, behind the one before"),
            (31, 90, "51 items do not fit in 11 bytes"),
        ] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let e =
                ConsolidatedFragmentMetadata::decode(&mut Decoder::new("t", 0, &damaged), &()).unwrap_err();
            assert_eq!(e.detail(), message);
        }
    }
}
