//! Finds the dataset that a mapping names.

use super::{Chain, Mapping};
use crate::dataset::Dataset;
use crate::file::{Elsewhere, File};
use crate::format::Address;
use crate::object::ObjectKind;
use hyperslab_core::{Error, Result};

/// A source that was found.
pub(super) struct Source<'a> {
    pub(super) file: SourceFile<'a>,
    /// The address of its object header.
    pub(super) address: Address,
    pub(super) dataset: Dataset,
}

pub(super) enum SourceFile<'a> {
    Same(&'a File),
    Other(Elsewhere),
}

impl SourceFile<'_> {
    pub(super) fn get(&self) -> &File {
        match self {
            SourceFile::Same(file) => file,
            SourceFile::Other(other) => &other.file,
        }
    }

    /// Adds the name of the other file to an error in it.
    pub(super) fn in_it(&self, e: Error) -> Error {
        match self {
            SourceFile::Same(_) => e,
            SourceFile::Other(other) => other.in_it(e),
        }
    }
}

impl Mapping {
    /// The source, or the numbered one. `None` if there is no such file or object.
    pub(super) fn source<'a>(
        &self,
        file: &'a File,
        number: u64,
        chain: &Chain<'_>,
    ) -> Result<Option<Source<'a>>> {
        chain.count()?;
        let (name, path) = (self.file.text(number), self.dataset.text(number));
        let named = match name.as_str() {
            SAME_FILE => SourceFile::Same(file),
            _ => match file.other(&name)? {
                Some(other) => SourceFile::Other(Elsewhere::new(other, name, path.clone())),
                None => return Ok(None),
            },
        };
        // Files of instruments often have links to the datasets that they map.
        let mut open = |from: &File, name: &str| {
            chain.count()?;
            from.other(name)
        };
        let found = named.get().find_across(path.as_bytes(), &mut open).map_err(|e| named.in_it(e))?;
        let Some(found) = found else { return Ok(None) };
        let (file, address) = (found.elsewhere.map_or(named, SourceFile::Other), found.address);
        let open = || {
            let object = file.get().object(address)?;
            if object.kind() != ObjectKind::Dataset {
                return Err(Error::malformed(format!(
                    "source {path} is a {}, expected a dataset",
                    object.kind().name()
                )));
            }
            Dataset::open(file.get(), object.header(), Some(chain))
        };
        let dataset = open().map_err(|e| file.in_it(e))?;
        Ok(Some(Source { file, address, dataset }))
    }
}

/// The name that stands for the file of the virtual dataset itself.
pub(super) const SAME_FILE: &str = ".";
