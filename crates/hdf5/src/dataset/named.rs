//! Other files that an object names: external files of raw bytes and the sources of virtual datasets.

use super::Dataset;
use super::external::External;
use super::mapped::{Chain, Mapped};
use crate::file::File;
use crate::format::message::HeaderMessage;
use crate::format::message::data_layout::{DataLayout, LayoutClass};
use crate::format::message::dataspace::Dataspace;
use crate::format::message::external_files::ExternalFiles;
use crate::object::{Object, ObjectKind};
use hyperslab_core::Result;

/// Why an object refers to another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedFor {
    /// Its elements are bytes of that file.
    RawData,
    /// Its elements are those of datasets in that file.
    Source,
}

/// Elements that a dataset takes from elsewhere but that are missing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingSource<'a> {
    /// A dataset that a virtual dataset takes elements from: its file, `.` for the same file, and its path.
    Dataset {
        /// The name of the file.
        file: &'a str,
        /// The path of the dataset.
        path: &'a str,
    },
    /// Bytes past the end of an external file of raw bytes.
    Bytes {
        /// The name of the file.
        file: &'a str,
        /// The number of bytes of elements in the file.
        found: u64,
        /// The number of bytes of elements that it should have.
        expected: u64,
    },
}

impl Dataset {
    /// Calls `visit` with each source of a virtual dataset that does not exist, whose elements then read as the fill
    /// value, and with each external file that ends too early, whose missing elements read as zeros. Sources of sources
    /// are included, and for numbered sources, all whose blocks are within the extents.
    ///
    /// # Errors
    /// If a source exists and cannot be opened, or an external file does not exist; the errors of `visit`.
    pub fn missing_sources(
        &self,
        file: &File,
        visit: &mut dyn FnMut(MissingSource<'_>) -> Result<()>,
    ) -> Result<()> {
        self.missing_after(file, None, visit)
    }

    /// As [`missing_sources`](Dataset::missing_sources), for a source of the virtual datasets in `before`.
    pub(super) fn missing_after(
        &self,
        file: &File,
        before: Option<&Chain<'_>>,
        visit: &mut dyn FnMut(MissingSource<'_>) -> Result<()>,
    ) -> Result<()> {
        if let Some(message) = &self.external {
            let external = External::open(file, &message.decode(file.reader())?)?;
            external.short(file, self.logical_bytes().unwrap_or(u64::MAX), visit)?;
        }
        let extents = self.extents().unwrap_or_default();
        self.mapped.as_ref().map_or(Ok(()), |mapped| mapped.missing(file, extents, before, visit))
    }
}

impl Object {
    /// Calls `visit` with the name of each other file that holds elements of this object. A name can occur several
    /// times. Numbered sources are included as long as files with these names exist, the first one in any case.
    ///
    /// No file is opened, except to find out whether a numbered source exists.
    ///
    /// # Errors
    /// If the names cannot be read; the errors of `visit`.
    pub fn named_files(
        &self,
        file: &File,
        visit: &mut dyn FnMut(NamedFor, &str) -> Result<()>,
    ) -> Result<()> {
        if self.kind() != ObjectKind::Dataset {
            return Ok(());
        }
        let (header, reader) = (self.header(), file.reader());
        if let Some(message) = header.find(ExternalFiles::TYPE) {
            let external = External::open(file, &message.decode(reader)?)?;
            external.names(&mut |name| visit(NamedFor::RawData, name))?;
        }
        let Some(DataLayout { class: LayoutClass::Virtual { heap, index }, .. }) = header.message(reader)?
        else {
            return Ok(());
        };
        let dataspace: Dataspace = header.required(reader)?;
        let mapped = Mapped::open(file, header.address(), heap, index, dataspace.dimensions().len())?;
        let is_there = |name: &str| !matches!(file.siblings().open(name), Ok(None));
        mapped.files(&is_there, &mut |name| visit(NamedFor::Source, name))
    }
}
