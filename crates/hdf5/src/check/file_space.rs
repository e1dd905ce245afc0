//! Checks file space information and the free-space managers of the file.

use super::extents::Hold;
use super::free_space::FreeSpace;
use super::reading::pointer;
use super::rule;
use super::{Checker, objects};
use crate::format::infrastructure::free_space_manager::Client;
use crate::format::message::file_space_info::{FileSpaceInfo, StrategyV0, StrategyV1};
use crate::format::{Address, Structure};
use hyperslab_core::Result;

/// The message of the superblock extension, kept until the whole file is known.
pub(super) struct Known {
    info: FileSpaceInfo,
    byte: u64,
}

impl Checker<'_> {
    pub(super) fn keep_file_space(&mut self, info: FileSpaceInfo, byte: u64) {
        self.file_space = Some(Known { info, byte });
    }

    /// Claims free space, which nothing else may claim.
    pub(super) fn check_file_space(&mut self) -> Result<()> {
        const NAME: &str = FileSpaceInfo::NAME;
        self.current = objects::FILE;
        let Some(Known { info, byte }) = self.file_space.take() else { return Ok(()) };
        let sizes = self.sizes();
        let (offsets, lengths) = (u64::from(sizes.offsets), u64::from(sizes.lengths));
        let (managers, first): (&[Address], u64) = match &info {
            FileSpaceInfo::V0 { strategy: StrategyV0::AllPersist { managers }, .. } => {
                (managers, byte + 2 + lengths)
            }
            FileSpaceInfo::V0 { .. } => (&[], byte),
            FileSpaceInfo::V1 { end_of_allocation, managers, strategy, page_size, .. } => {
                // Managers that persist have no address in a file without free space to manage.
                let is_managed = managers.is_some_and(|all| all.iter().any(|of| !of.is_undefined()));
                if *strategy == StrategyV1::Page && !is_managed {
                    self.page_size = Some(*page_size);
                }
                let at = byte + 5 + 2 * lengths;
                let end = end_of_allocation.get().and_then(|end| end.checked_add(self.base));
                if end.is_some_and(|end| end > self.end) {
                    let message =
                        format!("space was allocated up to {end_of_allocation}, past the end of the file");
                    self.report(&rule::FILE_SPACE, NAME, at, message);
                }
                (managers.as_ref().map_or(&[], |managers| managers.as_slice()), at + offsets)
            }
        };
        for (number, address) in (0_u64..).zip(managers) {
            if address.is_undefined() {
                continue;
            }
            let from = pointer(NAME, first + number * offsets);
            let Some(free) = self.free_space(*address, from, Client::File)? else { continue };
            for section in &free.sections {
                let start = section.offset.checked_add(self.base);
                let end = start.and_then(|start| start.checked_add(section.size));
                match (start, end) {
                    (Some(start), Some(end)) if end <= self.end => {
                        self.claim_as(Hold::Free, "free section", start, end - start);
                    }
                    _ => {
                        let message = format!(
                            "{} bytes at {:#x} reach past the end of the file",
                            section.size, section.offset
                        );
                        self.report(&rule::FREE_SPACE_SECTION, FreeSpace::LIST, section.byte, message);
                    }
                }
            }
        }
        Ok(())
    }
}
