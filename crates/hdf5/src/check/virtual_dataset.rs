//! Checks virtual datasets: the mappings, and sources in the same file.

use super::Checker;
use super::dataset::Described;
use super::objects::shown;
use super::reading::pointer;
use super::rule;
use crate::dataset::first_name;
use crate::format::infrastructure::GlobalHeapId;
use crate::format::infrastructure::virtual_dataset_block::VirtualDatasetBlock;
use crate::format::message::data_layout::DataLayout;
use crate::format::{Address, Structure};
use hyperslab_core::Result;
use rustc_hash::FxHashSet;

impl Checker<'_> {
    pub(super) fn virtual_dataset(&mut self, described: &Described, heap: Address, index: u32) -> Result<()> {
        const NAME: &str = VirtualDatasetBlock::NAME;
        self.collections.is_whole &= described.pointers.is_none();
        if heap.is_undefined() {
            return Ok(());
        }
        let from = pointer(DataLayout::NAME, described.layout_at + 2);
        let Some(object) = self.heap_element(GlobalHeapId { collection: heap, index }, from)? else {
            return Ok(());
        };
        let Some(bytes) = self.heap_element_bytes(&object)? else { return Ok(()) };
        self.part(NAME, object.byte, object.len);
        let Some(block) = self.decode::<VirtualDatasetBlock>(object.byte, &bytes, &self.sizes())? else {
            return Ok(());
        };
        let rank = described.dataspace.as_ref().map(|dataspace| dataspace.dimensions().len() as u64);
        for (number, mapping) in block.mappings.iter().enumerate() {
            let own = mapping.virtual_selection.rank().map(u64::from);
            if own.is_some() && rank.is_some() && own != rank {
                let message = format!(
                    "mapping {number} selects in {} dimensions, the dataset has {}",
                    own.unwrap_or_default(),
                    rank.unwrap_or_default()
                );
                self.report(&rule::VIRTUAL_MAPPING, NAME, object.byte, message);
            }
        }
        let sources = match block.sources() {
            Ok(sources) => sources,
            Err(error) => {
                return self.error_as(error, &rule::VIRTUAL_MAPPING, Some(pointer(NAME, object.byte)));
            }
        };
        // A name that many mappings share is stored once, and reported once.
        let mut told = FxHashSet::default();
        for (number, source) in sources.iter().enumerate() {
            let names = [source.file, source.dataset].map(|name| (name.as_ptr(), name.len()));
            if !told.insert(names) {
                continue;
            }
            if source.file == b"." {
                self.sources.push((self.current, source.dataset.to_vec(), object.byte));
                continue;
            }
            let message = format!(
                "mapping {number} takes its elements from {} in the file {}",
                shown(source.dataset),
                shown(source.file)
            );
            self.report(&rule::EXTERNAL_DATA, NAME, object.byte, message);
            // Of numbered files, the first must exist.
            if let Ok(name) = first_name(source.file) {
                self.check_presence(&name, pointer(NAME, object.byte));
            }
        }
        Ok(())
    }

    /// Reports missing sources in the same file, whose elements are fill values.
    pub(super) fn check_virtual_sources(&mut self) {
        for (object, path, byte) in std::mem::take(&mut self.sources) {
            // A name with the number of a block stands for many sources.
            if path.contains(&b'%') || !self.complete || self.path_exists(&path) != Some(false) {
                continue;
            }
            let message =
                format!("the source {} does not exist, its elements read as fill values", shown(&path));
            self.about(object, |checker| {
                checker.report(&rule::VIRTUAL_SOURCE, VirtualDatasetBlock::NAME, byte, message);
            });
        }
    }
}
