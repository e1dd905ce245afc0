//! Other files that an object names: external files of raw bytes and the sources of virtual datasets.

use super::external::External;
use super::mapped::Mapped;
use crate::file::File;
use crate::format::message::HeaderMessage;
use crate::format::message::data_layout::{DataLayout, LayoutClass};
use crate::format::message::dataspace::Dataspace;
use crate::format::message::external_files::ExternalFiles;
use crate::object::{Object, ObjectKind};
use hyperslab_core::Result;

/// What an object names another file for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedFor {
    /// Its elements are bytes of that file.
    RawData,
    /// Its elements are those of datasets in that file.
    Source,
}

impl Object {
    /// Calls `visit` with the name of each other file that holds elements of this object. A name can come several
    /// times. Numbered sources are named as long as there are files of these names, the first one in any case.
    ///
    /// No file is opened, except to see whether a numbered source is there.
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
