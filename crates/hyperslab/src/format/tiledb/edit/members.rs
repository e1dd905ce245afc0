//! Members of groups.

use super::super::objects::Object;
use super::{TileDbEditor, What, whole_store};
use crate::editor::{Change, ChangeKind};
use crate::location::did_you_mean;
use crate::strings::name_bytes;
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::NodePath;
use hyperslab_tiledb::directory::is_array;
use hyperslab_tiledb::format::group::{GroupMember, ObjectType, Version};
use hyperslab_tiledb::group::relative_key;
use hyperslab_tiledb::group_directory::is_group;
use hyperslab_tiledb::write::group::relative_member;

impl TileDbEditor {
    pub(super) fn add_member(&mut self, path: &NodePath, uri: &str) -> Result<Change> {
        let (group, name) = group_of(path)?;
        let (key, object) = self.object(&group)?;
        let Object::Group(found) = &*object else {
            return Err(Error::invalid("is in an array, expected a member of a group"));
        };
        if found.members.contains_key(&name) {
            return Err(Error::invalid("the group has a member of this name"));
        }
        let place =
            relative_key(&key, uri.as_bytes()).filter(|_| !uri.contains("://") && !uri.starts_with('/'));
        let place = place.ok_or_else(|| {
            Error::unsupported(format!("a member in {uri}, outside of the store"))
                .with_hint("write the path from the folder of the group, such as ../other")
        })?;
        let store = &*self.objects.store;
        let object_type = match (is_array(store, &place)?, is_group(store, &place)?) {
            (true, _) => ObjectType::Array,
            (_, true) => ObjectType::Group,
            _ => return Err(Error::not_found(format!("neither an array nor a group in {uri}"))),
        };
        self.change_members(&key, relative_member(name_bytes(&name), uri, object_type))?;
        let kind = if object_type == ObjectType::Array { "array" } else { "group" };
        let what = format!("member of the group, the {kind} in {uri}");
        Ok(Change::new(ChangeKind::Added, path, what))
    }

    pub(super) fn rename_member(&mut self, path: &NodePath, to: &str) -> Result<Change> {
        let (key, found) = self.member(path)?;
        let (group, _) = group_of(path)?;
        let (_, object) = self.object(&group)?;
        if let Object::Group(group) = &*object
            && group.members.contains_key(to)
        {
            return Err(Error::invalid(format!("the group has a member {to}")));
        }
        let renamed = GroupMember { version: Version::V2, name: Some(name_bytes(to)), ..found.clone() };
        // The removed member precedes its replacement.
        self.change_members(&key, GroupMember { version: Version::V2, deleted: true, ..found })?;
        self.change_members(&key, renamed)?;
        Ok(Change::new(ChangeKind::Changed, path, format!("name {to}")))
    }

    pub(super) fn remove_member(&mut self, path: &NodePath) -> Result<Change> {
        let (key, member) = self.member(path)?;
        self.change_members(&key, GroupMember { version: Version::V2, deleted: true, ..member })?;
        let notes =
            vec!["only the membership is removed; the array or group itself stays in place".to_owned()];
        Ok(Change { notes, ..Change::new(ChangeKind::Removed, path, "member of the group") })
    }

    /// The group of a member, and the member in its stored form.
    fn member(&self, path: &NodePath) -> Result<(Key, GroupMember)> {
        let (group, name) = group_of(path)?;
        let (key, object) = self.object(&group)?;
        let Object::Group(found) = &*object else {
            return Err(Error::invalid("is in an array, expected a member of a group"));
        };
        let member = found.stored.get(&name).cloned().ok_or_else(|| {
            let hint = did_you_mean(&name, found.members.keys().map(String::as_str));
            Error::not_found("the group has no such member").with_remedies(hint)
        })?;
        Ok((key, member))
    }

    fn change_members(&mut self, key: &Key, member: GroupMember) -> Result<()> {
        for what in self.planned(key) {
            if let What::Members(changed) = what
                && changed.iter().any(|other| is_same(other, &member))
            {
                return Err(Error::invalid("the member is changed twice"));
            }
        }
        if let Some(super::Step { key: last, what: What::Members(changed) }) = self.steps.last_mut()
            && last == key
        {
            changed.push(member);
            return Ok(());
        }
        self.push(key, What::Members(vec![member]));
        Ok(())
    }
}

/// The group of a member, and the name of the member in that group.
pub(super) fn group_of(member: &NodePath) -> Result<(NodePath, String)> {
    let group = member.parent().ok_or_else(whole_store)?;
    Ok((group, member.name().to_owned()))
}

/// Whether two entries refer to the same member: groups distinguish members by their names, or by their URIs if they
/// have no names.
pub(super) fn is_same(one: &GroupMember, other: &GroupMember) -> bool {
    let key =
        |of: &GroupMember| of.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| of.uri.clone());
    key(one) == key(other)
}
