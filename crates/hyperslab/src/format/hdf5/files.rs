//! Other files that an HDF5 file consists of or names.

use super::Hdf5Source;
use crate::source::{Entry, FileRole, FoundFile, Item, NamedFile, NamedFiles, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{ErrorKind, Result};
use hyperslab_hdf5::NamedFor;
use hyperslab_hdf5::format::Address;
use hyperslab_model::{Link, NodePath};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Visits every object and collects the names.
pub(super) fn named_files(source: &Arc<Hdf5Source>) -> Result<NamedFiles> {
    let mut names = Names { source, known: FxHashSet::default(), found: NamedFiles::default() };
    for name in source.file.member_names() {
        names.add(FileRole::Member, name, None);
    }
    let root = source.find(&NodePath::root())?.handle;
    walk(source, &root, &mut |step| {
        if let Step::Member(entry) = step {
            names.entry(entry)?;
        }
        Ok(())
    })?;
    Ok(names.found)
}

/// The size of the file and of those that its elements lie in. The size of the file has that of its members.
pub(super) fn size_with_parts(source: &Arc<Hdf5Source>) -> Result<u64> {
    let mut known = FxHashSet::default();
    let mut size = source.len;
    for file in named_files(source)?.files {
        let FoundFile::There { path, size: of_file } = file.found else { continue };
        // Two names may lead to one file.
        let is_new = path.is_none_or(|path| known.insert(path));
        if is_new && matches!(file.role, FileRole::RawData | FileRole::Source) {
            size = size.saturating_add(of_file);
        }
    }
    Ok(size)
}

struct Names<'a> {
    source: &'a Arc<Hdf5Source>,
    known: FxHashSet<(FileRole, String)>,
    found: NamedFiles,
}

impl Names<'_> {
    fn entry(&mut self, entry: &Entry) -> Result<()> {
        let path = &entry.handle.path;
        match &entry.item {
            Item::Link(Link::External { file, .. }) => self.add(FileRole::Link, file, Some(path)),
            Item::Array { .. } | Item::Unreadable(_) => {
                let mut named = Vec::new();
                let object = self.source.file.object(Address(entry.handle.id));
                let read = object.and_then(|object| {
                    object.named_files(&self.source.file, &mut |named_for, name| {
                        named.push((named_for, name.to_owned()));
                        Ok(())
                    })
                });
                for (named_for, name) in named {
                    let role = match named_for {
                        NamedFor::RawData => FileRole::RawData,
                        NamedFor::Source => FileRole::Source,
                    };
                    self.add(role, &name, Some(path));
                }
                match read {
                    Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
                    Err(error) => self.found.errors.push(error.in_object(path)),
                    Ok(()) => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add(&mut self, role: FileRole, name: &str, object: Option<&NodePath>) {
        if !self.known.insert((role, name.to_owned())) {
            return;
        }
        let found = match self.source.file.locate(name) {
            Ok(Some(located)) => FoundFile::There { path: located.path, size: located.size },
            Ok(None) => FoundFile::Missing,
            Err(error) => FoundFile::Refused(error),
        };
        let (name, object) = (name.to_owned(), object.cloned());
        self.found.files.push(NamedFile { role, name, object, found });
    }
}
