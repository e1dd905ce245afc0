//! Positive delta: the differences of values that do not decrease, in windows.
//!
//! The values of a window keep their size in bytes. The benefit comes from the filters that follow.
//!
//! Spec: TileDB format_spec, filters/positive_delta.md

use super::number::{Integer, Number, with_integer};
use super::part::{Filtered, Output, Part, Transform, Work, all_taken, len32, take_room};
use super::window;
use hyperslab_core::{Error, Result};

/// Integers, and the maximum size of a window in bytes.
pub(crate) struct PositiveDelta {
    pub(crate) integer: Integer,
    pub(crate) max_window: u32,
}

impl Transform for PositiveDelta {
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
    let mut d = from.decoder("Positive Delta Filter");
    let windows = u64::from(d.u32()?);
    let windows = d.count(windows, N + 4)?;
    let mut out = out.room(from.data.len(), work)?;
    let mut left = from.data;
    for _ in 0..windows {
        let at = d.clone();
        let (first, bytes) = (T::of(d.array()?), d.u32()?);
        let parts = usize::try_from(bytes).ok().and_then(|bytes| left.split_at_checked(bytes));
        let Some((window, behind)) = parts else {
            return Err(at.malformed(format!("a window of {bytes} bytes, {} remain", left.len())));
        };
        let to = take_room(&mut out, window.len())?;
        match window.len().is_multiple_of(N) {
            true => sums(window, first, to),
            false => to.copy_from_slice(window),
        }
        left = behind;
    }
    all_taken(&d, left)?;
    rest.clear();
    rest.extend_from_slice(d.rest());
    Ok(())
}

fn encode_as<T: Number<N>, const N: usize>(from: Part<'_>, max_window: u32, to: &mut Filtered) -> Result<()> {
    let Filtered { metadata, data } = to;
    let windows = from.data.chunks(window::size(max_window, N));
    metadata.clear();
    data.clear();
    metadata.extend_from_slice(&len32(windows.len())?);
    for window in windows {
        let (values, tail) = window.as_chunks::<N>();
        let first = values.first().map_or(T::ZERO, |first| T::of(*first));
        metadata.extend_from_slice(&first.bytes());
        metadata.extend_from_slice(&len32(window.len())?);
        if !tail.is_empty() {
            data.extend_from_slice(window);
            continue;
        }
        let mut last = first;
        for value in values {
            let value = T::of(*value);
            if value < last {
                let (last, value) = (last.wide(), value.wide());
                return Err(Error::invalid(format!(
                    "positive delta filter of values that decrease, from {last} to {value}"
                )));
            }
            data.extend_from_slice(&value.minus(last).bytes());
            last = value;
        }
    }
    metadata.extend_from_slice(from.metadata);
    Ok(())
}

fn sums<T: Number<N>, const N: usize>(from: &[u8], first: T, to: &mut [u8]) {
    let mut sum = first;
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        sum = sum.plus(T::of(*from));
        *to = sum.bytes();
    }
}
