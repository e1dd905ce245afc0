//! Where the stored bytes of a dataset lie.

use super::array::{Array, ElementStorage};
use crate::file::File;
use crate::format::Address;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement, Container};
use hyperslab_core::{Error, Result};

impl Array {
    /// Calls `visit` with the place of each chunk that was written, in row-major order. A contiguous dataset is one
    /// chunk.
    ///
    /// # Errors
    /// If an address is invalid; the errors of `visit`.
    pub fn chunk_places(
        &self,
        file: &File,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        let Some(dims) = self.extents() else { return Ok(ChunkPlacement::All) };
        let origin = vec![0; dims.len()];
        match self.place() {
            ElementStorage::Compact(_) => return Ok(ChunkPlacement::InMetadata),
            ElementStorage::Mapped(..) => return Ok(ChunkPlacement::InOtherArrays),
            ElementStorage::Contiguous { address, .. } if address.is_undefined() => {}
            ElementStorage::Contiguous { address, size } => {
                let len = self.logical_bytes()?;
                if len > *size {
                    let detail = format!("{size} bytes are stored for elements of {len}");
                    return Err(Error::malformed(detail));
                }
                let piece = Piece { address: *address, len, filter_mask: 0 };
                piece.visit(file, &origin, visit)?;
            }
            ElementStorage::Chunked(chunks) => chunks.entries(&mut |start, entry| {
                let (address, len, filter_mask) = (entry.address, entry.size, entry.filter_mask);
                Piece { address, len, filter_mask }.visit(file, start, visit)
            })?,
            ElementStorage::External(external) => {
                external.segments(self.logical_bytes()?, &mut |name, offset, len, before| {
                    let container = Container::Named(name);
                    visit(ChunkPlace { start: &origin, container, offset, len, before, filter_mask: 0 })
                })?;
            }
        }
        Ok(ChunkPlacement::All)
    }
}

/// Bytes that are contiguous in the address space of the file, which a driver may have split over several files.
struct Piece {
    address: Address,
    len: u64,
    filter_mask: u32,
}

impl Piece {
    fn visit(
        self,
        file: &File,
        start: &[u64],
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<()> {
        let Piece { address, len, filter_mask } = self;
        let offset = file.reader().offset(CHUNK, address)?;
        let members = file.members();
        if members.is_empty() {
            let container = Container::Opened;
            return visit(ChunkPlace { start, container, offset, len, before: 0, filter_mask });
        }
        let end = offset.checked_add(len).ok_or_else(|| Error::malformed("a chunk that ends beyond 2^64"))?;
        let first = members.partition_point(|member| member.range.end <= offset);
        for member in members.iter().skip(first).take_while(|member| member.range.start < end) {
            let from = member.range.start.max(offset);
            let container = match &member.name {
                Some(name) => Container::Named(name),
                None => Container::Opened,
            };
            visit(ChunkPlace {
                start,
                container,
                offset: from - member.range.start,
                len: member.range.end.min(end) - from,
                before: from - offset,
                filter_mask,
            })?;
        }
        Ok(())
    }
}

const CHUNK: &str = "chunk";
