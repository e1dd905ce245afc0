//! Client data of szip: options, bits per pixel, pixels per block and pixels per scanline.

use hyperslab_codec::{Codec, Szip};
use hyperslab_core::{Error, Result};

/// The codec that client data describe. Their order differs from that of other descriptions of szip.
pub(super) fn decode(client_data: &[u32]) -> Result<Option<Codec>> {
    let [options, block, bits, scanline] = *client_data else {
        return Err(Error::malformed(format!("{} values, expected 4", client_data.len())));
    };
    let (nearest, most_first) = (options & NEAREST_NEIGHBOUR != 0, options & MAX_SIGNIFICANT_FIRST != 0);
    Ok(Some(Szip::new(bits, block, scanline, nearest, most_first)?.into()))
}

/// The client data of a codec, with the options that libhdf5 always sets.
pub(super) fn encode(szip: &Szip) -> Vec<u32> {
    let coding = if szip.nearest_neighbour() { NEAREST_NEIGHBOUR } else { ENTROPY_CODING };
    let order = if szip.most_significant_first() { MAX_SIGNIFICANT_FIRST } else { MIN_SIGNIFICANT_FIRST };
    let options = ALLOW_K13 | coding | order | RAW;
    vec![options, szip.pixels_per_block(), szip.bits_per_pixel(), szip.pixels_per_scanline()]
}

const ALLOW_K13: u32 = 1;
const ENTROPY_CODING: u32 = 4;
const MIN_SIGNIFICANT_FIRST: u32 = 8;
const MAX_SIGNIFICANT_FIRST: u32 = 16;
const NEAREST_NEIGHBOUR: u32 = 32;
/// The option for a stream without a header.
const RAW: u32 = 128;

#[cfg(test)]
mod tests {
    use super::*;

    /// The client data of libhdf5 2.0 for float32 and big-endian uint16 in chunks of 5 by 37.
    #[test]
    fn round_trips_client_data_of_libhdf5() {
        for client_data in [[169, 16, 32, 37], [149, 16, 16, 37], [141, 8, 12, 120]] {
            let Some(Codec::Szip(szip)) = decode(&client_data).unwrap() else {
                panic!("{client_data:?}: expected szip");
            };
            assert_eq!(encode(&szip), client_data);
        }
    }

    #[test]
    fn rejects_other_numbers_of_values() {
        assert_eq!(decode(&[141, 8]).unwrap_err().to_string(), "2 values, expected 4");
    }
}
