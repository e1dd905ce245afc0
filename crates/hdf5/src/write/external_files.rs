//! External files with the elements of a dataset: the heap of their names.
//!
//! Spec: HDF5 IV.A.2.h Data Storage - External Data Files and III.D Local Heaps

use super::Sink;
use super::sink::put;
use crate::format::infrastructure::LocalHeapHeader;
use crate::format::infrastructure::local_heap::LAST_FREE_BLOCK;
use crate::format::message::external_files::{ExternalFiles, Slot};
use crate::space::SpaceKind;
use hyperslab_core::{Encoder, Error, Result};

/// A part of an external file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSegment {
    /// The name of the file.
    pub file: Vec<u8>,
    /// The offset of the first byte in the file.
    pub offset: u64,
    /// The number of bytes; `u64::MAX` if the segment is unlimited.
    pub len: u64,
}

/// Writes the names of the files of a dataset. Returns its External Data Files message.
///
/// # Errors
/// If there are no segments, or more than the message can count; if a name contains NUL, or the heap cannot be written.
pub fn external_files(sink: &mut dyn Sink, segments: &[ExternalSegment]) -> Result<ExternalFiles> {
    if segments.is_empty() || segments.len() > u16::MAX.into() {
        return Err(Error::invalid(format!("{} external files, expected 1 to {}", segments.len(), u16::MAX)));
    }
    let mut names = Encoder::new();
    // As in libhdf5, the first name is empty. Like all heap objects, names begin at multiples of 8 bytes.
    names.reserved(ALIGNMENT);
    let mut slots = Vec::with_capacity(segments.len());
    for ExternalSegment { file, offset, len } in segments {
        if file.is_empty() || file.contains(&0) {
            return Err(Error::invalid(format!(
                "external file {:?}, expected a name without NUL",
                String::from_utf8_lossy(file)
            )));
        }
        slots.push(Slot { name_offset: names.len() as u64, offset: *offset, len: *len });
        names.bytes(file);
        names.u8(0);
        names.pad_to(0, ALIGNMENT);
    }
    let data_segment_size = names.len() as u64;
    let data_segment = sink.allocate(SpaceKind::Metadata, data_segment_size)?;
    sink.write(data_segment, names.as_slice())?;
    let header = LocalHeapHeader { data_segment_size, free_list_head: LAST_FREE_BLOCK, data_segment };
    let sizes = sink.sizes();
    let heap = put(sink, SpaceKind::Metadata, &header, &sizes)?;
    Ok(ExternalFiles { heap, slots, free_slots: 0 })
}

const ALIGNMENT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::message::Message;
    use crate::format::message::data_layout::{DataLayout, LayoutClass, Version};
    use crate::navigate::local_heap::LocalHeap;
    use crate::write::image::Image;
    use crate::write::test_datasets::integers;
    use crate::write::test_file::TestFile;

    fn segment(file: &str, offset: u64, len: u64) -> ExternalSegment {
        ExternalSegment { file: file.into(), offset, len }
    }

    #[test]
    fn names_and_places_are_read_back() {
        let segments = [segment("a", 0, 10), segment("seven_7", 3, 5), segment("eight_88", 1, u64::MAX)];
        for sizes in [2, 4, 8].map(|width| Sizes { offsets: width, lengths: width }) {
            let (image, message) = Image::write(sizes, &mut |sink| external_files(sink, &segments)).unwrap();
            let heap = LocalHeap::open(&image.reader(), message.heap).unwrap();
            for (segment, slot) in segments.iter().zip(&message.slots) {
                assert_eq!(heap.name(slot.name_offset).unwrap(), segment.file);
                assert_eq!((slot.offset, slot.len), (segment.offset, segment.len));
            }
            assert_eq!(heap.name(0).unwrap(), b"");
            assert_eq!(heap.header().data_segment_size, 8 + 8 + 8 + 16);
        }
    }

    #[test]
    fn a_dataset_in_external_files_is_valid() {
        let file = TestFile::write_datasets(&mut |sink| {
            let class = LayoutClass::Contiguous {
                address: crate::format::Address::UNDEFINED,
                size: Some(80),
                dimensions: Vec::new(),
            };
            let layout = Message::DataLayout(DataLayout { version: Version::V3, class });
            let mut messages = integers(&[40], &[40], 2, layout);
            let segments = [segment("a.raw", 0, 30), segment("b.raw", 8, 50)];
            messages.push(Message::ExternalFiles(external_files(sink, &segments)?));
            Ok(vec![("d", messages)])
        });
        file.check();
    }

    #[test]
    fn names_and_numbers_that_do_not_fit_are_refused() {
        let many = vec![segment("a", 0, 1); 65_536];
        for segments in [&[][..], &many, &[segment("", 0, 1)], &[segment("a\0", 0, 1)]] {
            assert!(Image::write(Sizes::DEFAULT, &mut |sink| external_files(sink, segments)).is_err());
        }
    }
}
