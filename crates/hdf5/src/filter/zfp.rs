//! Client data of zfp: the versions of the plugin H5Z-ZFP and of zfp, and zfp's full header.

use hyperslab_codec::{Codec, Zfp};
use hyperslab_core::{Error, Result};

/// The codec that client data describe. A machine of the other byte order reverses the bytes of each value in the
/// header of the plugin, and the bytes of the numbers.
pub(super) fn decode(client_data: &[u32]) -> Result<Option<Codec>> {
    let Some((_, header)) = client_data.split_first() else {
        return Err(Error::malformed("0 values of client data, expected 4 or more"));
    };
    let most_first: Vec<u8> = header.iter().flat_map(|value| value.to_be_bytes()).collect();
    if most_first.starts_with(b"zfp") {
        return Ok(Some(Zfp::from_header(&most_first, true)?.into()));
    }
    let least_first: Vec<u8> = header.iter().flat_map(|value| value.to_le_bytes()).collect();
    Ok(Some(Zfp::from_header(&least_first, false)?.into()))
}

/// The client data of a codec, as version 1.1.1 of the plugin writes them with version 1.0.1 of zfp.
pub(super) fn encode(zfp: &Zfp) -> Vec<u32> {
    let word = if zfp.big_endian() { u32::from_be_bytes } else { u32::from_le_bytes };
    let header = zfp.header();
    std::iter::once(VERSIONS).chain(header.as_chunks().0.iter().map(|bytes| word(*bytes))).collect()
}

/// Versions of zfp, of its streams and of the plugin: 1.0.1, 5 and 1.1.1.
const VERSIONS: u32 = 0x1010_5111;

#[cfg(test)]
mod tests {
    use super::*;

    /// The client data of the plugin for 30 values of float32 at 8 bits each, on machines of both byte orders.
    #[test]
    fn round_trips_client_data_of_the_plugin() {
        let least_first = [VERSIONS, 0x0570_667a, 0x0000_01d2, 0x01f0_0000];
        for client_data in [least_first, [VERSIONS, 0x7a66_7005, 0xd201_0000, 0x0000_f001]] {
            let Some(Codec::Zfp(zfp)) = decode(&client_data).unwrap() else { panic!("expected zfp") };
            assert_eq!(zfp.big_endian(), client_data != least_first);
            assert_eq!(encode(&zfp), client_data);
        }
    }

    #[test]
    fn rejects_every_truncation() {
        for len in 0..4 {
            assert!(decode(&[VERSIONS, 0x0570_667a, 0x0000_01d2, 0x01f0_0000][..len]).is_err(), "{len}");
        }
    }
}
