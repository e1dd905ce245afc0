//! Class 6: compounds.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Compound

use super::{Array, Datatype, DatatypeClass, Head, Version, decode_name, encode_name};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A compound: named members of different datatypes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound {
    /// The members, not necessarily in order of their offsets.
    pub members: Vec<Member>,
}

/// A member of a compound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name.
    pub name: Vec<u8>,
    /// The byte offset in the element.
    pub byte_offset: u32,
    /// The datatype. If a member of version 1 has dimensions, it is an [`Array`] of version 1.
    pub datatype: Datatype,
}

impl Compound {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let count = head.count();
        if count == 0 {
            return Err(head.at.malformed("number of members 0, expected 1 or more"));
        }
        d.count(count.into(), MIN_MEMBER)?;
        let members = (0..count).map(|_| Member::decode(d, head)).collect::<Result<_>>()?;
        let compound = Compound { members };
        compound.check(head)?;
        Ok(compound)
    }

    pub(super) fn bits(&self) -> Result<u32> {
        u16::try_from(self.members.len())
            .map(u32::from)
            .map_err(|_| Error::invalid(format!("{} members, expected at most 65535", self.members.len())))
    }

    pub(super) fn encode(&self, e: &mut Encoder, compound: &Datatype) -> Result<()> {
        self.members.iter().try_for_each(|member| member.encode(e, compound))
    }

    /// Checks that members do not overlap and have different names.
    fn check(&self, head: &Head<'_>) -> Result<()> {
        let mut members: Vec<&Member> = self.members.iter().collect();
        members.sort_unstable_by_key(|member| member.byte_offset);
        for (low, high) in members.iter().zip(members.iter().skip(1)) {
            if u64::from(low.byte_offset) + u64::from(low.datatype.size) > high.byte_offset.into() {
                return Err(head.at.malformed(format!(
                    "members {} and {} overlap",
                    low.shown(),
                    high.shown()
                )));
            }
        }
        members.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for (one, other) in members.iter().zip(members.iter().skip(1)) {
            if one.name == other.name {
                return Err(head.at.malformed(format!("two members have the name {}", one.shown())));
            }
        }
        Ok(())
    }
}

impl Member {
    fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let at = d.clone();
        let name = decode_name(d, head.version)?;
        let width = offset_width(head.version, head.size);
        let byte_offset =
            u32::try_from(d.uint(width)?).map_err(|_| at.malformed("member offset of more than 4 bytes"))?;
        let dimensions = match head.version {
            Version::V1 => decode_dimensions(d)?,
            _ => Vec::new(),
        };
        let mut datatype = Datatype::decode_nested(d, head.nesting + 1)?;
        if !dimensions.is_empty() {
            let array = Array { dimensions, base: Box::new(datatype) };
            let size = array.size().filter(|size| *size != 0).ok_or_else(|| {
                at.malformed(format!(
                    "member array of {:?} items of {} bytes overflows",
                    array.dimensions, array.base.size
                ))
            })?;
            datatype = Datatype { version: Version::V1, size, class: DatatypeClass::Array(array) };
        }
        let member = Member { name, byte_offset, datatype };
        if u64::from(byte_offset) + u64::from(member.datatype.size) > head.size.into() {
            return Err(at.malformed(format!(
                "member {} of {} bytes at byte offset {byte_offset} exceeds the compound of {} bytes",
                member.shown(),
                member.datatype.size,
                head.size
            )));
        }
        Ok(member)
    }

    fn encode(&self, e: &mut Encoder, compound: &Datatype) -> Result<()> {
        encode_name(e, &self.name, compound.version)?;
        e.uint(offset_width(compound.version, compound.size), self.byte_offset.into())?;
        let (dimensions, datatype) = match &self.datatype {
            Datatype { version: Version::V1, class: DatatypeClass::Array(array), .. } => {
                (array.dimensions.as_slice(), array.base.as_ref())
            }
            datatype => (&[][..], datatype),
        };
        if compound.version == Version::V1 {
            encode_dimensions(e, dimensions)?;
        } else if !dimensions.is_empty() {
            return Err(Error::invalid("an array of version 1 needs a compound of version 1"));
        }
        datatype.encode_nested(e)
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

/// Decodes the dimensions of a member in version 1, at most four.
fn decode_dimensions(d: &mut Decoder<'_>) -> Result<Vec<u32>> {
    let at = d.clone();
    let rank = d.u8()?;
    if rank > 4 {
        return Err(at.malformed(format!("{rank} member dimensions, expected at most 4")));
    }
    d.reserved(3)?;
    // A permutation of the dimensions, which was never implemented.
    d.reserved(4)?;
    d.reserved(4)?;
    let mut dimensions = Vec::new();
    for index in 0..4 {
        let dimension = d.u32()?;
        if index < rank {
            dimensions.push(dimension);
        }
    }
    Ok(dimensions)
}

fn encode_dimensions(e: &mut Encoder, dimensions: &[u32]) -> Result<()> {
    let mut four = [0; 4];
    match four.get_mut(..dimensions.len()) {
        Some(used) => used.copy_from_slice(dimensions),
        None => {
            return Err(Error::invalid(format!(
                "{} member dimensions, expected at most 4",
                dimensions.len()
            )));
        }
    }
    e.len_as(1, dimensions.len())?;
    e.reserved(3);
    // The identity permutation.
    for index in 0..4 {
        e.u8(if usize::from(index) < dimensions.len() { index } else { 0 });
    }
    e.reserved(4);
    for dimension in four {
        e.u32(dimension);
    }
    Ok(())
}

/// The size of a member offset in bytes: since version 3, as many as the size of the compound needs.
fn offset_width(version: Version, size: u32) -> u8 {
    match (version, size) {
        (Version::V1 | Version::V2, _) => 4,
        (_, ..0x100) => 1,
        (_, ..0x1_0000) => 2,
        (_, ..0x100_0000) => 3,
        _ => 4,
    }
}

/// The minimum size of a member in bytes: the NUL of its name, an offset and a datatype.
const MIN_MEMBER: usize = 1 + 1 + 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};
    use crate::format::{Sizes, Structure};

    const V1: &str = include_str!("../../../../tests/golden/message_datatype_compound_v1.hex");
    const V3: &str = include_str!("../../../../tests/golden/message_datatype_compound_v3.hex");

    fn text(version: Version, size: u32) -> Datatype {
        use crate::format::message::character_set::CharacterSet;
        use crate::format::message::datatype::{StringPadding, Text};
        let padding = StringPadding::NullPad;
        let class = DatatypeClass::String(Text { padding, character_set: CharacterSet::Ascii });
        Datatype { version, size, class }
    }

    fn member(name: &str, byte_offset: u32, datatype: Datatype) -> Member {
        Member { name: name.into(), byte_offset, datatype }
    }

    fn compound(version: Version, size: u32, members: Vec<Member>) -> Datatype {
        Datatype { version, size, class: DatatypeClass::Compound(Compound { members }) }
    }

    fn embedded(dimensions: &[u32]) -> Datatype {
        let base = Box::new(text(Version::V1, 3));
        let array = Array { dimensions: dimensions.to_vec(), base };
        Datatype { version: Version::V1, size: array.size().unwrap(), class: DatatypeClass::Array(array) }
    }

    structure_tests!(Datatype, context: Sizes::DEFAULT,
    golden: [
        V1,
        include_str!("../../../../tests/golden/message_datatype_compound_v2.hex"),
        V3,
    ],
    values: [
        compound(Version::V1, 40, vec![
            member("a", 0, text(Version::V1, 4)),
            member("eightbyt", 4, embedded(&[2, 3, 2])),
        ]),
        compound(Version::V3, 0x12_3456, vec![member("", 0x12_0000, text(Version::V3, 0x3456))]),
        compound(Version::V4, 0x1234, vec![
            member("b", 0x1000, text(Version::V3, 0x34)),
            member("a", 0, text(Version::V3, 0x34)),
        ]),
    ]);

    fn decode(datatype: &Datatype) -> Result<Datatype> {
        let mut e = Encoder::new();
        datatype.encode(&mut e, &Sizes::DEFAULT).unwrap();
        Datatype::decode(&mut Decoder::new("t", 0, e.as_slice()), &Sizes::DEFAULT)
    }

    #[test]
    fn rejects_impossible_members() {
        let bad = |members| decode(&compound(Version::V3, 8, members)).unwrap_err().detail().to_owned();
        let four = || text(Version::V3, 4);
        assert_eq!(bad(vec![]), "number of members 0, expected 1 or more");
        assert_eq!(
            bad(vec![member("a", 5, four())]),
            "member a of 4 bytes at byte offset 5 exceeds the compound of 8 bytes"
        );
        assert_eq!(bad(vec![member("a", 3, four()), member("b", 0, four())]), "members b and a overlap");
        assert_eq!(bad(vec![member("a", 4, four()), member("a", 0, four())]), "two members have the name a");
    }

    #[test]
    fn dimensions_of_members_are_arrays() {
        let golden = hex(V1);
        let mut bytes = golden.clone();
        // The first member: a name of 8 bytes, an offset of 4, the rank.
        assert_eq!(golden[20], 0);
        bytes[20] = 1;
        bytes[32] = 2;
        let e = Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap_err();
        assert!(e.detail().ends_with("overlap"), "{e}");
        bytes[32] = 0;
        assert!(Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
        bytes[20] = 5;
        assert!(Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
    }

    #[test]
    fn writes_dimensions_with_the_identity_permutation() {
        let mut e = Encoder::new();
        encode_dimensions(&mut e, &[5, 6]).unwrap();
        let bytes = [2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(e.as_slice(), bytes);
    }

    #[test]
    fn rejects_member_dimensions_in_later_versions() {
        let later = compound(Version::V2, 40, vec![member("a", 0, embedded(&[2]))]);
        assert!(later.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
        let five = compound(Version::V1, 40, vec![member("a", 0, embedded(&[1; 5]))]);
        assert!(five.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
    }
}
