//! Other files that an HDF5 file consists of or refers to.

use super::{Hdf5Source, NamedLinks, into_text, text};
use crate::source::{FileRole, FoundFile, Handle, NamedFile, NamedFiles, Source};
use hyperslab_core::{ErrorKind, Result};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::link::LinkTarget;
use hyperslab_hdf5::{Link, NamedFor, Object, ObjectKind};
use hyperslab_model::NodePath;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Visits every object and collects the names of other files.
///
/// The order is that of a [walk](crate::walk), but only what can name a file is decoded, since few objects do.
pub(super) fn named_files(source: &Arc<Hdf5Source>) -> Result<NamedFiles> {
    let root = Handle { path: NodePath::root(), id: source.file.root_address().0 };
    let mut names = Names {
        source,
        known: FxHashSet::default(),
        groups: FxHashSet::from_iter([root.id]),
        found: NamedFiles::default(),
    };
    for name in source.file.member_names() {
        names.add(FileRole::Member, name, None);
    }
    let mut pending = vec![root];
    while let Some(group) = pending.pop() {
        source.pool.check()?;
        pending.extend(names.group(&group)?.into_iter().rev());
    }
    Ok(names.found)
}

/// The size of the file plus the sizes of the files that hold its elements. The size of the file includes its members.
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
    /// The groups already visited, by address.
    groups: FxHashSet<u64>,
    found: NamedFiles,
}

/// A member of a group that names files or has members of its own.
enum Met {
    Group(Handle),
    Link(NodePath, String),
    Object(NodePath, Naming),
}

/// The files that an object names, as far as it can be read.
struct Naming {
    files: Vec<(NamedFor, String)>,
    read: Result<()>,
}

impl Names<'_> {
    /// Collects the files named by the members of a group. Returns the groups among the members.
    fn group(&mut self, group: &Handle) -> Result<Vec<Handle>> {
        let Ok(NamedLinks { links, unreadable }) = self.source.links(group) else {
            let naming = self.naming(self.source.file.object(Address(group.id)));
            return self.object(&group.path, naming).map(|()| Vec::new());
        };
        let mut members = Vec::new();
        self.source.in_file_order(links, &mut |place, name, link| {
            members.extend(self.met(group.path.child(&name), link).map(|met| (place, met)));
        });
        members.sort_unstable_by_key(|(place, _)| *place);
        let mut groups = Vec::new();
        for (_, member) in members {
            match member {
                Met::Group(handle) if self.groups.insert(handle.id) => groups.push(handle),
                Met::Group(handle) => self.source.met_twice(&handle),
                Met::Link(path, file) => self.add(FileRole::Link, &file, Some(&path)),
                Met::Object(path, naming) => self.object(&path, naming)?,
            }
        }
        for (name, _) in unreadable {
            let naming = self.naming(self.source.file.object(Address::UNDEFINED));
            self.object(&group.path.child(&into_text(name)), naming)?;
        }
        Ok(groups)
    }

    /// The target of a link, if it is relevant and is not shown at another path.
    fn met(&self, path: NodePath, link: Link) -> Option<Met> {
        let address = match link.target {
            LinkTarget::Hard(address) => address,
            LinkTarget::External(target) => return Some(Met::Link(path, text(&target.file))),
            LinkTarget::Soft(_) | LinkTarget::UserDefined { .. } => return None,
        };
        let object = self.source.file.object(address);
        if let Ok(object) = &object {
            if let Ok(Some(first)) = self.source.first_path(object)
                && *first != path
            {
                return None;
            }
            if object.kind() == ObjectKind::Group {
                return Some(Met::Group(Handle { path, id: address.0 }));
            }
        }
        let naming = self.naming(object);
        let is_of_use = !naming.files.is_empty() || naming.read.is_err();
        is_of_use.then(|| Met::Object(path, naming))
    }

    fn naming(&self, object: Result<Object>) -> Naming {
        let mut files = Vec::new();
        let read = object.and_then(|object| {
            object.named_files(&self.source.file, &mut |named_for, name| {
                files.push((named_for, name.to_owned()));
                Ok(())
            })
        });
        Naming { files, read }
    }

    fn object(&mut self, path: &NodePath, naming: Naming) -> Result<()> {
        for (named_for, name) in naming.files {
            let role = match named_for {
                NamedFor::RawData => FileRole::RawData,
                NamedFor::Source => FileRole::Source,
            };
            self.add(role, &name, Some(path));
        }
        match naming.read {
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            Err(error) => self.found.errors.push(error.in_object(path)),
            Ok(()) => {}
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
