//! The mappings of a virtual dataset as they are stored, and which of their sources are missing.

use super::{Chain, MAX_SOURCES, Mapped, Mapping};
use crate::dataset::Dataset;
use crate::file::File;
use crate::format::encoding::DataspaceSelection;
use hyperslab_core::Result;
use std::sync::atomic::AtomicU32;

/// One mapping: elements of a virtual dataset, and the elements of another dataset that they are.
#[derive(Clone, Debug)]
pub struct SourceMapping<'a> {
    /// The name of the file of the source; `.` for the file itself. `%b` stands for the number of a block.
    pub file: String,
    /// The path of the source, which can contain `%b` too.
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

    /// Calls `visit` with the file and the path of each source that does not exist, so that elements have the fill value
    /// instead. Sources of sources are included. Of numbered sources, only the first one can be missing. The file is `.`
    /// if it is that of the virtual dataset.
    ///
    /// # Errors
    /// If a source exists and cannot be opened; the errors of `visit`.
    pub fn missing_sources(
        &self,
        file: &File,
        visit: &mut dyn FnMut(&str, &str) -> Result<()>,
    ) -> Result<()> {
        self.mapped.as_ref().map_or(Ok(()), |mapped| mapped.missing(file, None, visit))
    }
}

impl Mapped {
    fn missing(
        &self,
        file: &File,
        before: Option<&Chain<'_>>,
        visit: &mut dyn FnMut(&str, &str) -> Result<()>,
    ) -> Result<()> {
        let sources = AtomicU32::new(MAX_SOURCES);
        let chain = Chain::after(before, file, self.own, &sources)?;
        let mut last: Option<&Mapping> = None;
        for mapping in &self.mappings {
            // Neighbouring mappings often have the same source.
            let is_same = |last: &Mapping| (&last.file, &last.dataset) == (&mapping.file, &mapping.dataset);
            if last.is_some_and(is_same) {
                continue;
            }
            last = Some(mapping);
            let Some(source) = mapping.source(file, 0, &chain)? else {
                visit(&mapping.file.text(0), &mapping.dataset.text(0))?;
                continue;
            };
            if let Some(mapped) = &source.dataset.mapped {
                mapped.missing(source.file.get(), Some(&chain), visit)?;
            }
        }
        Ok(())
    }
}
