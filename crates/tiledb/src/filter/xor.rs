//! XOR: each value combined with the previous one by exclusive or.
//!
//! Spec: TileDB format_spec, filters/xor.md

use super::number::{Integer, Number, with_integer};
use super::part::{Filtered, Output, Part, Transform, Work, len32, prepend, take_room};
use hyperslab_core::{Error, Result};

/// Values of the size of `integer`.
pub(crate) struct Xor {
    pub(crate) integer: Integer,
}

impl Transform for Xor {
    fn decode(&self, from: Part<'_>, out: Output<'_>, rest: &mut Vec<u8>, work: &mut Work) -> Result<()> {
        let mut d = from.decoder("XOR Filter");
        let parts = from.cut(&mut d)?;
        let mut out = out.room(from.data.len(), work)?;
        let size = self.integer.size();
        for part in parts {
            if !part.len().is_multiple_of(size) {
                return Err(d.malformed(format!("a part of {} bytes, expected values of {size}", part.len())));
            }
            let to = take_room(&mut out, part.len())?;
            with_integer!(self.integer, separated, part, to);
        }
        prepend(rest, &[], d.rest());
        Ok(())
    }

    fn encode(&self, from: Part<'_>, to: &mut Filtered, _: &mut Work) -> Result<()> {
        let size = self.integer.size();
        if !from.data.len().is_multiple_of(size) {
            return Err(Error::invalid(format!("{} bytes, expected values of {size}", from.data.len())));
        }
        to.metadata.clear();
        to.metadata.extend_from_slice(&1_u32.to_le_bytes());
        to.metadata.extend_from_slice(&len32(from.data.len())?);
        to.metadata.extend_from_slice(from.metadata);
        to.data.clear();
        to.data.resize(from.data.len(), 0);
        with_integer!(self.integer, combined, from.data, &mut to.data);
        Ok(())
    }
}

fn separated<T: Number<N>, const N: usize>(from: &[u8], to: &mut [u8]) {
    let mut last = T::ZERO;
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        last = last.xor(T::of(*from));
        *to = last.bytes();
    }
}

fn combined<T: Number<N>, const N: usize>(from: &[u8], to: &mut [u8]) {
    let mut last = T::ZERO;
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        let value = T::of(*from);
        *to = value.xor(last).bytes();
        last = value;
    }
}
