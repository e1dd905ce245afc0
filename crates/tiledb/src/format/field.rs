//! Encodings of fields that many structures share.

use hyperslab_core::{Decoder, Encoder, Result};

/// A byte that is 0 or 1.
pub(crate) fn boolean(d: &mut Decoder<'_>, what: &str) -> Result<bool> {
    let at = d.clone();
    match d.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(at.malformed(format!("{what} is {other}, expected 0 or 1"))),
    }
}

/// Appends a byte that is 0 or 1.
pub(crate) fn put_boolean(e: &mut Encoder, value: bool) {
    e.u8(u8::from(value));
}

/// Bytes preceded by their length in 32 bits.
pub(crate) fn bytes32(d: &mut Decoder<'_>) -> Result<Vec<u8>> {
    let len = u64::from(d.u32()?);
    bytes(d, len)
}

/// Appends bytes preceded by their length in 32 bits.
pub(crate) fn put_bytes32(e: &mut Encoder, bytes: &[u8]) -> Result<()> {
    e.len_as(4, bytes.len())?;
    e.bytes(bytes);
    Ok(())
}

/// Bytes preceded by their length in 64 bits.
pub(crate) fn bytes64(d: &mut Decoder<'_>) -> Result<Vec<u8>> {
    let len = d.u64()?;
    bytes(d, len)
}

/// Appends bytes preceded by their length in 64 bits.
pub(crate) fn put_bytes64(e: &mut Encoder, bytes: &[u8]) {
    e.u64(bytes.len() as u64);
    e.bytes(bytes);
}

/// The next `len` bytes.
pub(crate) fn bytes(d: &mut Decoder<'_>, len: u64) -> Result<Vec<u8>> {
    let len = d.len_of(len)?;
    d.take(len).map(<[u8]>::to_vec)
}

/// The next `count` numbers of 64 bits.
pub(crate) fn u64s(d: &mut Decoder<'_>, count: u64) -> Result<Vec<u64>> {
    let len = d.count(count, 8)?.saturating_mul(8);
    let (numbers, _) = d.take(len)?.as_chunks::<8>();
    Ok(numbers.iter().map(|number| u64::from_le_bytes(*number)).collect())
}

/// Appends numbers of 64 bits, without their count.
pub(crate) fn put_u64s(e: &mut Encoder, numbers: &[u64]) {
    numbers.iter().for_each(|number| e.u64(*number));
}

/// Offsets of 64 bits each, preceded by their size in bytes in 64 bits.
pub(crate) fn offsets(d: &mut Decoder<'_>) -> Result<Vec<u64>> {
    let at = d.clone();
    let size = d.u64()?;
    if !size.is_multiple_of(8) {
        return Err(at.malformed(format!("{size} bytes of offsets, expected a multiple of 8")));
    }
    u64s(d, size / 8)
}

/// Appends offsets preceded by their size in bytes.
pub(crate) fn put_offsets(e: &mut Encoder, offsets: &[u64]) {
    e.u64(8 * offsets.len() as u64);
    put_u64s(e, offsets);
}
