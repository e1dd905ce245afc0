//! Allocation at the end of a growing file.

use crate::format::{Address, Sizes};
use hyperslab_core::{Error, Result};

/// The content of allocated bytes. With paged file space, the kinds lie in different pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceKind {
    /// Headers, trees, heaps and indexes.
    Metadata,
    /// Elements, and the global heaps that they refer to.
    Raw,
}

/// The allocated bytes of a file, from its start to the end of allocation. Nothing is ever freed.
///
/// Without pages, allocations follow one another without gaps. With pages, an allocation smaller than a page never
/// crosses the end of one, and a larger one begins at the start of one.
#[derive(Clone, Debug)]
pub struct Space {
    sizes: Sizes,
    end: u64,
    pages: Option<Pages>,
}

/// The pages that are not full, one of each kind.
#[derive(Clone, Debug)]
struct Pages {
    size: u64,
    metadata: Room,
    raw: Room,
}

/// The free bytes at the end of a page.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    next: u64,
    end: u64,
}

impl Space {
    /// The space of a file whose first `start` bytes are allocated: those of its superblock.
    pub fn new(sizes: Sizes, start: u64) -> Self {
        Space { sizes, end: start, pages: None }
    }

    /// The space of a file with pages of this size in bytes. The first page holds the superblock and metadata.
    #[must_use]
    pub fn with_pages(mut self, size: u64) -> Self {
        let metadata = Room { next: self.end, end: self.end.next_multiple_of(size) };
        self.end = metadata.end;
        self.pages = Some(Pages { size, metadata, raw: Room::default() });
        self
    }

    /// The end of allocation: the size of the file without user block.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Allocates `len` bytes.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if addresses of the file are too narrow for them.
    pub fn allocate(&mut self, kind: SpaceKind, len: u64) -> Result<Address> {
        let (address, end) = match &mut self.pages {
            None => (self.end, self.end.checked_add(len)),
            Some(pages) => pages.allocate(kind, len, self.end),
        };
        let end = end.filter(|end| *end <= max_address(self.sizes)).ok_or_else(|| self.full(len))?;
        self.end = end;
        Ok(Address(address))
    }

    fn full(&self, len: u64) -> Error {
        Error::invalid(format!(
            "{len} bytes at {:#x} have no address of {} bytes, expected a file that ends before {:#x}",
            self.end,
            self.sizes.offsets,
            max_address(self.sizes)
        ))
    }
}

impl Pages {
    /// The address of `len` bytes, and the end of allocation after that; `None` for the end if it is past 2^64.
    fn allocate(&mut self, kind: SpaceKind, len: u64, end: u64) -> (u64, Option<u64>) {
        let room = match kind {
            SpaceKind::Metadata => &mut self.metadata,
            SpaceKind::Raw => &mut self.raw,
        };
        if len <= room.end - room.next {
            let address = room.next;
            room.next += len;
            return (address, Some(end));
        }
        // The end is always the end of a page.
        let Some(used) = end.checked_add(len) else { return (end, None) };
        let Some(new_end) = used.checked_next_multiple_of(self.size) else { return (end, None) };
        if len < self.size {
            *room = Room { next: used, end: new_end };
        }
        (end, Some(new_end))
    }
}

/// The largest address: the next one is the undefined address.
fn max_address(sizes: Sizes) -> u64 {
    match sizes.offsets {
        width @ 0..8 => (1 << (8 * u32::from(width))) - 2,
        // Positions in files are signed.
        _ => i64::MAX as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_follow_one_another() {
        let mut space = Space::new(Sizes::DEFAULT, 48);
        assert_eq!(space.allocate(SpaceKind::Metadata, 10).unwrap(), Address(48));
        assert_eq!(space.allocate(SpaceKind::Raw, 1).unwrap(), Address(58));
        assert_eq!(space.end(), 59);
    }

    #[test]
    fn small_allocations_cross_no_page_and_kinds_lie_apart() {
        let mut space = Space::new(Sizes::DEFAULT, 48).with_pages(512);
        let mut at = |kind, len| space.allocate(kind, len).unwrap().0;
        assert_eq!(at(SpaceKind::Metadata, 400), 48);
        assert_eq!(at(SpaceKind::Raw, 100), 512);
        assert_eq!(at(SpaceKind::Metadata, 100), 1024);
        assert_eq!(at(SpaceKind::Raw, 412), 612);
        assert_eq!(at(SpaceKind::Raw, 1000), 1536);
        assert_eq!(at(SpaceKind::Raw, 512), 2560);
        assert_eq!(at(SpaceKind::Metadata, 412), 1124);
        assert_eq!(space.end(), 3072);
    }

    #[test]
    fn addresses_that_do_not_fit_are_refused() {
        let mut space = Space::new(Sizes { offsets: 2, lengths: 2 }, 48);
        assert!(space.allocate(SpaceKind::Raw, 0xfffe - 48 + 1).is_err());
        assert!(space.allocate(SpaceKind::Raw, 0xfffe - 48).is_ok());
        assert!(space.allocate(SpaceKind::Raw, 1).is_err());
        let mut space = Space::new(Sizes::DEFAULT, 48).with_pages(4096);
        assert!(space.allocate(SpaceKind::Raw, u64::MAX - 100).is_err());
    }
}
