//! Finds and reads the superblock.
//!
//! Spec: HDF5 II.A Disk Format: Level 0A - Format Signature and Superblock

use crate::format::metadata::Superblock;
use crate::format::metadata::superblock::SIGNATURE;
use crate::format::{Address, Structure, decode_prefix};
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, Result};

/// The offset of the superblock: the first of 0, 512, 1024, 2048 and so on that has the format signature.
pub fn locate(storage: &dyn ReadAt) -> Result<Option<u64>> {
    let len = storage.len()?;
    let next = |at: &u64| if *at == 0 { Some(USER_BLOCK) } else { at.checked_mul(2) };
    let place = |at: u64| {
        let end = at.checked_add(SIGNATURE.len() as u64).filter(|end| *end <= len)?;
        Some(at..end)
    };
    let mut places = std::iter::successors(Some(0), next).map_while(place);
    let is_here = |place: &std::ops::Range<u64>| Ok(storage.read_at(place.clone())? == SIGNATURE[..]);
    if storage.is_far() {
        // It is nearly always at the first place. The others are read together.
        if let Some(first) = places.next()
            && is_here(&first)?
        {
            return Ok(Some(first.start));
        }
        let places: Vec<_> = places.collect();
        let found = storage.read_ranges(&places)?;
        let found = places.iter().zip(found).find(|(_, bytes)| *bytes == SIGNATURE[..]);
        return Ok(found.map(|(place, _)| place.start));
    }
    let found =
        places.find_map(|place| is_here(&place).map(|is_here| is_here.then_some(place.start)).transpose());
    found.transpose()
}

/// Reads the superblock, and returns it with the offset at which it was found, from which addresses count.
///
/// If that is not the stored base address, the file was moved as a whole, and the base and end-of-file addresses are
/// returned as moved with it.
///
/// # Errors
/// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if there is no format signature. Files that a writer has open,
/// or has left open, are not an error: see [`Superblock::is_open_for_writing`].
pub fn read(storage: &dyn ReadAt) -> Result<(Superblock, u64)> {
    let found_at = locate(storage)?.ok_or_else(|| {
        Error::malformed("no format signature at 0, 512, 1024 and so on").at(Superblock::NAME, 0)
    })?;
    let end = storage.len()?.min(found_at.saturating_add(Superblock::MAX_LEN));
    let bytes = storage.read_at(found_at..end).map_err(|e| e.at(Superblock::NAME, found_at))?;
    let mut superblock: Superblock = decode_prefix(found_at, &bytes, &())?;
    let stored_base = superblock.base_address.get().unwrap_or(0);
    if let Some(end) = superblock.end_of_file.get() {
        superblock.end_of_file = Address(end.saturating_sub(stored_base).saturating_add(found_at));
    }
    superblock.base_address = Address(found_at);
    Ok((superblock, found_at))
}

/// The lowest possible offset after 0.
const USER_BLOCK: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::metadata::superblock::{ObjectHeaderRoot, Version};
    use bytes::Bytes;
    use hyperslab_core::{Encoder, ErrorKind};

    /// A superblock at one offset that states it is at another.
    fn file(at: usize, base: u64) -> Bytes {
        let superblock = Superblock {
            sizes: Sizes::DEFAULT,
            base_address: Address(base),
            end_of_file: Address(base + 0x320),
            consistency_flags: 0,
            version: Version::V2(ObjectHeaderRoot {
                extension: Address::UNDEFINED,
                object_header: Address(0x30),
            }),
        };
        let mut e = Encoder::new();
        e.reserved(at);
        superblock.encode(&mut e, &()).unwrap();
        e.into_bytes().into()
    }

    #[test]
    fn the_signature_is_found_at_doubling_places_only() {
        for (at, found) in [
            (0, Some(0)),
            (512, Some(512)),
            (1024, Some(1024)),
            (1 << 16, Some(1 << 16)),
            (256, None),
            (1536, None),
        ] {
            assert_eq!(locate(&file(at, 0)).unwrap(), found, "{at}");
        }
        assert_eq!(locate(&Bytes::new()).unwrap(), None);
        assert_eq!(locate(&Bytes::from_static(&SIGNATURE[..7])).unwrap(), None);
    }

    #[test]
    fn a_moved_file_has_its_addresses_moved() {
        for at in [0, 512, 2048, 4096] {
            let (superblock, found_at) = read(&file(usize::try_from(at).unwrap(), 2048)).unwrap();
            assert_eq!((found_at, superblock.base_address), (at, Address(at)));
            assert_eq!(superblock.end_of_file, Address(at + 0x320));
            assert_eq!(superblock.root_object_header(), Address(0x30));
        }
    }

    #[test]
    fn a_file_without_or_with_half_a_superblock_is_malformed() {
        let e = read(&Bytes::from_static(b"CDF\x01")).unwrap_err();
        assert_eq!(
            e.to_string(),
            "malformed Superblock at byte 0x0: no format signature at 0, 512, 1024 and so on"
        );
        let cut = file(512, 512).slice(..540);
        let e = read(&cut).unwrap_err();
        assert_eq!((e.kind(), e.place().unwrap().structure), (ErrorKind::Malformed, Superblock::NAME));
    }
}
