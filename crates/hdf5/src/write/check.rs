//! Finds what a file cannot hold before anything is written.

use super::{FileOptions, LibraryVersion, NewDataset, NewLayout, NewObject};
use hyperslab_core::{Error, Result};

impl NewObject {
    /// Checks that the headers of a file with these options can hold the attributes.
    ///
    /// # Errors
    /// If the elements of an attribute do not fit in a message of a version 1 header.
    pub fn check(&self, options: &FileOptions) -> Result<()> {
        if options.low != LibraryVersion::Earliest || options.shared_messages.is_some() {
            return Ok(());
        }
        for attribute in &self.attributes {
            let size = u64::from(attribute.datatype.datatype.size);
            let count = attribute.extent.element_count();
            let len = count.and_then(|count| count.checked_mul(size)).unwrap_or(u64::MAX);
            if len > u64::from(u16::MAX) {
                let name = String::from_utf8_lossy(&attribute.name);
                return Err(Error::invalid(format!(
                    "the attribute {name:?} of {len} bytes does not fit in an object header of version 1, which has \
                     at most {} in a message: the lowest version must be v1.8 or later, not {}",
                    u16::MAX,
                    options.low
                )));
            }
        }
        Ok(())
    }
}

impl NewDataset {
    /// Checks that a file with these options can hold the dataset: its attributes, rank, size and chunks.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument), which states what the file can hold.
    pub fn check(&self, options: &FileOptions) -> Result<()> {
        self.object.check(options)?;
        self.check_rank()?;
        let bytes = self.bytes();
        let width = options.sizes.lengths;
        let holds = u64::MAX.checked_shr(64_u32.saturating_sub(u32::from(width) * 8)).unwrap_or(u64::MAX);
        match &self.layout {
            NewLayout::Compact => self.compact_len(bytes).map(drop),
            NewLayout::Contiguous if bytes.is_none_or(|bytes| bytes > holds) => Err(Error::invalid(format!(
                "elements of {} bytes in a file with lengths of {width} bytes, expected lengths of 4 or 8",
                bytes.map_or("more than 2^64".to_owned(), |bytes| bytes.to_string())
            ))),
            NewLayout::Chunked { .. } => match self.chunked(&options.sizes) {
                Some(storage) => storage.choose(options.low, options.high).map(drop),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::message::dataspace::Extent;
    use crate::format::message::fill_value::{AllocationTime, WriteTime};
    use crate::write::test_datasets::integer;
    use crate::write::{NewDatatype, NewFill};

    fn bytes(extent: Extent, layout: NewLayout) -> NewDataset {
        NewDataset {
            object: NewObject::default(),
            datatype: NewDatatype { datatype: integer(1), committed: None },
            extent,
            layout,
            filters: Vec::new(),
            fill: NewFill::Default,
            allocation_time: AllocationTime::Late,
            write_time: WriteTime::IfSet,
        }
    }

    #[test]
    fn what_a_file_cannot_hold_is_refused_with_what_it_can() {
        let options = FileOptions::default();
        let dims =
            |dims: &[u64]| Extent::Simple { dimensions: dims.to_vec(), maximum: None, permutation: None };
        let refused = |dataset: NewDataset, options: &FileOptions| {
            dataset.check(options).map_err(|e| e.to_string()).unwrap_err()
        };
        bytes(dims(&[1; 32]), NewLayout::Contiguous).check(&options).unwrap();
        let rank = refused(bytes(dims(&[1; 33]), NewLayout::Contiguous), &options);
        assert!(rank.contains("33 dimensions, expected at most 32"), "{rank}");
        let compact = refused(bytes(dims(&[1 << 20]), NewLayout::Compact), &options);
        assert!(compact.contains("compact dataset of more than"), "{compact}");
        let narrow = FileOptions { sizes: Sizes { offsets: 2, lengths: 2 }, ..options.clone() };
        let wide = refused(bytes(dims(&[1 << 20]), NewLayout::Contiguous), &narrow);
        assert!(wide.contains("lengths of 2 bytes, expected lengths of 4 or 8"), "{wide}");
        let old = FileOptions { high: LibraryVersion::V1_8, ..options };
        let chunk = NewLayout::Chunked { shape: vec![5 << 30], unfiltered_edges: false };
        let large = refused(bytes(dims(&[6 << 30]), chunk), &old);
        assert!(large.contains("need HDF5 v2.0, expected at most v1.8"), "{large}");
    }
}
