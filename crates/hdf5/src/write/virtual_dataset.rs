//! Virtual datasets: their mappings in the global heap.
//!
//! Spec: HDF5 III.F Disk Format: Level 1F - Global Heap Block for Virtual Datasets

use super::{GlobalHeapWriter, LibraryVersion, Sink};
use crate::format::encoding::DataspaceSelection;
use crate::format::infrastructure::VirtualDatasetBlock;
use crate::format::infrastructure::virtual_dataset_block::{Mapping, SourceFile, SourceName, Version};
use crate::format::message::data_layout::{DataLayout, LayoutClass, Version as LayoutVersion};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Encoder, Result};
use rustc_hash::FxHashMap;

/// A part of a virtual dataset, and the elements that it takes from another dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualMapping {
    /// The name of the source file; `.` is the file itself.
    pub file: Vec<u8>,
    /// The name of the source dataset.
    pub dataset: Vec<u8>,
    /// The selected elements of the source.
    pub source_selection: DataspaceSelection,
    /// The selected elements of the virtual dataset.
    pub virtual_selection: DataspaceSelection,
}

/// Adds the mappings of a dataset to the heap. Returns its Data Layout message.
///
/// # Errors
/// If virtual datasets are too new for `high`, a name contains NUL, or the heap cannot be written.
pub fn virtual_layout(
    sink: &mut dyn Sink,
    heap: &mut GlobalHeapWriter,
    mappings: &[VirtualMapping],
    low: LibraryVersion,
    high: LibraryVersion,
) -> Result<DataLayout> {
    high.allow(LibraryVersion::V1_10, "virtual datasets")?;
    let class = match mappings {
        [] => LayoutClass::Virtual { heap: Address::UNDEFINED, index: 0 },
        _ => {
            let block = block(mappings, low, &sink.sizes())?;
            let id = heap.put(sink, &block)?;
            LayoutClass::Virtual { heap: id.collection, index: id.index }
        }
    };
    Ok(DataLayout { version: LayoutVersion::V4, class })
}

/// The block in its oldest version or, if only libraries that can read version 1 need to read it, in the smaller one.
fn block(mappings: &[VirtualMapping], low: LibraryVersion, sizes: &Sizes) -> Result<Vec<u8>> {
    let plain = |mapping: &VirtualMapping| Mapping {
        source_file: SourceFile::Named(SourceName::Here(mapping.file.clone())),
        source_dataset: SourceName::Here(mapping.dataset.clone()),
        source_selection: mapping.source_selection.clone(),
        virtual_selection: mapping.virtual_selection.clone(),
    };
    let mut mappings: Vec<Mapping> = mappings.iter().map(plain).collect();
    let encoded = |version, mappings: &[Mapping]| -> Result<Vec<u8>> {
        let mut e = Encoder::new();
        VirtualDatasetBlock { version, mappings: mappings.to_vec() }.encode(&mut e, sizes)?;
        Ok(e.into_bytes())
    };
    let old = encoded(Version::V0, &mappings)?;
    if low < LibraryVersion::V2_0 {
        return Ok(old);
    }
    share_names(&mut mappings, sizes);
    let new = encoded(Version::V1, &mappings)?;
    Ok(if new.len() <= old.len() { new } else { old })
}

/// Replaces names with references to earlier mappings, if that is shorter.
fn share_names(mappings: &mut [Mapping], sizes: &Sizes) {
    let (mut files, mut datasets) = (FxHashMap::default(), FxHashMap::default());
    for (number, mapping) in (0_u64..).zip(mappings) {
        if mapping.source_file == SourceFile::Named(SourceName::Here(b".".to_vec())) {
            mapping.source_file = SourceFile::Same;
        }
        if let SourceFile::Named(name) = &mut mapping.source_file {
            share(name, &mut files, number, sizes);
        }
        share(&mut mapping.source_dataset, &mut datasets, number, sizes);
    }
}

fn share(name: &mut SourceName, first: &mut FxHashMap<Vec<u8>, u64>, number: u64, sizes: &Sizes) {
    let SourceName::Here(text) = name else { return };
    if text.len() < sizes.lengths.into() {
        return;
    }
    match first.get(text) {
        Some(earlier) => *name = SourceName::Shared(*earlier),
        None => {
            first.insert(text.clone(), number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::Message;
    use crate::navigate::global_heap::GlobalHeap;
    use crate::write::image::Image;
    use crate::write::test_datasets::integers;
    use crate::write::test_file::TestFile;
    use hyperslab_core::Decoder;
    use hyperslab_core::nd::{Region, Selection};

    fn mapping(file: &str, dataset: &str, row: u64) -> VirtualMapping {
        let row = Region { start: vec![row, 0], count: vec![1, 10], step: vec![1, 1] };
        VirtualMapping {
            file: file.into(),
            dataset: dataset.into(),
            source_selection: DataspaceSelection::All,
            virtual_selection: DataspaceSelection::of(&Selection::Region(row)).unwrap(),
        }
    }

    fn stored(mappings: &[VirtualMapping], low: LibraryVersion, sizes: Sizes) -> VirtualDatasetBlock {
        let (image, layout) = Image::write(sizes, &mut |sink| {
            let mut heap = GlobalHeapWriter::new();
            let layout = virtual_layout(sink, &mut heap, mappings, low, LibraryVersion::V2_0)?;
            heap.finish(sink)?;
            Ok(layout)
        })
        .unwrap();
        let LayoutClass::Virtual { heap, index } = layout.class else { panic!("{layout:?}") };
        let bytes = GlobalHeap::new().object(&image.reader(), heap, index).unwrap();
        VirtualDatasetBlock::decode(&mut Decoder::new("t", 0, &bytes), &sizes).unwrap()
    }

    #[test]
    fn mappings_are_read_back() {
        let same = "a dataset with a name";
        let mappings = [
            mapping("a file with a name", same, 0),
            mapping("a file with a name", "d", 1),
            mapping(".", same, 2),
            mapping("a file with a name", "another dataset", 3),
            mapping("f", "another dataset", 4),
        ];
        for sizes in [4, 8].map(|width| Sizes { offsets: width, lengths: width }) {
            for low in LibraryVersion::ALL {
                let block = stored(&mappings, low, sizes);
                let version = if low < LibraryVersion::V2_0 { Version::V0 } else { Version::V1 };
                assert_eq!(block.version, version);
                let sources = block.sources().unwrap();
                for ((mapping, source), stored) in mappings.iter().zip(&sources).zip(&block.mappings) {
                    assert_eq!((source.file, source.dataset), (&*mapping.file, &*mapping.dataset));
                    assert_eq!(stored.virtual_selection, mapping.virtual_selection);
                }
            }
        }
    }

    #[test]
    fn a_file_with_a_virtual_dataset_is_valid() {
        for low in [LibraryVersion::V1_10, LibraryVersion::V2_0] {
            let file = TestFile::write_datasets(&mut |sink| {
                let mut heap = GlobalHeapWriter::new();
                let class = LayoutClass::Compact { data: (0..20).collect(), dimensions: Vec::new() };
                let source = Message::DataLayout(DataLayout { version: LayoutVersion::V3, class });
                let name = "a source with a name";
                let mappings = [0, 1, 2].map(|row| mapping(".", name, row));
                let layout = virtual_layout(sink, &mut heap, &mappings, low, LibraryVersion::V2_0)?;
                heap.finish(sink)?;
                Ok(vec![
                    (name, integers(&[10], &[10], 2, source)),
                    ("d", integers(&[3, 10], &[3, 10], 2, Message::DataLayout(layout))),
                ])
            });
            file.check();
        }
    }

    #[test]
    fn version_1_is_written_only_if_it_is_not_larger() {
        let few = [mapping("f", "d", 0), mapping("f", "d", 1)];
        assert_eq!(stored(&few, LibraryVersion::V2_0, Sizes::DEFAULT).version, Version::V0);
        // A flag for each mapping, and one byte less for the file itself.
        let own = [mapping(".", "d", 0), mapping(".", "d", 1)];
        assert_eq!(stored(&own, LibraryVersion::V2_0, Sizes::DEFAULT).version, Version::V1);
    }

    #[test]
    fn what_cannot_be_stored_is_refused() {
        let (none, nul) = (vec![], vec![mapping("a\0b", "d", 0)]);
        for (mappings, high, expected) in [
            (none, LibraryVersion::V1_8, "virtual datasets need HDF5 v1.10, expected at most v1.8"),
            (nul, LibraryVersion::V2_0, "the name of a source contains NUL"),
        ] {
            let result = Image::write(Sizes::DEFAULT, &mut |sink| {
                let mut heap = GlobalHeapWriter::new();
                virtual_layout(sink, &mut heap, &mappings, LibraryVersion::Earliest, high)
            });
            assert_eq!(result.unwrap_err().to_string(), expected);
        }
        let (_, layout) = Image::write(Sizes::DEFAULT, &mut |sink| {
            let mut heap = GlobalHeapWriter::new();
            virtual_layout(sink, &mut heap, &[], LibraryVersion::V1_10, LibraryVersion::V1_10)
        })
        .unwrap();
        assert_eq!(layout.class, LayoutClass::Virtual { heap: Address::UNDEFINED, index: 0 });
    }
}
