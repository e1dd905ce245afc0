//! Client data of Blosc 1: versions of the filter and of the format, element size, chunk size, level, shuffle, codec.
//! Blosc 2 has the block size in second place. For chunks of several dimensions it adds their number and the chunk
//! shape in elements after the codec.
//!
//! A chunk repeats these parameters, so invalid client data do not prevent reading.

use hyperslab_codec::{Blosc, Blosc2, BloscCodec, BloscShuffle, Codec};
use hyperslab_core::{Error, Result};

/// The codec that client data of Blosc 1 describe.
#[expect(clippy::unnecessary_wraps, reason = "one of a table of functions")]
pub(super) fn decode(client_data: &[u32], element_size: usize) -> Result<Option<Codec>> {
    let (element, level, shuffle, codec) = shared(client_data, element_size);
    Ok(Some(Blosc { codec, level, shuffle, element, block: 0 }.into()))
}

/// The codec that client data of Blosc 2 describe.
#[expect(clippy::unnecessary_wraps, reason = "one of a table of functions")]
pub(super) fn decode_second(client_data: &[u32], element_size: usize) -> Result<Option<Codec>> {
    let (element, level, shuffle, codec) = shared(client_data, element_size);
    let block = client_data.get(1).copied().unwrap_or(0);
    let rank = client_data.get(7).and_then(|rank| usize::try_from(*rank).ok()).unwrap_or(0);
    let shape = client_data.get(8..).and_then(|shape| shape.get(..rank)).unwrap_or_default().to_vec();
    Ok(Some(Blosc2 { codec, level, shuffle, element, block, shape }.into()))
}

/// The client data of a codec, as version 2 of the filter writes them.
pub(super) fn encode(blosc: &Blosc, chunk_bytes: u32) -> Result<Vec<u32>> {
    let Blosc { codec, level, shuffle, element, block } = *blosc;
    if block != 0 {
        return Err(Error::invalid("blosc with a block size, which its client data cannot store"));
    }
    Ok(vec![FILTER, FORMAT, word(element)?, chunk_bytes, level.into(), shuffle as u32, codec as u32])
}

/// The client data of a codec, as version 1 of the filter writes them.
pub(super) fn encode_second(blosc: &Blosc2, chunk_bytes: u32) -> Result<Vec<u32>> {
    let Blosc2 { codec, level, shuffle, element, block, ref shape } = *blosc;
    let mut client_data =
        vec![SECOND_FILTER, block, word(element)?, chunk_bytes, level.into(), shuffle as u32, codec as u32];
    if shape.len() > 1 {
        client_data.push(word(shape.len())?);
        client_data.extend_from_slice(shape);
    }
    Ok(client_data)
}

fn shared(client_data: &[u32], element_size: usize) -> (usize, u8, BloscShuffle, BloscCodec) {
    let value = |at: usize| client_data.get(at).copied();
    let element = value(2).and_then(|size| usize::try_from(size).ok()).filter(|size| *size > 0);
    let level = value(4).and_then(|level| u8::try_from(level).ok()).unwrap_or(DEFAULT_LEVEL);
    let shuffle = match value(5) {
        Some(0) => BloscShuffle::None,
        Some(2) => BloscShuffle::Bit,
        _ => BloscShuffle::Byte,
    };
    let codec = match value(6) {
        Some(1) => BloscCodec::Lz4,
        Some(2) => BloscCodec::Lz4Hc,
        Some(3) => BloscCodec::Snappy,
        Some(4) => BloscCodec::Zlib,
        Some(5) => BloscCodec::Zstd,
        _ => BloscCodec::BloscLz,
    };
    (element.unwrap_or(element_size), level, shuffle, codec)
}

fn word(value: usize) -> Result<u32> {
    u32::try_from(value)
        .map_err(|_| Error::invalid(format!("blosc parameter {value}, expected less than 2^32")))
}

const FILTER: u32 = 2;
const FORMAT: u32 = 2;
const SECOND_FILTER: u32 = 1;
const DEFAULT_LEVEL: u8 = 5;
