//! Client data of bitshuffle: two version numbers, the element size, the elements of a block, the codec, and its
//! level.

use hyperslab_codec::{Bitshuffle, BitshuffleCodec, Codec};
use hyperslab_core::{Error, Result};

/// The codec that client data describe.
pub(super) fn decode(client_data: &[u32], element_size: usize) -> Result<Option<Codec>> {
    let value = |at: usize| client_data.get(at).copied();
    let size = |at: usize| value(at).map(|value| usize::try_from(value).unwrap_or(usize::MAX));
    let element = size(2).unwrap_or(element_size);
    if element == 0 {
        return Err(Error::malformed("element size 0, expected 1 or more"));
    }
    let block = size(3).unwrap_or(0);
    if !block.is_multiple_of(8) {
        return Err(Error::malformed(format!("block size of {block} elements, expected a multiple of 8")));
    }
    let codec = match value(4).unwrap_or(NONE) {
        NONE => BitshuffleCodec::None,
        LZ4 => BitshuffleCodec::Lz4,
        ZSTD => BitshuffleCodec::Zstd { level: value(5).map_or(3, u32::cast_signed) },
        other => return Err(Error::unsupported(format!("codec {other}, expected 0, 2 or 3"))),
    };
    Ok(Some(Bitshuffle { element, block, codec }.into()))
}

/// The client data of a codec, as version 0.4 of bitshuffle writes them.
pub(super) fn encode(bitshuffle: &Bitshuffle) -> Result<Vec<u32>> {
    let word = |value: usize| {
        u32::try_from(value)
            .map_err(|_| Error::invalid(format!("bitshuffle parameter {value}, expected less than 2^32")))
    };
    let mut client_data = vec![0, 4, word(bitshuffle.element)?, word(bitshuffle.block)?];
    match bitshuffle.codec {
        BitshuffleCodec::None => client_data.push(NONE),
        BitshuffleCodec::Lz4 => client_data.push(LZ4),
        BitshuffleCodec::Zstd { level } => client_data.extend([ZSTD, level.cast_unsigned()]),
    }
    Ok(client_data)
}

const NONE: u32 = 0;
const LZ4: u32 = 2;
const ZSTD: u32 = 3;
