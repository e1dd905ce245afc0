//! Group: the body of the generic tile in a file of the folder `__group`.
//!
//! Spec: TileDB format_spec, group.md "Group File" and "Group Member", where the number of members has 32 bits; in
//! files it has 64, and there is no length of a name that is not set

use super::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The members of a group, or changes to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDetails {
    /// The version. With version 1, the newest file of a group has all members; with version 2, all files together have
    /// them.
    pub version: Version,
    /// The members.
    pub members: Vec<GroupMember>,
}

/// Versions of groups and of their members, which are independent of those of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Since TileDB 2.8.
    V1 = 1,
    /// With members that can be deleted.
    V2 = 2,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The version of the member.
    pub version: Version,
    /// Whether it is a group or an array.
    pub object_type: ObjectType,
    /// Whether the URI is relative to the group.
    pub relative: bool,
    /// The URI.
    pub uri: Vec<u8>,
    /// The name within the group.
    pub name: Option<Vec<u8>>,
    /// Whether the member was removed. New in version 2.
    pub deleted: bool,
}

/// The kind of a group member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectType {
    /// A group.
    Group = 1,
    /// An array.
    Array = 2,
}

impl Structure for GroupDetails {
    type Context = ();
    const NAME: &'static str = "Group";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let version = Version::decode(d)?;
        let count = d.u64()?;
        let count = d.count(count, MIN_MEMBER_LEN)?;
        let members = (0..count).map(|_| GroupMember::decode(d, &())).collect::<Result<_>>()?;
        Ok(GroupDetails { version, members })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u32(self.version as u32);
        e.u64(self.members.len() as u64);
        self.members.iter().try_for_each(|member| member.encode(e, &()))
    }
}

impl Structure for GroupMember {
    type Context = ();
    const NAME: &'static str = "Group Member";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let version = Version::decode(d)?;
        let object_type = ObjectType::decode(d)?;
        let relative = field::boolean(d, "relative")?;
        let uri = field::bytes64(d)?;
        let name = match field::boolean(d, "name set")? {
            true => Some(field::bytes64(d)?),
            false => None,
        };
        let deleted = version >= Version::V2 && field::boolean(d, "deleted")?;
        Ok(GroupMember { version, object_type, relative, uri, name, deleted })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u32(self.version as u32);
        e.u8(self.object_type as u8);
        field::put_boolean(e, self.relative);
        field::put_bytes64(e, &self.uri);
        field::put_boolean(e, self.name.is_some());
        if let Some(name) = &self.name {
            field::put_bytes64(e, name);
        }
        match (self.version, self.deleted) {
            (Version::V1, true) => return Err(Error::invalid("a deleted member of version 1")),
            (Version::V1, false) => {}
            (Version::V2, deleted) => field::put_boolean(e, deleted),
        }
        Ok(())
    }
}

impl Version {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        match d.u32()? {
            1 => Ok(Version::V1),
            2 => Ok(Version::V2),
            other => Err(at.unsupported(format!("version {other}, expected 1 or 2"))),
        }
    }
}

impl ObjectType {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            1 => Ok(ObjectType::Group),
            2 => Ok(ObjectType::Array),
            other => Err(at.unsupported(format!("object type {other}, expected 1 or 2"))),
        }
    }
}

/// The fixed fields of a member of version 1, and the length of its URI.
const MIN_MEMBER_LEN: usize = 4 + 1 + 1 + 8 + 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn member(version: Version, deleted: bool) -> GroupMember {
        let (uri, name) = (b"sub/a".to_vec(), Some(b"a".to_vec()));
        GroupMember { version, object_type: ObjectType::Array, relative: true, uri, name, deleted }
    }

    structure_tests!(GroupDetails, context: (),
    golden: [include_str!("../../tests/golden/group.hex"), include_str!("../../tests/golden/group_deleted.hex")],
    values: [
        GroupDetails { version: Version::V1, members: vec![member(Version::V1, false); 2] },
        GroupDetails { version: Version::V2, members: vec![] },
    ]);

    mod group_member {
        use super::*;
        structure_tests!(GroupMember, context: (), golden: [], values: [
            member(Version::V1, false),
            member(Version::V2, true),
            GroupMember { name: None, object_type: ObjectType::Group, relative: false, ..member(Version::V2, false) },
        ]);
    }

    #[test]
    fn version_1_has_no_deleted_members() {
        assert!(member(Version::V1, true).encode(&mut Encoder::new(), &()).is_err());
    }
}
