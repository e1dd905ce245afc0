//! The stored mappings of a virtual dataset, and which of their sources are missing.

use super::{Chain, Kind, MAX_MISSING, MAX_SOURCES, Mapped, Mapping};
use crate::dataset::Dataset;
use crate::dataset::named::MissingSource;
use crate::file::File;
use crate::format::encoding::DataspaceSelection;
use hyperslab_core::Result;
use std::sync::atomic::AtomicU32;

/// One mapping: elements of a virtual dataset, and the elements of another dataset that they come from.
#[derive(Clone, Debug)]
pub struct SourceMapping<'a> {
    /// The name of the file of the source; `.` for the file itself. `%b` stands for the number of a block, `%%` for a
    /// percent sign.
    pub file: String,
    /// The path of the source, in the same form.
    pub dataset: String,
    /// The elements of the virtual dataset.
    pub here: &'a DataspaceSelection,
    /// The elements of the source.
    pub there: &'a DataspaceSelection,
}

impl Dataset {
    /// The mappings of a virtual dataset, in stored order; none for other datasets.
    pub fn mappings(&self) -> impl Iterator<Item = SourceMapping<'_>> {
        self.mapped.iter().flat_map(|mapped| &mapped.mappings).map(|mapping| SourceMapping {
            file: mapping.file.pattern(),
            dataset: mapping.dataset.pattern(),
            here: &mapping.here,
            there: &mapping.there,
        })
    }
}

impl Mapped {
    /// Calls `visit` with each source that does not exist, as
    /// [`missing_sources`](Dataset::missing_sources) does.
    pub(crate) fn missing(
        &self,
        file: &File,
        extents: &[u64],
        before: Option<&Chain<'_>>,
        visit: &mut dyn FnMut(MissingSource<'_>) -> Result<()>,
    ) -> Result<()> {
        let sources = AtomicU32::new(MAX_SOURCES);
        let chain = Chain::after(before, file, self.own, &sources)?;
        let mut last: Option<&Mapping> = None;
        // The number of numbered sources with these names that were looked for.
        let mut tried = 0;
        for mapping in &self.mappings {
            // Neighbouring mappings often have the same source. Each numbered mapping has its own number of blocks.
            let is_same = |last: &Mapping| (&last.file, &last.dataset) == (&mapping.file, &mapping.dataset);
            if !last.is_some_and(is_same) {
                tried = 0;
            }
            last = Some(mapping);
            let mut missing = 0;
            let untried = tried..u64::from(MAX_SOURCES);
            for number in untried {
                if number > 0 && !mapping.has_block(number, extents) {
                    break;
                }
                tried = number + 1;
                let Some(source) = mapping.source(file, number, &chain)? else {
                    let (file, path) = (mapping.file.text(number), mapping.dataset.text(number));
                    visit(MissingSource::Dataset { file: &file, path: &path })?;
                    missing += 1;
                    // Reading is then refused.
                    if missing > MAX_MISSING {
                        break;
                    }
                    continue;
                };
                source.dataset.missing_after(source.file.get(), Some(&chain), visit)?;
            }
        }
        Ok(())
    }
}

impl Mapping {
    /// Whether the block of the numbered source begins within the extents of the virtual dataset.
    fn has_block(&self, number: u64, extents: &[u64]) -> bool {
        let Kind::Numbered { here } = self.kind else { return false };
        let extent = extents.get(here).copied().unwrap_or(0);
        self.block(here, number).is_some_and(|block| block.start < extent)
    }
}
