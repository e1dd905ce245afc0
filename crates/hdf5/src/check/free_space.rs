//! Checks free-space managers, of heaps and of the file.

use super::Checker;
use super::reading::{AtOffset, Pointer, pointer};
use super::rule;
use crate::format::infrastructure::free_space_manager::Client;
use crate::format::infrastructure::free_space_manager::section_list::{
    SectionKind, SectionListContext, SectionSet,
};
use crate::format::infrastructure::{FreeSpaceManagerHeader, FreeSpaceSectionList};
use crate::format::{Address, Structure};
use hyperslab_core::{Decoder, Result};

/// The sections of a manager.
pub(super) struct FreeSpace {
    pub(super) sections: Vec<FreeSection>,
}

/// A free section, and its place in the list.
pub(super) struct FreeSection {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) kind: SectionKind,
    pub(super) byte: u64,
}

impl FreeSpace {
    /// The structure that contains the sections.
    pub(super) const LIST: &'static str = FreeSpaceSectionList::NAME;
}

impl Checker<'_> {
    /// The manager at `address`, with its sections in order of offset.
    pub(super) fn free_space(
        &mut self,
        address: Address,
        from: Pointer,
        client: Client,
    ) -> Result<Option<FreeSpace>> {
        const NAME: &str = FreeSpaceManagerHeader::NAME;
        let sizes = self.sizes();
        let lengths = u64::from(sizes.lengths);
        let len = FreeSpaceManagerHeader::header_len(&sizes);
        let Some(AtOffset { value: header, byte }) =
            self.structure::<FreeSpaceManagerHeader>(address, len, &sizes, from)?
        else {
            return Ok(None);
        };
        if header.client != client {
            let message = format!("manages space of {:?}, expected {client:?}", header.client);
            self.report(&rule::OWNER, NAME, byte + 5, message);
            return Ok(None);
        }
        let total = header.serialized_section_count.checked_add(header.unserialized_section_count);
        if total != Some(header.section_count) {
            let message = format!(
                "counts {} sections, {} in the list and {} not",
                header.section_count, header.serialized_section_count, header.unserialized_section_count
            );
            self.report(&rule::FREE_SPACE_COUNT, NAME, byte + 6 + lengths, message);
        }
        if header.section_list.is_undefined() {
            if header.serialized_section_count != 0 {
                let message = format!("{} sections in no list", header.serialized_section_count);
                self.report(&rule::FREE_SPACE_COUNT, NAME, byte + 6 + 2 * lengths, message);
            }
            return Ok(Some(FreeSpace { sections: Vec::new() }));
        }
        let list_at = byte + 14 + 5 * lengths;
        if header.section_list_used > header.section_list_allocated {
            let message = format!(
                "a section list of {} bytes, {} are allocated",
                header.section_list_used, header.section_list_allocated
            );
            self.report(&rule::FREE_SPACE_COUNT, NAME, list_at + u64::from(sizes.offsets), message);
        }
        let list = self.section_list(&header, address, pointer(NAME, list_at))?;
        let Some((AtOffset { value: list, byte: list_byte }, context)) = list else { return Ok(None) };
        let mut free = self.sections(&context, &list, list_byte);
        let bytes = free.sections.iter().fold(0_u64, |sum, section| sum.saturating_add(section.size));
        let all_listed = header.unserialized_section_count == 0
            && free.sections.iter().all(|s| matches!(s.kind, SectionKind::Single | SectionKind::File(_)));
        if all_listed && bytes != header.total_space || bytes > header.total_space {
            let message = format!("counts {} free bytes, its sections have {bytes}", header.total_space);
            self.report_bytes(&rule::FREE_SPACE_COUNT, NAME, byte + 6, Some(lengths), message);
        }
        free.sections.sort_by_key(|section| section.offset);
        Ok(Some(free))
    }

    fn section_list(
        &mut self,
        header: &FreeSpaceManagerHeader,
        owner: Address,
        from: Pointer,
    ) -> Result<Option<(AtOffset<FreeSpaceSectionList>, SectionListContext)>> {
        const NAME: &str = FreeSpaceSectionList::NAME;
        let used = header.section_list_used;
        let Some((byte, bytes)) = self.owned_bytes(NAME, header.section_list, used, from)? else {
            return Ok(None);
        };
        let context = self.section_list_context(header, byte, &bytes);
        let Some(value) = self.decode::<FreeSpaceSectionList>(byte, &bytes, &context)? else {
            return Ok(None);
        };
        let list = AtOffset { value, byte };
        let spare = header.section_list_allocated.saturating_sub(used);
        self.claim_spare(NAME, list.byte.saturating_add(used), spare);
        if list.value.header != owner {
            let message = format!("belongs to a manager at {}, expected {owner}", list.value.header);
            self.report(&rule::OWNER, NAME, list.byte + 5, message);
        }
        Ok(Some((list, context)))
    }

    /// libhdf5 before 1.10 stored section sizes in one byte less if the largest one is a power of 256.
    fn section_list_context(
        &self,
        header: &FreeSpaceManagerHeader,
        byte: u64,
        bytes: &[u8],
    ) -> SectionListContext {
        let context = header.section_list_context(&self.sizes());
        let older =
            u8::try_from(header.max_section_size.saturating_sub(1).checked_ilog2().unwrap_or(0) / 8 + 1);
        let older = SectionListContext { size_width: older.unwrap_or(8), ..context };
        let fits = |context: &SectionListContext| {
            let mut d = Decoder::new(FreeSpaceSectionList::NAME, byte, bytes);
            FreeSpaceSectionList::decode(&mut d, context).is_ok_and(|list| {
                let bytes = |set: &SectionSet| set.size.saturating_mul(set.sections.len() as u64);
                list.sets.iter().map(bytes).fold(0, u64::saturating_add) <= header.total_space
            })
        };
        if !fits(&context) && fits(&older) { older } else { context }
    }

    /// Reads the sections one by one. They must be in order of size and must not overlap.
    fn sections(
        &mut self,
        context: &SectionListContext,
        list: &FreeSpaceSectionList,
        list_byte: u64,
    ) -> FreeSpace {
        let sizes = self.sizes();
        let offset_width = u64::from(context.offset_width);
        let mut sections: Vec<FreeSection> = Vec::new();
        let mut byte = list_byte + 5 + u64::from(sizes.offsets);
        let mut last_size = 0;
        for set in &list.sets {
            if set.size <= last_size {
                let message = format!("sections of {} bytes behind those of {last_size}", set.size);
                self.report(&rule::FREE_SPACE_SECTION, FreeSpace::LIST, byte, message);
            }
            last_size = set.size;
            byte += u64::from(context.count_width) + u64::from(context.size_width);
            for section in &set.sections {
                let indirect = match &section.kind {
                    SectionKind::FirstRow(_) | SectionKind::Indirect(_) => offset_width + 6,
                    _ => 0,
                };
                let kind = section.kind.clone();
                sections.push(FreeSection { offset: section.offset, size: set.size, kind, byte });
                byte += offset_width + 1 + indirect;
            }
        }
        let mut order: Vec<usize> = (0..sections.len()).collect();
        order.sort_unstable_by_key(|at| sections.get(*at).map(|section| section.offset));
        for [one, other] in order.array_windows() {
            let (Some(one), Some(other)) = (sections.get(*one), sections.get(*other)) else { continue };
            if one.offset.saturating_add(one.size) > other.offset {
                let message = format!(
                    "the sections at {:#x} and {:#x} overlap, the first has {} bytes",
                    one.offset, other.offset, one.size
                );
                let at = other.byte;
                self.report(&rule::FREE_SPACE_SECTION, FreeSpace::LIST, at, message);
            }
        }
        FreeSpace { sections }
    }
}
