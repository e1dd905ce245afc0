//! Checksums: MD5 and SHA-256 digests of metadata and data, in front of the metadata.
//!
//! Spec: TileDB format_spec, filters/checksum_md5.md and filters/checksum_sha256.md

use super::part::Part;
use hyperslab_core::{Decoder, Error, ErrorKind, Result};
use md5::Md5;
use sha2::{Digest, Sha256};

/// The algorithm of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    Md5,
    Sha256,
}

impl Checksum {
    fn name(self) -> &'static str {
        match self {
            Checksum::Md5 => "MD5",
            Checksum::Sha256 => "SHA-256",
        }
    }

    fn size(self) -> usize {
        match self {
            Checksum::Md5 => 16,
            Checksum::Sha256 => 32,
        }
    }

    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Checksum::Md5 => Md5::digest(bytes).to_vec(),
            Checksum::Sha256 => Sha256::digest(bytes).to_vec(),
        }
    }

    /// Takes the digests from the front of the metadata, and returns their size in bytes. Data is not changed.
    pub(crate) fn decode(self, from: Part<'_>, verify: bool) -> Result<usize> {
        let mut d = from.decoder(match self {
            Checksum::Md5 => "MD5 Filter",
            Checksum::Sha256 => "SHA-256 Filter",
        });
        let counts = [d.u32()?, d.u32()?].map(u64::from);
        d.count(counts.iter().sum(), self.size() + 8)?;
        let [of_metadata, of_data] = counts;
        let mut digests = d.clone();
        (0..of_metadata + of_data).try_for_each(|_| d.reserved(self.size() + 8))?;
        let taken = from.metadata.len() - d.remaining();
        self.check(of_metadata, &mut digests, d.clone().rest(), verify)?;
        self.check(of_data, &mut digests, from.data, verify)?;
        Ok(taken)
    }

    /// Compares `count` digests with those of the same number of parts of `bytes`.
    fn check(self, count: u64, digests: &mut Decoder<'_>, bytes: &[u8], verify: bool) -> Result<()> {
        let mut left = bytes;
        for _ in 0..count {
            let at = digests.clone();
            let len = digests.u64()?;
            let stored = digests.take(self.size())?;
            let parts = usize::try_from(len).ok().and_then(|len| left.split_at_checked(len));
            let Some((part, rest)) = parts else {
                return Err(at.malformed(format!("a digest of {len} bytes, {} remain", left.len())));
            };
            left = rest;
            if !verify {
                continue;
            }
            let computed = self.digest(part);
            if computed != stored {
                let detail =
                    format!("{} mismatch: stored {}, computed {}", self.name(), Hex(stored), Hex(&computed));
                return Err(at.error(ErrorKind::Checksum, detail));
            }
        }
        match left.is_empty() {
            true => Ok(()),
            false => Err(digests.malformed(format!("no digest of {} bytes", left.len()))),
        }
    }

    /// Replaces the content of `metadata` with the digests and the metadata of the filters before.
    pub(crate) fn encode(self, from: Part<'_>, metadata: &mut Vec<u8>) -> Result<()> {
        let parts = [from.metadata, from.data];
        // TileDB has no part for empty metadata, but it has one for empty data.
        let has_metadata = !from.metadata.is_empty();
        metadata.clear();
        metadata.extend_from_slice(&u32::from(has_metadata).to_le_bytes());
        metadata.extend_from_slice(&1_u32.to_le_bytes());
        for part in parts.into_iter().skip(usize::from(!has_metadata)) {
            metadata.extend_from_slice(&(part.len() as u64).to_le_bytes());
            metadata.extend_from_slice(&self.digest(part));
        }
        metadata.extend_from_slice(from.metadata);
        if metadata.len() as u64 > u64::from(u32::MAX) {
            return Err(Error::invalid(format!("{} bytes of metadata in one chunk", metadata.len())));
        }
        Ok(())
    }
}

struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
