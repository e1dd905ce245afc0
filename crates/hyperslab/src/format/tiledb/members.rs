//! Members of groups: the names under which they are shown, and their locations.
//!
//! An absolute URI refers to the place where the group was written, but groups are moved. The location of the store is
//! checked first; in a store that was moved, the last parts of the URI are searched for. Ambiguities are not resolved
//! by guessing, since an edit would write to the wrong array: such a member is treated as outside of the store.

use super::objects::{Member, Objects};
use crate::strings::member_name;
use hyperslab_core::Result;
use hyperslab_core::store::{EntryKind, Key};
use hyperslab_tiledb::directory::is_array;
use hyperslab_tiledb::format::group::GroupMember;
use hyperslab_tiledb::group::relative_key;
use hyperslab_tiledb::group_directory::is_group;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Component, Path};

/// The members by the names under which they are shown, which are their own names or the last parts of their URIs. A
/// member whose name is taken gets another name; own names have precedence over parts of URIs.
pub(super) fn named(members: Vec<GroupMember>) -> IndexMap<String, GroupMember> {
    let own = |member: &GroupMember| member.name.clone().filter(|name| !name.is_empty());
    let (with_name, others): (Vec<_>, Vec<_>) = members.into_iter().partition(|member| own(member).is_some());
    let mut named = IndexMap::new();
    for member in with_name.into_iter().chain(others) {
        let last = || member.uri.rsplit(|byte| *byte == b'/').find(|part| !part.is_empty());
        let name = own(&member).unwrap_or_else(|| last().unwrap_or_default().to_vec());
        named.insert(distinct(member_name(&name), &named), member);
    }
    named
}

/// The name, with as many `_` appended as are needed to distinguish it from the known names.
pub(super) fn distinct<T>(mut name: String, known: &IndexMap<String, T>) -> String {
    while known.contains_key(&name) {
        name.push('_');
    }
    name
}

/// The possible location of a member.
enum Fit {
    /// The member is there.
    Certain(Member),
    /// Only the last part of its name fits.
    Name { key: Key, uri: String },
}

/// A folder that is searched for members.
struct Folder {
    key: Key,
    /// The folders in it.
    names: FxHashSet<String>,
}

impl Objects {
    /// The locations of the members of a group, in order.
    pub(super) fn places(&self, group: &Key, members: &IndexMap<String, GroupMember>) -> Result<Vec<Member>> {
        let folders = match members.values().all(|member| member.relative) {
            true => None,
            false => Some([self.folder(group)?, self.folder(&Key::root())?]),
        };
        let fits: Vec<Fit> = members
            .values()
            .map(|member| match &folders {
                Some(folders) if !member.relative => self.fit(member, folders),
                _ => Ok(Fit::Certain(within(relative_key(group, &member.uri), member))),
            })
            .collect::<Result<_>>()?;
        // The locations of members, and those to which only one URI may lead.
        let (mut taken, mut of_one) = (FxHashSet::default(), FxHashMap::default());
        for fit in &fits {
            match fit {
                Fit::Certain(Member::Within(key)) => drop(taken.insert(key)),
                Fit::Certain(_) => {}
                Fit::Name { key, uri } => {
                    if of_one.insert(key, uri).is_some_and(|other| other != uri) {
                        taken.insert(key);
                    }
                }
            }
        }
        let place = |fit: &Fit| match fit {
            Fit::Certain(member) => member.clone(),
            Fit::Name { key, uri } if taken.contains(key) => Member::Outside(uri.clone()),
            Fit::Name { key, .. } => Member::Within(key.clone()),
        };
        Ok(fits.iter().map(place).collect())
    }

    /// The location to which an absolute URI leads, within the folder of the group or the root.
    fn fit(&self, member: &GroupMember, [of_group, root]: &[Folder; 2]) -> Result<Fit> {
        let uri = String::from_utf8_lossy(&member.uri).into_owned();
        let folder = self.store.real_path();
        let path = Path::new(uri.strip_prefix("file://").unwrap_or(&uri));
        if let Some(folder) = folder {
            if let Ok(rest) = path.strip_prefix(folder) {
                return Ok(Fit::Certain(within(key_of(rest), member)));
            }
            // If the URI names a neighbour of the store, the store was not moved from elsewhere. If nothing is there,
            // it was renamed.
            let around = folder.parent().filter(|around| around.parent().is_some());
            if around.is_some_and(|around| path.starts_with(around)) && path.exists() {
                return Ok(Fit::Certain(Member::Outside(uri)));
            }
        }
        let parts: Vec<&str> = uri.split('/').filter(|part| !part.is_empty()).collect();
        // The more parts fit, the less likely they belong to another object.
        for count in (2..=parts.len().min(MAX_PARTS)).rev() {
            let last = parts.get(parts.len().saturating_sub(count)..).unwrap_or_default();
            match (self.existing(of_group, last)?, self.existing(root, last)?) {
                (Some(one), Some(other)) if one != other => return Ok(Fit::Certain(Member::Outside(uri))),
                (Some(key), _) | (None, Some(key)) => return Ok(Fit::Certain(Member::Within(key))),
                (None, None) => {}
            }
        }
        // In a group below the root, the URI of an object in its folder fits in more parts, including the name of the
        // folder. The only remaining case is the store itself, if it has the name of the folder in the URI.
        let [.., before, last] = parts.as_slice() else { return Ok(Fit::Certain(Member::Outside(uri))) };
        let name = folder.and_then(Path::file_name).and_then(|name| name.to_str());
        if !of_group.key.is_root() && name != Some(*before) {
            return Ok(Fit::Certain(Member::Outside(uri)));
        }
        Ok(match self.existing(root, &[last])? {
            Some(key) => Fit::Name { key, uri },
            None => Fit::Certain(Member::Outside(uri)),
        })
    }

    fn folder(&self, key: &Key) -> Result<Folder> {
        let entries = self.store.list(key)?.into_iter().filter(|entry| entry.kind == EntryKind::Prefix);
        Ok(Folder { key: key.clone(), names: entries.map(|entry| entry.name).collect() })
    }

    /// The key of a path from a folder of the store, if there is an array or a group.
    fn existing(&self, folder: &Folder, path: &[&str]) -> Result<Option<Key>> {
        // Most paths refer to other places; ruling them out costs no request.
        if path.first().is_none_or(|first| !folder.names.contains(*first)) {
            return Ok(None);
        }
        let Ok(key) = folder.key.join(&path.join("/")) else { return Ok(None) };
        let is_there = is_array(&*self.store, &key)? || is_group(&*self.store, &key)?;
        Ok(is_there.then_some(key))
    }
}

/// A member at a key of the store; outside of the store if there is no key.
fn within(key: Option<Key>, member: &GroupMember) -> Member {
    let uri = || String::from_utf8_lossy(&member.uri).into_owned();
    key.map_or_else(|| Member::Outside(uri()), Member::Within)
}

/// The key of a path from the root of the store.
fn key_of(path: &Path) -> Option<Key> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => name.to_str().map(str::to_owned),
        _ => None,
    };
    let parts: Option<Vec<String>> = path.components().map(part).collect();
    Key::new(&parts?.join("/")).ok()
}

/// The maximum number of parts of an absolute URI that are searched for.
const MAX_PARTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::Limits;
    use hyperslab_core::store::{DirectoryStore, MemoryStore};
    use hyperslab_tiledb::array::OpenOptions;
    use hyperslab_tiledb::format::group::{ObjectType, Version};
    use hyperslab_tiledb::opened::Moment;
    use std::sync::Arc;

    fn member(name: Option<&str>, uri: &str, relative: bool) -> GroupMember {
        GroupMember {
            version: Version::V2,
            object_type: ObjectType::Array,
            relative,
            uri: uri.into(),
            name: name.map(Into::into),
            deleted: false,
        }
    }

    fn options() -> OpenOptions {
        OpenOptions { at: Moment::ALL, key: None, limits: Limits::default() }
    }

    fn stored(arrays: &[&str]) -> Objects {
        let mut store = MemoryStore::new();
        for array in arrays {
            store.insert(&Key::new(&format!("{array}/__array_schema.tdb")).unwrap(), "");
        }
        Objects::new(Arc::new(store), options(), true)
    }

    /// The locations of members: keys, and the URIs of those outside of the store.
    fn places(objects: &Objects, group: &str, members: &[GroupMember]) -> Vec<String> {
        let group = if group.is_empty() { Key::root() } else { Key::new(group).unwrap() };
        let found = objects.places(&group, &named(members.to_vec())).unwrap();
        let place = |member| match member {
            Member::Within(key) => key.as_str().to_owned(),
            Member::Outside(uri) => uri,
            Member::Collected(..) | Member::Recorded(_) => unreachable!("only of records"),
        };
        found.into_iter().map(place).collect()
    }

    #[test]
    fn most_parts_of_an_absolute_uri_count() {
        let objects = stored(&["temp", "sub/temp", "G1/temp", "G2/temp"]);
        let of = |uri: &str| member(Some("m"), uri, false);
        let within = |group: &str, uri: &str| places(&objects, group, &[of(uri)]);
        assert_eq!(within("", "file:///w/G/sub/temp"), ["sub/temp"]);
        assert_eq!(within("", "file:///w/G/temp"), ["temp"]);
        assert_eq!(within("G1", "file:///w/R/G2/temp"), ["G2/temp"]);
        assert_eq!(within("G1", "file:///w/R/G1/temp"), ["G1/temp"]);
        // The folder of the group has no such array, and the store could be any store.
        assert_eq!(within("G1", "file:///w/R/G3/temp"), ["file:///w/R/G3/temp"]);
    }

    #[test]
    fn a_last_name_that_fits_more_than_one_member_is_not_guessed() {
        let objects = stored(&["temp", "salt"]);
        let far = "file:///elsewhere/temp";
        let own = member(Some("own"), "temp", true);
        assert_eq!(places(&objects, "", &[member(Some("far"), far, false), own]), [far, "temp"]);
        let other = "file:///w/G/temp";
        let two = [member(Some("a"), far, false), member(Some("b"), other, false)];
        assert_eq!(places(&objects, "", &two), [far, other]);
        let same = [member(Some("a"), other, false), member(Some("b"), other, false)];
        assert_eq!(places(&objects, "", &same), ["temp", "temp"]);
    }

    #[test]
    fn the_place_of_the_store_tells_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let around = folder.path().canonicalize().unwrap();
        for array in ["O/temp", "O/sub/temp", "elsewhere/temp"] {
            std::fs::create_dir_all(around.join(array)).unwrap();
            std::fs::write(around.join(array).join("__array_schema.tdb"), "").unwrap();
        }
        let store = DirectoryStore::open(around.join("O")).unwrap();
        let objects = Objects::new(Arc::new(store), options(), true);
        let uri = |path: &str| format!("file://{}/{path}", around.display());
        let within = |uri: &str| places(&objects, "", &[member(None, uri, false)]);
        assert_eq!(within(&uri("O/sub/temp")), ["sub/temp"]);
        assert_eq!(within(&uri("elsewhere/temp")), [uri("elsewhere/temp")]);
        // The store was renamed, or was moved here from another place.
        assert_eq!(within(&uri("P/temp")), ["temp"]);
        assert_eq!(within("file:///w/O/temp"), ["temp"]);
    }

    #[test]
    fn members_of_one_shown_name_are_all_shown() {
        let members =
            [member(None, "a/temp", true), member(None, "b/temp", true), member(Some("temp"), "c", true)];
        let shown = named(members.to_vec());
        let shown: Vec<_> = shown.iter().map(|(name, own)| (name.as_str(), own.uri.as_slice())).collect();
        assert_eq!(shown, [("temp", &b"c"[..]), ("temp_", b"a/temp"), ("temp__", b"b/temp")]);
    }
}
