//! Checks groups: their members, and the kinds of these.

use super::findings::Place;
use super::{Checker, Kind, rule};
use crate::format::group::{GroupMember, ObjectType};
use crate::group::Group;
use crate::group::relative_key;
use hyperslab_core::Result;
use hyperslab_core::store::{Key, is_unfinished};
use std::sync::Arc;

impl Checker<'_> {
    pub(super) fn group(&mut self, at: &Key) -> Result<()> {
        self.findings.summary.groups = self.findings.summary.groups.saturating_add(1);
        let place = Place::of(at);
        let open = crate::array::OpenOptions { at: crate::opened::Moment::ALL, ..self.open.clone() };
        let group = Group::open(Arc::clone(self.store), at, open);
        let Some(group) = self.findings.valid(group, &rule::STRUCTURE, place)? else { return Ok(()) };
        let metadata = group.directory().metadata.clone();
        self.metadata(at, &metadata)?;
        for key in &group.directory().ignored {
            let message = format!("{:?}, expected __t1_t2_uuid and a version", key.name());
            let is_left = key.name().ends_with(".tmp") || is_unfinished(key.name());
            let rule = if is_left { &rule::INCOMPLETE } else { &rule::NAME };
            self.findings.add(rule, place.file(key), message);
        }
        let Some(members) = self.findings.valid(group.members(), &rule::STRUCTURE, place)? else {
            return Ok(());
        };
        self.above.push(at.clone());
        for member in members {
            self.member(at, &member)?;
        }
        self.above.pop();
        Ok(())
    }

    fn member(&mut self, at: &Key, member: &GroupMember) -> Result<()> {
        let place = Place::of(at);
        let uri = String::from_utf8_lossy(&member.uri);
        let name = String::from_utf8_lossy(member.name.as_ref().unwrap_or(&member.uri)).into_owned();
        let Some(key) = relative_key(at, &member.uri).filter(|_| member.relative) else {
            self.findings.add(&rule::EXTERNAL_MEMBER, place, format!("{name:?} is {uri}"));
            return Ok(());
        };
        if self.above.contains(&key) {
            self.findings.add(&rule::CYCLE, place, format!("{name:?} is /{key}, in which the group is"));
            return Ok(());
        }
        if self.above.len() >= MAX_DEPTH {
            let message = format!("groups nested more than {MAX_DEPTH} levels deep");
            self.findings.add(&rule::LIMIT, place, message);
            return Ok(());
        }
        let expected = match member.object_type {
            ObjectType::Array => Kind::Array,
            ObjectType::Group => Kind::Group,
        };
        match self.object(&key)? {
            None => {
                self.findings.add(&rule::MEMBER_MISSING, place, format!("{name:?}: nothing is at {uri}"));
            }
            Some(found) if found != expected => {
                let word = |kind| if kind == Kind::Array { "an array" } else { "a group" };
                let message = format!("{name:?} is {}, the group says {}", word(found), word(expected));
                self.findings.add(&rule::MEMBER_TYPE, place, message);
            }
            Some(_) => {}
        }
        Ok(())
    }
}

/// The maximum nesting of groups.
const MAX_DEPTH: usize = 64;
