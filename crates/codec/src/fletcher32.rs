//! Fletcher-32: two sums over the data, stored after it; filter id 3 in the HDF5 registry.
//!
//! Words have 16 bits, big-endian; an odd last byte is the high half of a word. Both sums start at 0.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named};
use hyperslab_core::{Error, ErrorKind, Result};

/// A Fletcher-32 checksum of four bytes after the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fletcher32;

impl Transform for Fletcher32 {
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        Some((min.saturating_sub(4), max.checked_sub(4)?))
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        raw.checked_add(4)
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        raw.saturating_add(4)
    }

    fn cut<'a>(&self, stored: &'a [u8]) -> Result<Option<&'a [u8]>> {
        decode(stored).map(Some)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let data = decode(stored)?;
        room(out, data.len())?.copy_from_slice(data);
        Ok(data.len())
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        out.clear();
        out.extend_from_slice(raw);
        out.extend_from_slice(&fletcher32(raw).to_le_bytes());
        Ok(())
    }
}

impl Vocabulary for Fletcher32 {
    const NAMES: &'static [&'static str] = &["fletcher32"];

    fn of_parameters(_: &Given<'_>) -> Result<Self> {
        Ok(Fletcher32)
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("fletcher32", [])
    }
}

/// The Fletcher-32 checksum of `data`.
///
/// ```
/// assert_eq!(hyperslab_codec::fletcher32(&[0, 1, 2, 3]), 0x0205_0204);
/// ```
pub fn fletcher32(data: &[u8]) -> u32 {
    let (words, odd) = data.as_chunks::<2>();
    let (mut sum, mut sum_of_sums) = (0, 0);
    for block in words.chunks(BLOCK) {
        let (mut plain, mut weighted) = (0, 0);
        for (word, weight) in block.iter().zip((1..=block.len() as u64).rev()) {
            let word = u64::from(u16::from_be_bytes(*word));
            plain += word;
            weighted += word * weight;
        }
        sum_of_sums = fold(sum_of_sums + block.len() as u64 * sum + weighted);
        sum = fold(sum + plain);
    }
    if let [high] = odd {
        sum = fold(sum + (u64::from(*high) << 8));
        sum_of_sums = fold(sum_of_sums + sum);
    }
    u32::try_from(sum_of_sums << 16 | sum).unwrap_or_default()
}

/// Verifies the checksum and returns the data before it.
fn decode(stored: &[u8]) -> Result<&[u8]> {
    let Some((data, checksum)) = stored.split_last_chunk() else {
        return Err(Error::malformed(format!(
            "{} bytes, expected at least the 4 of a Fletcher-32 checksum",
            stored.len()
        )));
    };
    let (stored, computed) = (u32::from_le_bytes(*checksum), fletcher32(data));
    if stored != computed && stored != swapped(computed) {
        return Err(Error::new(
            ErrorKind::Checksum,
            format!("Fletcher-32 checksum mismatch: stored {stored:#010x}, computed {computed:#010x}"),
        ));
    }
    Ok(data)
}

/// The checksum as libhdf5 before 1.6.3 stored it on little-endian machines: the two bytes of each sum swapped.
fn swapped(checksum: u32) -> u32 {
    checksum.swap_bytes().rotate_left(16)
}

/// A sum modulo 65,535 with the result of adding carries to the low 16 bits: multiples of 65,535 become 65,535, and
/// only 0 becomes 0.
fn fold(sum: u64) -> u64 {
    match sum.checked_sub(1) {
        Some(less) => less % 0xffff + 1,
        None => 0,
    }
}

/// The number of words that are summed between two reductions.
const BLOCK: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(raw: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Fletcher32.encode(raw, &mut out, &mut Coders::default()).unwrap();
        out
    }

    fn folded(data: &[u8]) -> u32 {
        let (mut sum, mut sum_of_sums) = (0_u32, 0_u32);
        let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
        for word in data.chunks(2) {
            sum = fold(sum + (u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0))));
            sum_of_sums = fold(sum_of_sums + sum);
        }
        fold(sum_of_sums) << 16 | fold(sum)
    }

    #[test]
    fn sums_of_0_modulo_65535_equal_the_result_of_adding_carries() {
        for len in [0, 1, 2, 3, 255, 510, 511, 512, 513, 514, 1000, 65_534, 131_070, 131_073] {
            for byte in [0, 0xff, 1, 0x80] {
                let data = vec![byte; len];
                assert_eq!(fletcher32(&data), folded(&data), "{len} bytes {byte:#x}");
            }
        }
        assert_eq!(fletcher32(&[0xff; 8]), 0xffff_ffff);
    }

    proptest! {
        #[test]
        fn equals_the_folding_form(data in prop::collection::vec(any::<u8>(), 0..3000)) {
            prop_assert_eq!(fletcher32(&data), folded(&data));
        }

        #[test]
        fn a_changed_byte_is_found(
            raw in prop::collection::vec(any::<u8>(), 1..100),
            at in any::<prop::sample::Index>(),
            // 0 and 0xff are equal in these sums; every other change of one byte is detected.
            change in 1..255_u8,
        ) {
            let mut stored = encode(&raw);
            let at = at.index(raw.len());
            stored[at] = stored[at].wrapping_add(change);
            let missed = matches!((raw[at], stored[at]), (0, 0xff) | (0xff, 0));
            prop_assert!(missed || decode(&stored).unwrap_err().kind() == ErrorKind::Checksum);
        }
    }

    #[test]
    fn accepts_the_checksum_of_old_little_endian_writers() {
        let raw = b"abcdef";
        let mut stored = encode(raw);
        assert_eq!(decode(&stored).unwrap(), raw);
        stored.swap(6, 7);
        assert!(decode(&stored).is_err());
        stored.swap(8, 9);
        assert_eq!(decode(&stored).unwrap(), raw);
    }

    #[test]
    fn rejects_fewer_bytes_than_a_checksum() {
        for len in 0..4 {
            assert_eq!(decode(&vec![0; len]).unwrap_err().kind(), ErrorKind::Malformed);
        }
        assert_eq!(decode(&[0; 4]).unwrap(), b"");
    }
}
