//! Delta: the first value, and for each other value its difference from the previous one. They are preceded by the
//! number of values in 64 bits.
//!
//! Spec: TileDB format_spec, filters/delta.md

use super::number::{Integer, Number, with_integer};
use hyperslab_core::{Error, Result};

/// Decodes to all of `out`.
pub(crate) fn decode(integer: Integer, stored: &[u8], out: &mut [u8]) -> Result<()> {
    let differences = check(integer, stored, out.len())?;
    with_integer!(integer, sums, differences, out);
    Ok(())
}

/// Appends `raw` encoded to `out`.
pub(crate) fn encode(integer: Integer, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let size = integer.size();
    if !raw.len().is_multiple_of(size) {
        return Err(Error::invalid(format!("{} bytes, expected values of {size}", raw.len())));
    }
    out.extend_from_slice(&((raw.len() / size) as u64).to_le_bytes());
    let at = out.len();
    out.resize(at + raw.len(), 0);
    with_integer!(integer, differences, raw, out.get_mut(at..).unwrap_or_default());
    Ok(())
}

/// Checks that `stored` decodes to `len` bytes, and returns the differences.
pub(crate) fn check(integer: Integer, stored: &[u8], len: usize) -> Result<&[u8]> {
    let (size, found) = (integer.size(), stored.len());
    let Some((count, differences)) = stored.split_first_chunk() else {
        return Err(Error::malformed(format!("differences in {found} bytes, expected at least 8")));
    };
    let count = u64::from_le_bytes(*count);
    if differences.len() != len || count.checked_mul(size as u64) != Some(len as u64) {
        return Err(Error::malformed(format!(
            "{count} differences of {size} bytes in {found}, expected {len} bytes of them"
        )));
    }
    Ok(differences)
}

fn sums<T: Number<N>, const N: usize>(from: &[u8], to: &mut [u8]) {
    let mut sum = T::ZERO;
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        sum = sum.plus(T::of(*from));
        *to = sum.bytes();
    }
}

fn differences<T: Number<N>, const N: usize>(from: &[u8], to: &mut [u8]) {
    let mut last = T::ZERO;
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        let value = T::of(*from);
        *to = value.minus(last).bytes();
        last = value;
    }
}
