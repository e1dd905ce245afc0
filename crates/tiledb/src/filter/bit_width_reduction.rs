//! Bit width reduction: the integers of a window as differences from the smallest one, in the fewest bytes that can
//! hold all of them.
//!
//! Spec: TileDB format_spec, filters/bit_width_reduction.md

use super::number::{Integer, Number, with_integer};
use super::part::{Filtered, Output, Part, Transform, Work, all_taken, len32, take_room};
use super::window;
use hyperslab_core::{Error, Result};

/// Integers, and the maximum size of a window in bytes.
pub(crate) struct BitWidthReduction {
    pub(crate) integer: Integer,
    pub(crate) max_window: u32,
}

impl Transform for BitWidthReduction {
    fn decode(&self, from: Part<'_>, out: Output<'_>, rest: &mut Vec<u8>, work: &mut Work) -> Result<()> {
        with_integer!(self.integer, decode_as, from, out, rest, work)
    }

    fn encode(&self, from: Part<'_>, to: &mut Filtered, _: &mut Work) -> Result<()> {
        with_integer!(self.integer, encode_as, from, self.max_window, to)
    }
}

fn decode_as<T: Number<N>, const N: usize>(
    from: Part<'_>,
    out: Output<'_>,
    rest: &mut Vec<u8>,
    work: &mut Work,
) -> Result<()> {
    let mut d = from.decoder(NAME);
    let at = d.clone();
    let (len, windows) = (d.u32()?, d.u32()?);
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let windows = d.count(windows.into(), N + 5)?;
    // At best a window holds one byte for each value.
    if len > from.data.len().saturating_mul(N) {
        return Err(at.malformed(format!("{} bytes of windows cannot decode to {len}", from.data.len())));
    }
    let mut out = out.room(len, work)?;
    let mut left = from.data;
    for _ in 0..windows {
        let at = d.clone();
        let (offset, bits, bytes) = (T::of(d.array()?), d.u8()?, d.u32()?);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let is_raw = u32::from(bits) >= T::BITS || !bytes.is_multiple_of(N);
        let value = if is_raw { N } else { usize::from(bits / 8) };
        if !is_raw && !matches!(bits, 8 | 16 | 32) {
            return Err(at.malformed(format!("values of {bits} bits, expected 8, 16, 32 or 64")));
        }
        let stored = if is_raw { bytes } else { bytes / N * value };
        let (Some((window, behind)), true) = (left.split_at_checked(stored), bytes <= out.len()) else {
            return Err(at.malformed(format!(
                "a window of {bytes} bytes in {stored}, where {} in {} are left",
                out.len(),
                left.len()
            )));
        };
        let to = take_room(&mut out, bytes)?;
        match value {
            _ if is_raw => to.copy_from_slice(window),
            1 => widen::<T, N, 1>(window, offset, to),
            2 => widen::<T, N, 2>(window, offset, to),
            _ => widen::<T, N, 4>(window, offset, to),
        }
        left = behind;
    }
    all_taken(&d, left)?;
    if !out.is_empty() {
        return Err(d.malformed(format!("no window has the last {} bytes", out.len())));
    }
    rest.clear();
    rest.extend_from_slice(d.rest());
    Ok(())
}

fn encode_as<T: Number<N>, const N: usize>(from: Part<'_>, max_window: u32, to: &mut Filtered) -> Result<()> {
    let Filtered { metadata, data } = to;
    let windows = from.data.chunks(window::size(max_window, N));
    metadata.clear();
    data.clear();
    metadata.extend_from_slice(&len32(from.data.len())?);
    metadata.extend_from_slice(&len32(windows.len())?);
    for window in windows {
        let (values, tail) = window.as_chunks::<N>();
        let (least, bits) = range::<T, N>(values);
        metadata.extend_from_slice(&least.bytes());
        metadata.push(bits);
        metadata.extend_from_slice(&len32(window.len())?);
        match bits {
            _ if u32::from(bits) >= T::BITS || !tail.is_empty() => data.extend_from_slice(window),
            8 => narrow::<T, N, 1>(values, least, data),
            16 => narrow::<T, N, 2>(values, least, data),
            32 => narrow::<T, N, 4>(values, least, data),
            _ => return Err(Error::invalid(format!("values of {bits} bits"))),
        }
    }
    metadata.extend_from_slice(from.metadata);
    Ok(())
}

/// Expands values of `M` bytes by adding the offset.
fn widen<T: Number<N>, const N: usize, const M: usize>(from: &[u8], offset: T, to: &mut [u8]) {
    for (from, to) in from.as_chunks::<M>().0.iter().zip(to.as_chunks_mut().0) {
        *to = offset.plus(T::extended(*from)).bytes();
    }
}

/// Appends the differences of values from the smallest one, in `M` bytes.
fn narrow<T: Number<N>, const N: usize, const M: usize>(values: &[[u8; N]], least: T, to: &mut Vec<u8>) {
    let at = to.len();
    to.resize(at + values.len() * M, 0);
    let places = to.get_mut(at..).unwrap_or_default().as_chunks_mut::<M>().0;
    for (value, place) in values.iter().zip(places) {
        if let Some(low) = T::of(*value).minus(least).bytes().first_chunk() {
            *place = *low;
        }
    }
}

/// The smallest of some values, and the number of bits that can hold the difference between it and the largest.
///
/// TileDB computes the number of bits for the difference plus one. It mistakes differences that exceed the range of a
/// signed type for negative ones, and loses values if those are close to 0; here, such values are stored unchanged.
fn range<T: Number<N>, const N: usize>(values: &[[u8; N]]) -> (T, u8) {
    let numbers = || values.iter().map(|value| T::of(*value));
    let (Some(least), Some(greatest)) = (numbers().min(), numbers().max()) else {
        return (T::ZERO, full::<T, N>());
    };
    let difference = greatest.wide().wrapping_sub(least.wide()).cast_unsigned();
    // The largest differences that TileDB stores in 8, 16 and 32 bits, one less than the largest number.
    let [one, two, four] = if T::SIGNED { [0x7e, 0x7ffe, 0x7fff_fffe] } else { [0xfe, 0xfffe, 0xffff_fffe] };
    let bits = match difference {
        _ if T::SIGNED && difference >= u64::MAX >> (65 - T::BITS) => return (least, full::<T, N>()),
        _ if !T::SIGNED && difference == u64::MAX >> (64 - T::BITS) => return (least, full::<T, N>()),
        _ if difference <= one => 8,
        _ if difference <= two => 16,
        _ if difference <= four => 32,
        _ => 64,
    };
    (least, bits)
}

/// The number of bits of a whole value.
fn full<T: Number<N>, const N: usize>() -> u8 {
    u8::try_from(T::BITS).unwrap_or(u8::MAX)
}

const NAME: &str = "Bit Width Reduction Filter";
