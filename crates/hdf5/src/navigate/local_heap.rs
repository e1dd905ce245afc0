//! Names in local heaps.
//!
//! Spec: HDF5 III.D Disk Format: Level 1D - Local Heaps

use crate::format::Address;
use crate::format::infrastructure::LocalHeapHeader;
use crate::navigate::Reader;
use bytes::Bytes;
use hyperslab_core::{Charge, Error, Result};

/// A local heap with its data segment. Returns the text at an offset.
pub struct LocalHeap {
    header: LocalHeapHeader,
    data: Bytes,
    data_offset: u64,
    _charge: Charge,
}

impl LocalHeap {
    /// Reads the whole heap at `address`.
    pub fn open(reader: &Reader, address: Address) -> Result<Self> {
        let sizes = reader.sizes();
        let header: LocalHeapHeader = reader.structure(address, LocalHeapHeader::len(sizes), sizes)?;
        let len = header.data_segment_size;
        let data_offset = reader.offset(DATA_SEGMENT, header.data_segment)?;
        if len > reader.len()? {
            return Err(Error::malformed(format!("{len} bytes, more than the file has"))
                .at(DATA_SEGMENT, data_offset));
        }
        let charge = reader.budget().charge(len)?;
        let data = reader.bytes(DATA_SEGMENT, header.data_segment, len)?;
        Ok(LocalHeap { header, data, data_offset, _charge: charge })
    }

    /// The header.
    pub fn header(&self) -> &LocalHeapHeader {
        &self.header
    }

    /// The text at `offset` of the data segment, without the NUL that ends it.
    ///
    /// # Errors
    /// If it begins or ends outside the data segment.
    pub fn name(&self, offset: u64) -> Result<&[u8]> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.data.get(offset..));
        let name =
            rest.and_then(|rest| rest.split(|byte| *byte == 0).next().filter(|n| n.len() < rest.len()));
        name.ok_or_else(|| {
            Error::malformed(format!(
                "text at offset {offset} does not end within the {} bytes of the segment",
                self.data.len()
            ))
            .at(DATA_SEGMENT, self.data_offset)
        })
    }
}

const DATA_SEGMENT: &str = "Local Heap Data Segment";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Sizes, Structure};
    use hyperslab_core::{Encoder, ErrorKind, Limits};

    fn heap(size: u64, data: &[u8]) -> Result<LocalHeap> {
        let header =
            LocalHeapHeader { data_segment_size: size, free_list_head: 1, data_segment: Address(32) };
        let mut e = Encoder::new();
        header.encode(&mut e, &Sizes::DEFAULT).unwrap();
        e.bytes(data);
        let reader = Reader::new(Box::new(Bytes::from(e.into_bytes())), 0, Sizes::DEFAULT, Limits::default());
        LocalHeap::open(&reader, Address(0))
    }

    #[test]
    fn names_end_at_their_nul() {
        let heap = heap(12, b"\0one\0two\0rest").unwrap();
        assert_eq!(heap.name(0).unwrap(), b"");
        assert_eq!(heap.name(1).unwrap(), b"one");
        assert_eq!(heap.name(6).unwrap(), b"wo");
    }

    #[test]
    fn names_past_the_segment_are_refused() {
        let heap = heap(12, b"\0one\0two\0res\0").unwrap();
        for offset in [9, 11, 12, 13, u64::MAX] {
            let e = heap.name(offset).unwrap_err();
            assert_eq!((e.kind(), e.place().unwrap().offset), (ErrorKind::Malformed, 32), "{offset}");
        }
    }

    #[test]
    fn a_segment_longer_than_the_file_is_refused_before_it_is_allocated() {
        for size in [14, 1 << 40, u64::MAX] {
            assert_eq!(heap(size, b"\0one").err().unwrap().kind(), ErrorKind::Malformed, "{size}");
        }
    }
}
