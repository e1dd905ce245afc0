//! Checksums of four bytes, little-endian, before or after the data.
//!
//! Spec: RFC 1952 section 8 (CRC-32), RFC 3720 section 12.1 (CRC-32C), RFC 1950 section 8.2 (Adler-32), lookup3

mod crc32c;
mod lookup3;

pub use crc32c::crc32c;
pub use lookup3::lookup3;

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named};
use hyperslab_core::{Error, ErrorKind, Result};

/// A checksum of four bytes, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checksum {
    /// The algorithm.
    pub algorithm: ChecksumAlgorithm,
    /// Whether the checksum is before the data.
    pub at_start: bool,
}

/// The algorithm of a checksum of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumAlgorithm {
    /// CRC-32, with the polynomial of zlib.
    Crc32,
    /// CRC-32C, with Castagnoli's polynomial.
    Crc32c,
    /// Adler-32: two sums modulo 65,521.
    Adler32,
    /// Jenkins' hash lookup3.
    Lookup3 {
        /// The initial value of the hash.
        initial: u32,
    },
}

impl Checksum {
    fn sum(&self, data: &[u8]) -> u32 {
        match self.algorithm {
            ChecksumAlgorithm::Crc32 => libdeflater::crc32(data),
            ChecksumAlgorithm::Crc32c => crc32c(data),
            ChecksumAlgorithm::Adler32 => libdeflater::adler32(data),
            ChecksumAlgorithm::Lookup3 { initial } => lookup3(data, initial),
        }
    }

    fn name(&self) -> &'static str {
        match self.algorithm {
            ChecksumAlgorithm::Crc32 => "CRC-32",
            ChecksumAlgorithm::Crc32c => "CRC-32C",
            ChecksumAlgorithm::Adler32 => "Adler-32",
            ChecksumAlgorithm::Lookup3 { .. } => "lookup3",
        }
    }

    /// Verifies the checksum and returns the data.
    fn check<'a>(&self, stored: &'a [u8]) -> Result<&'a [u8]> {
        let parts = match self.at_start {
            true => stored.split_first_chunk::<4>(),
            false => stored.split_last_chunk::<4>().map(|(data, sum)| (sum, data)),
        };
        let name = self.name();
        let Some((sum, data)) = parts else {
            let found = stored.len();
            return Err(Error::malformed(format!(
                "{found} bytes, expected at least the 4 of a {name} checksum"
            )));
        };
        let (stored, computed) = (u32::from_le_bytes(*sum), self.sum(data));
        match stored == computed {
            true => Ok(data),
            false => Err(Error::new(
                ErrorKind::Checksum,
                format!("{name} checksum mismatch: stored {stored:#010x}, computed {computed:#010x}"),
            )),
        }
    }
}

impl Transform for Checksum {
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
        self.check(stored).map(Some)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let data = self.check(stored)?;
        room(out, data.len())?.copy_from_slice(data);
        Ok(data.len())
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        let sum = self.sum(raw).to_le_bytes();
        out.clear();
        if self.at_start {
            out.extend_from_slice(&sum);
        }
        out.extend_from_slice(raw);
        if !self.at_start {
            out.extend_from_slice(&sum);
        }
        Ok(())
    }
}

/// Only the default position in numcodecs has a name.
impl Vocabulary for Checksum {
    const NAMES: &'static [&'static str] = &["crc32c", "crc32", "adler32", "jenkins"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let sum = DEFAULTS.iter().find(|(name, _)| *name == given.filter.name).map(|(_, sum)| *sum);
        sum.ok_or_else(|| given.not_by_name())
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        let (name, _) = DEFAULTS.iter().find(|(_, sum)| sum == self)?;
        named(name, [])
    }
}

const DEFAULTS: [(&str, Checksum); 4] = [
    ("crc32c", Checksum { algorithm: ChecksumAlgorithm::Crc32c, at_start: false }),
    ("crc32", Checksum { algorithm: ChecksumAlgorithm::Crc32, at_start: true }),
    ("adler32", Checksum { algorithm: ChecksumAlgorithm::Adler32, at_start: true }),
    ("jenkins", Checksum { algorithm: ChecksumAlgorithm::Lookup3 { initial: 0 }, at_start: false }),
];

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(ChecksumAlgorithm, u32); 4] = [
        (ChecksumAlgorithm::Crc32, 0xcbf4_3926),
        (ChecksumAlgorithm::Crc32c, 0xe306_9283),
        (ChecksumAlgorithm::Adler32, 0x091e_01de),
        (ChecksumAlgorithm::Lookup3 { initial: 0 }, 0x845d_9a96),
    ];

    #[test]
    fn checksums_are_at_their_position_and_are_verified() {
        for (algorithm, sum) in ALL {
            for at_start in [true, false] {
                let checksum = Checksum { algorithm, at_start };
                let mut stored = Vec::new();
                checksum.encode(b"123456789", &mut stored, &mut Coders::default()).unwrap();
                let (data, sum) = (b"123456789".to_vec(), sum.to_le_bytes().to_vec());
                let parts = if at_start { [sum, data] } else { [data, sum] };
                assert_eq!(stored, parts.concat(), "{algorithm:?}");
                assert_eq!(checksum.check(&stored).unwrap(), b"123456789");
                for at in 0..stored.len() {
                    stored[at] ^= 4;
                    assert_eq!(checksum.check(&stored).unwrap_err().kind(), ErrorKind::Checksum);
                    stored[at] ^= 4;
                }
                assert_eq!(checksum.check(b"abc").unwrap_err().kind(), ErrorKind::Malformed);
            }
        }
    }
}
