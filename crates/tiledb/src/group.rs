//! A group, as seen at one moment.

use crate::array::OpenOptions;
use crate::directory::is_array;
use crate::filter;
use crate::format::group::{GroupDetails, GroupMember, ObjectType, Version};
use crate::format::metadata::Value;
use crate::group_directory::{GroupDirectory, is_group, members};
use crate::metadata;
use crate::read::generic_tile::GenericTiles;
use hyperslab_core::store::{EntryKind, Key, Store};
use hyperslab_core::{Limits, Result};
use std::sync::Arc;

/// A group, as seen at one moment. It can be shared between threads.
pub struct Group {
    store: Arc<dyn Store>,
    key: Key,
    options: OpenOptions,
    directory: GroupDirectory,
}

impl Group {
    /// Opens the group at a key of a store.
    ///
    /// # Errors
    /// If the store cannot be read or a file of the group is malformed.
    pub fn open(store: Arc<dyn Store>, group: &Key, options: OpenOptions) -> Result<Group> {
        let directory = GroupDirectory::read(&*store, group, &options.limits)?;
        Ok(Group { store, key: group.clone(), options, directory })
    }

    /// The members, ordered by name, or by URI if they have none.
    ///
    /// A group written before TileDB 2.8 has no files with members; its members are the groups and arrays in its
    /// folder.
    ///
    /// # Errors
    /// If a member file cannot be read or is malformed.
    pub fn members(&self) -> Result<Vec<GroupMember>> {
        if self.directory.details.is_empty() {
            return self.children();
        }
        let (tiles, opened) = (self.generic_tiles(), self.directory.opened(self.options.at));
        let details: Result<Vec<GroupDetails>> =
            opened.details.iter().map(|file| tiles.structure(&file.key, 0, &())).collect();
        Ok(members(details.map_err(filter::with_another_key)?))
    }

    /// The metadata, ordered by key.
    ///
    /// # Errors
    /// If a metadata file cannot be read or is malformed.
    pub fn metadata(&self) -> Result<Vec<(Vec<u8>, Value)>> {
        let read = metadata::read(&self.generic_tiles(), &self.directory.opened(self.options.at).metadata);
        read.map_err(filter::with_another_key)
    }

    /// The files of the group, regardless of the moment.
    pub fn directory(&self) -> &GroupDirectory {
        &self.directory
    }

    fn children(&self) -> Result<Vec<GroupMember>> {
        let mut found = Vec::new();
        for entry in self.store.list(&self.key)? {
            if entry.kind != EntryKind::Prefix || entry.name.starts_with("__") {
                continue;
            }
            let key = self.key.join(&entry.name)?;
            let object_type = match (is_array(&*self.store, &key)?, is_group(&*self.store, &key)?) {
                (true, _) => ObjectType::Array,
                (_, true) => ObjectType::Group,
                _ => continue,
            };
            let uri = entry.name.into_bytes();
            let member = GroupMember {
                version: Version::V1,
                object_type,
                relative: true,
                uri,
                name: None,
                deleted: false,
            };
            found.push(member);
        }
        Ok(found)
    }

    pub(crate) fn generic_tiles(&self) -> GenericTiles<'_> {
        let limits: &Limits = &self.options.limits;
        GenericTiles { store: &*self.store, key: self.options.key.as_ref(), limits }
    }
}

/// The key of a URI that is relative to a folder. `None` if it leads out of the store.
pub fn relative_key(from: &Key, uri: &[u8]) -> Option<Key> {
    let text = std::str::from_utf8(uri).ok()?;
    let mut parts: Vec<&str> = from.as_str().split('/').filter(|part| !part.is_empty()).collect();
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Key::new(&parts.join("/")).ok()
}
