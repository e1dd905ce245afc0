//! Metadata Cache Image: the metadata in the cache of libhdf5 when it closed the file.
//!
//! Spec: none; libhdf5 1.10 and later write it at the address in the message of type 0x0018.

use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A block of metadata. The bytes at the metadata addresses themselves may be missing or older.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataCacheImageBlock {
    /// The cache entries; parents of flush dependencies come before their children.
    pub entries: Vec<Entry>,
}

/// One cache entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The cache client of libhdf5: the structure that the bytes hold.
    pub client: u8,
    /// A combination of [`Entry::DIRTY`], [`Entry::IN_LRU`], [`Entry::IS_PARENT`] and [`Entry::IS_CHILD`].
    pub flags: u8,
    /// The order in which entries are flushed when a file is closed.
    pub ring: u8,
    /// The number of images that contained the entry without it being used in between.
    pub age: u8,
    /// The number of entries that must be flushed before this one.
    pub child_count: u16,
    /// The number of these entries that are dirty.
    pub dirty_child_count: u16,
    /// The rank among the least recently used entries; -1 if it has none.
    pub lru_rank: i32,
    /// The address of the metadata.
    pub address: Address,
    /// The addresses of the entries that must be flushed after this one.
    pub parents: Vec<Address>,
    /// The bytes of the metadata.
    pub bytes: Vec<u8>,
}

impl Entry {
    /// The bytes at the address are older.
    pub const DIRTY: u8 = 1;
    /// The entry has a rank among the least recently used ones.
    pub const IN_LRU: u8 = 2;
    /// Other entries must be flushed before this one.
    pub const IS_PARENT: u8 = 4;
    /// This entry must be flushed before others.
    pub const IS_CHILD: u8 = 8;
}

impl Structure for MetadataCacheImageBlock {
    type Context = Sizes;
    const NAME: &'static str = "Metadata Cache Image";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        match d.u8()? {
            0 => {}
            other => return Err(d.unsupported(format!("version {other}, expected 0"))),
        }
        match d.u8()? {
            0 => {}
            other => return Err(d.unsupported(format!("flags {other:#04x}, expected 0"))),
        }
        let at = d.clone();
        let len = sizes.length(d)?;
        let count = u64::from(d.u32()?);
        let entries = (0..d.count(count, entry_prefix_len(sizes))?)
            .map(|_| Entry::decode(d, sizes))
            .collect::<Result<_>>()?;
        verify_checksum(&start, d)?;
        let found = (start.remaining() - d.remaining()) as u64;
        if found != len {
            return Err(at.malformed(format!("image size {len}, expected {found} where its entries end")));
        }
        Ok(MetadataCacheImageBlock { entries })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let start = e.len();
        let entries: usize = self.entries.iter().map(|entry| entry.len(sizes)).sum();
        e.bytes(SIGNATURE);
        e.u8(0);
        e.u8(0);
        e.len_as(sizes.lengths, prefix_len(sizes) + entries + CHECKSUM_LEN)?;
        e.len_as(4, self.entries.len())?;
        self.entries.iter().try_for_each(|entry| entry.encode(e, sizes))?;
        append_checksum(e, start)
    }
}

impl Entry {
    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let (client, flags, ring, age) = (d.u8()?, d.u8()?, d.u8()?, d.u8()?);
        let (child_count, dirty_child_count, parent_count) = (d.u16()?, d.u16()?, d.u16()?);
        if dirty_child_count > child_count {
            let detail = format!("{dirty_child_count} dirty children, expected at most {child_count}");
            return Err(at.malformed(detail));
        }
        let lru_rank = d.u32()?.cast_signed();
        let address = sizes.address(d)?;
        let len = sizes.length(d)?;
        if address.is_undefined() || len == 0 {
            return Err(at.malformed(format!(
                "cache entry of {len} bytes at {address}, expected bytes and a defined address"
            )));
        }
        let parents = (0..d.count(parent_count.into(), sizes.offsets.into())?)
            .map(|_| sizes.address(d))
            .collect::<Result<_>>()?;
        let len = d.len_of(len)?;
        let bytes = d.take(len)?.to_vec();
        Ok(Entry {
            client,
            flags,
            ring,
            age,
            child_count,
            dirty_child_count,
            lru_rank,
            address,
            parents,
            bytes,
        })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        if self.dirty_child_count > self.child_count || self.address.is_undefined() || self.bytes.is_empty() {
            return Err(Error::invalid(
                "a cache entry without address or bytes, or with more dirty children than children",
            ));
        }
        e.u8(self.client);
        e.u8(self.flags);
        e.u8(self.ring);
        e.u8(self.age);
        e.u16(self.child_count);
        e.u16(self.dirty_child_count);
        e.len_as(2, self.parents.len())?;
        e.u32(self.lru_rank.cast_unsigned());
        sizes.put_address(e, self.address)?;
        e.len_as(sizes.lengths, self.bytes.len())?;
        self.parents.iter().try_for_each(|parent| sizes.put_address(e, *parent))?;
        e.bytes(&self.bytes);
        Ok(())
    }

    fn len(&self, sizes: &Sizes) -> usize {
        entry_prefix_len(sizes) + self.parents.len() * usize::from(sizes.offsets) + self.bytes.len()
    }
}

fn prefix_len(sizes: &Sizes) -> usize {
    SIGNATURE.len() + 2 + usize::from(sizes.lengths) + 4
}

fn entry_prefix_len(sizes: &Sizes) -> usize {
    14 + usize::from(sizes.offsets) + usize::from(sizes.lengths)
}

const SIGNATURE: &[u8] = b"MDCI";
const CHECKSUM_LEN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    const GOLDEN: &str = include_str!("../../../tests/golden/metadata_cache_image.hex");

    structure_tests!(MetadataCacheImageBlock, context: Sizes::DEFAULT, golden: [GOLDEN], values: [child()]);

    mod narrow {
        use super::*;
        const SIZES: Sizes = Sizes { offsets: 4, lengths: 2 };
        structure_tests!(MetadataCacheImageBlock, context: SIZES, golden: [], values: [child()]);
    }

    fn child() -> MetadataCacheImageBlock {
        let entry = Entry {
            client: 11,
            flags: Entry::DIRTY | Entry::IN_LRU | Entry::IS_PARENT | Entry::IS_CHILD,
            ring: 1,
            age: 2,
            child_count: 3,
            dirty_child_count: 1,
            lru_rank: -1,
            address: Address(0x400),
            parents: vec![Address(0x100), Address(0x200)],
            bytes: b"FHIB".to_vec(),
        };
        MetadataCacheImageBlock {
            entries: vec![Entry { lru_rank: 7, parents: vec![], ..entry.clone() }, entry],
        }
    }

    #[test]
    fn golden_entries_are_the_object_headers_of_the_groups() {
        let bytes = hex(GOLDEN);
        let image =
            MetadataCacheImageBlock::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap();
        assert_eq!(image.entries.len(), 2);
        for entry in &image.entries {
            assert!(entry.bytes.starts_with(b"OHDR"));
            assert_ne!(entry.flags & Entry::DIRTY, 0);
        }
    }

    #[test]
    fn rejects_a_length_that_differs_from_that_of_the_entries() {
        let mut e = Encoder::new();
        child().encode(&mut e, &Sizes::DEFAULT).unwrap();
        let mut bytes = e.into_bytes();
        bytes[6] += 1;
        let end = bytes.len() - CHECKSUM_LEN;
        let sum = crate::format::checksum::lookup3(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
        let decoded = MetadataCacheImageBlock::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT);
        assert!(decoded.unwrap_err().detail().contains("where its entries end"));
    }
}
