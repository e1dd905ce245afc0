//! Groups: their members and metadata.
//!
//! Spec: TileDB format_spec, group_file_hierarchy.md and group.md

use super::array::WriteOptions;
use super::generic_tile::GenericTileEncoder;
use super::names::Names;
use crate::array::OpenOptions;
use crate::directory::METADATA;
use crate::format::group::{GroupDetails, GroupMember, ObjectType, Version};
use crate::format::metadata::Metadata;
use crate::format::version::RELEASED;
use crate::group::Group;
use crate::group_directory::{DETAILS, MARK, is_group};
use crate::opened::Moment;
use hyperslab_core::store::{Key, Store, WritableStore};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use std::sync::Arc;

/// A group that is written to. It can be shared between threads.
pub struct GroupWriter {
    store: Arc<dyn WritableStore>,
    group: Key,
    options: WriteOptions,
}

impl GroupWriter {
    /// Creates a group without members.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if there is a group; if the store cannot be written.
    pub fn create(store: Arc<dyn WritableStore>, group: &Key, options: WriteOptions) -> Result<GroupWriter> {
        if is_group(&*store, group)? {
            return Err(Error::new(ErrorKind::AlreadyExists, "there is a group already").in_object(group));
        }
        let writer = GroupWriter::open(store, group, options);
        writer.store.put(&group.join(MARK)?, &[])?;
        Ok(writer)
    }

    /// Opens an existing group.
    pub fn open(store: Arc<dyn WritableStore>, group: &Key, options: WriteOptions) -> GroupWriter {
        GroupWriter { store, group: group.clone(), options }
    }

    /// Adds members, and deletes those that are marked as deleted. The changes are visible from `time` on.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn put_members(&self, members: Vec<GroupMember>, time: u64) -> Result<()> {
        if members.is_empty() {
            return Ok(());
        }
        let name = self.options.names.versioned(time, time, Version::V2 as u32)?.to_string();
        let tile = self.generic_tiles().encode(&GroupDetails { version: Version::V2, members }, &())?;
        self.store.put(&self.group.join(DETAILS)?.join(&name)?, &tile)
    }

    /// Writes metadata that is visible from `time` on.
    ///
    /// # Errors
    /// If the store cannot be written, or a value is too long.
    pub fn put_metadata(&self, metadata: &Metadata, time: u64) -> Result<()> {
        if metadata.entries.is_empty() {
            return Ok(());
        }
        let name = self.options.names.schema(time)?.to_string();
        self.store.put(&self.group.join(METADATA)?.join(&name)?, &self.generic_tiles().encode(metadata, &())?)
    }

    /// The group as seen at the present moment.
    pub(crate) fn present(&self, limits: &Limits) -> Result<Group> {
        let options = OpenOptions { at: Moment::ALL, key: self.options.key.clone(), limits: *limits };
        Group::open(Arc::clone(&self.store) as Arc<dyn Store>, &self.group, options)
    }

    pub(crate) fn store(&self) -> &dyn WritableStore {
        &*self.store
    }

    pub(crate) fn group(&self) -> &Key {
        &self.group
    }

    pub(crate) fn names(&self) -> &Names {
        &self.options.names
    }

    pub(crate) fn generic_tiles(&self) -> GenericTileEncoder<'_> {
        GenericTileEncoder { version: RELEASED, key: self.options.key.as_ref() }
    }
}

/// A member whose folder is in the folder of its group.
pub fn relative_member(name: impl Into<Vec<u8>>, folder: &str, object_type: ObjectType) -> GroupMember {
    GroupMember {
        version: Version::V2,
        object_type,
        relative: true,
        uri: folder.as_bytes().to_vec(),
        name: Some(name.into()),
        deleted: false,
    }
}
