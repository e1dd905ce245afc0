//! The files in the folder of a group, and the members that are visible at a moment.
//!
//! Spec: TileDB format_spec, group_file_hierarchy.md and group.md

use crate::directory::{METADATA, NamedFile, Vacuum, named_files};
use crate::format::group::{GroupDetails, GroupMember, Version};
use crate::opened::{Moment, files};
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{Limits, Result};
use std::collections::BTreeMap;

/// The files of a group, regardless of the moment. Groups written before TileDB 2.8 have no details: their members are
/// the groups and arrays in their folder.
#[derive(Clone, Debug, Default)]
pub struct GroupDirectory {
    /// The files with members, ordered by start time.
    pub details: Vec<NamedFile>,
    /// The vacuum files of files with members.
    pub detail_vacuums: Vec<Vacuum>,
    /// The metadata files, ordered by start time.
    pub metadata: Vec<NamedFile>,
    /// The vacuum files of metadata, which list what consolidated metadata files replace.
    pub metadata_vacuums: Vec<Vacuum>,
    /// All other entries of both folders.
    pub ignored: Vec<Key>,
}

/// The files of a group that are visible at a moment.
#[derive(Clone, Debug)]
pub struct OpenedGroup<'a> {
    /// The files with members, for [`members`].
    pub details: Vec<&'a NamedFile>,
    /// The metadata files, from oldest to newest; later ones take precedence.
    pub metadata: Vec<&'a NamedFile>,
}

impl GroupDirectory {
    /// Lists the folder `group` of a store, and reads its vacuum files.
    ///
    /// # Errors
    /// If the store cannot be read, or a vacuum file is malformed.
    pub fn read(store: &dyn Store, group: &Key, limits: &Limits) -> Result<Self> {
        let mut ignored = Vec::new();
        let (details, detail_vacuums) = named_files(store, &group.join(DETAILS)?, limits, &mut ignored)?;
        let (metadata, metadata_vacuums) = named_files(store, &group.join(METADATA)?, limits, &mut ignored)?;
        Ok(GroupDirectory { details, detail_vacuums, metadata, metadata_vacuums, ignored })
    }

    /// The last time at which anything was written, in milliseconds since 1970.
    pub fn newest(&self) -> u64 {
        self.details.iter().chain(&self.metadata).map(|file| file.name.end).max().unwrap_or(0)
    }

    /// The files that are visible at the moment.
    pub fn opened(&self, moment: Moment) -> OpenedGroup<'_> {
        OpenedGroup {
            details: files(&self.details, &self.detail_vacuums, moment),
            metadata: files(&self.metadata, &self.metadata_vacuums, moment),
        }
    }
}

/// Whether a store has a group at a key.
///
/// # Errors
/// If the store cannot be read.
pub fn is_group(store: &dyn Store, key: &Key) -> Result<bool> {
    Ok(store.size(&key.join(MARK)?)?.is_some() || !store.list(&key.join(DETAILS)?)?.is_empty())
}

/// The members in all details files together, ordered by name, or by URI if they have none.
///
/// `details` are in the order of the files. Details of version 1 have all members, and replace everything before them;
/// those of version 2 add and delete members.
pub fn members(details: Vec<GroupDetails>) -> Vec<GroupMember> {
    let mut members: BTreeMap<Vec<u8>, GroupMember> = BTreeMap::new();
    for file in details {
        if file.version == Version::V1 {
            members.clear();
        }
        for member in file.members {
            let key = member.name.as_ref().unwrap_or(&member.uri).clone();
            match member.deleted {
                true => members.remove(&key),
                false => members.insert(key, member),
            };
        }
    }
    members.into_values().collect()
}

pub(crate) const DETAILS: &str = "__group";
pub(crate) const MARK: &str = "__tiledb_group.tdb";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::tests::{name, store};
    use crate::format::group::ObjectType;

    fn member(uri: &str, name: Option<&str>, deleted: bool) -> GroupMember {
        let (uri, name) = (uri.into(), name.map(Into::into));
        GroupMember {
            version: Version::V2,
            object_type: ObjectType::Array,
            relative: true,
            uri,
            name,
            deleted,
        }
    }

    #[test]
    fn details_and_metadata_are_seen_within_the_moment() {
        let store = store(&[
            ("g/__tiledb_group.tdb", ""),
            (&format!("g/__group/{}", name(20, 20, 2)), ""),
            (&format!("g/__group/{}", name(10, 10, 2)), ""),
            (&format!("g/__meta/{}.tmp", name(10, 10, 2)), ""),
            ("g/a/__array_schema.tdb", ""),
        ]);
        let directory = GroupDirectory::read(&store, &Key::new("g").unwrap(), &Limits::default()).unwrap();
        let starts =
            |moment| directory.opened(moment).details.iter().map(|file| file.name.start).collect::<Vec<_>>();
        assert_eq!(starts(Moment::ALL), [10, 20]);
        assert_eq!(starts(Moment::until(15)), [10]);
        assert!(directory.opened(Moment::ALL).metadata.is_empty());
        assert_eq!(directory.ignored.len(), 1);
    }

    #[test]
    fn a_group_has_a_mark_or_details() {
        let store =
            store(&[("old/__tiledb_group.tdb", ""), ("new/__group/x", ""), ("a/__array_schema.tdb", "")]);
        let found = ["old", "new", "a"].map(|key| is_group(&store, &Key::new(key).unwrap()).unwrap());
        assert_eq!(found, [true, true, false]);
    }

    #[test]
    fn deleted_members_are_gone_and_version_1_replaces_all() {
        let details = |version, members: &[GroupMember]| GroupDetails { version, members: members.to_vec() };
        let (a, b, unnamed) =
            (member("x", Some("a"), false), member("y", Some("b"), false), member("z", None, false));
        let first = details(Version::V2, &[b.clone(), a.clone(), unnamed.clone()]);
        let second = details(Version::V2, &[member("x", Some("a"), true), member("z", None, true)]);
        assert_eq!(members(vec![first.clone()]), [a.clone(), b.clone(), unnamed]);
        assert_eq!(members(vec![first.clone(), second]), [b]);
        let old = [GroupMember { version: Version::V1, ..a }];
        assert_eq!(members(vec![first, details(Version::V1, &old)]), old);
    }
}
