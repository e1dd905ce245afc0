//! Attribute message, type 0x000C.
//!
//! Spec: HDF5 IV.A.2.m

use super::character_set::CharacterSet;
use super::dataspace::Dataspace;
use super::datatype::Datatype;
use super::shared::{MaybeShared, SharedMessage};
use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// An attribute: a named value of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The version of the encoding, with fields that only this version has.
    pub version: Version,
    /// The name, without the terminating NUL.
    pub name: Vec<u8>,
    /// The datatype of the elements.
    pub datatype: MaybeShared<Datatype>,
    /// The dataspace: the number and arrangement of the elements.
    pub dataspace: MaybeShared<Dataspace>,
    /// The bytes of the elements. If datatype or dataspace are shared, padding may follow: see [`Attribute::value`].
    pub data: Vec<u8>,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// Of the first libhdf5. Parts are padded; datatype and dataspace cannot be shared.
    V1,
    /// Since libhdf5 1.6.
    V2,
    /// Since libhdf5 1.8.
    V3 {
        /// The character set of the name.
        character_set: CharacterSet,
    },
}

impl Attribute {
    /// The bytes of the elements. Datatype and dataspace are given, since the message may only refer to them.
    ///
    /// # Errors
    /// If the message has fewer bytes than the elements need.
    pub fn value(&self, datatype: &Datatype, dataspace: &Dataspace) -> Result<&[u8]> {
        value_len(datatype, dataspace).and_then(|len| self.data.get(..len)).ok_or_else(|| {
            Error::malformed(format!(
                "attribute value of {} bytes, expected {:?} elements of {} bytes",
                self.data.len(),
                dataspace.dimensions(),
                datatype.size
            ))
        })
    }

    /// The character set of the name.
    pub fn character_set(&self) -> CharacterSet {
        match self.version {
            Version::V1 | Version::V2 => CharacterSet::Ascii,
            Version::V3 { character_set } => character_set,
        }
    }
}

/// The fields before datatype and dataspace.
struct Head {
    version: Version,
    flags: u8,
    name: Vec<u8>,
    datatype_len: u16,
    dataspace_len: u16,
}

impl Head {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if !(1..=3).contains(&version) {
            return Err(at.unsupported(format!("version {version}, expected 1 to 3")));
        }
        let flags = if version == 1 {
            d.reserved(1)?;
            0
        } else {
            d.u8()?
        };
        if flags & !(SHARED_DATATYPE | SHARED_DATASPACE) != 0 {
            return Err(at.unsupported(format!("flags {flags:#04x}")));
        }
        let (name_len, datatype_len, dataspace_len) = (d.u16()?, d.u16()?, d.u16()?);
        let character_code_at = d.clone();
        let version = match version {
            1 => Version::V1,
            2 => Version::V2,
            _ => Version::V3 { character_set: CharacterSet::from_code(d.u8()?, &character_code_at)? },
        };
        let name = decode_name(part(d, version, name_len)?)?;
        Ok(Head { version, flags, name, datatype_len, dataspace_len })
    }
}

/// Takes the bytes of the next part, and skips its padding in version 1.
fn part<'a>(d: &mut Decoder<'a>, version: Version, len: u16) -> Result<Decoder<'a>> {
    let part = d.sub(Attribute::NAME, len.into())?;
    if version == Version::V1 {
        d.reserved(usize::from(len).next_multiple_of(8) - usize::from(len))?;
    }
    Ok(part)
}

impl Attribute {
    /// Decodes only the name, even if the rest of the message is damaged.
    pub fn decode_name(d: &mut Decoder<'_>) -> Result<Vec<u8>> {
        Head::decode(d).map(|head| head.name)
    }

    /// Whether the message in `body` may have this name, without decoding all of it. The name follows the three size
    /// fields and, in version 3, the character set.
    pub fn may_be_named(body: &[u8], name: &[u8]) -> bool {
        let at = |offset: usize| body.get(offset..).and_then(|rest| rest.strip_prefix(name));
        [at(8), at(9)].into_iter().flatten().any(|behind| behind.first() == Some(&0))
    }
}

impl Structure for Attribute {
    type Context = Sizes;
    const NAME: &'static str = "Attribute message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let Head { version, flags, name, datatype_len, dataspace_len } = Head::decode(d)?;
        let datatype = decode_part(part(d, version, datatype_len)?, flags & SHARED_DATATYPE != 0, sizes)?;
        let dataspace = decode_part(part(d, version, dataspace_len)?, flags & SHARED_DATASPACE != 0, sizes)?;
        let data = match (datatype.here(), dataspace.here()) {
            (Some(datatype), Some(dataspace)) => {
                let at = d.clone();
                let len = value_len(datatype, dataspace)
                    .ok_or_else(|| at.malformed("attribute value size overflows"))?;
                d.take(len)?
            }
            _ => d.rest(),
        };
        Ok(Attribute { version, name, datatype, dataspace, data: data.to_vec() })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        if self.name.is_empty() || self.name.contains(&0) {
            return Err(Error::invalid("attribute name is empty or contains NUL"));
        }
        let parts = [
            self.name.iter().copied().chain([0]).collect(),
            encode_part(&self.datatype, sizes)?,
            encode_part(&self.dataspace, sizes)?,
        ];
        let shared = |flag, is_here: bool| if is_here { 0 } else { flag };
        let flags = shared(SHARED_DATATYPE, self.datatype.here().is_some())
            | shared(SHARED_DATASPACE, self.dataspace.here().is_some());
        e.u8(match self.version {
            Version::V1 if flags != 0 => {
                return Err(Error::invalid(
                    "an attribute with a shared datatype or dataspace needs version 2 or later",
                ));
            }
            Version::V1 => 1,
            Version::V2 => 2,
            Version::V3 { .. } => 3,
        });
        e.u8(flags);
        parts.iter().try_for_each(|part| e.len_as(2, part.len()))?;
        if let Version::V3 { character_set } = self.version {
            e.u8(character_set as u8);
        }
        for part in parts {
            let start = e.len();
            e.bytes(&part);
            if self.version == Version::V1 {
                e.pad_to(start, 8);
            }
        }
        e.bytes(&self.data);
        Ok(())
    }
}

impl HeaderMessage for Attribute {
    const TYPE: MessageType = MessageType::ATTRIBUTE;

    fn check_unchecksummed(&self) -> Result<()> {
        self.datatype.here().map_or(Ok(()), Datatype::check_unchecksummed)
    }
}

/// The size of the value in bytes. `None` on overflow.
fn value_len(datatype: &Datatype, dataspace: &Dataspace) -> Option<usize> {
    let len = dataspace.element_count()?.checked_mul(datatype.size.into())?;
    usize::try_from(len).ok()
}

/// Decodes a name. Its length includes the terminating NUL, which must be the last byte.
fn decode_name(mut d: Decoder<'_>) -> Result<Vec<u8>> {
    let at = d.clone();
    let name = match d.rest().split_last() {
        Some((_, name)) if !name.is_empty() => name,
        _ => return Err(at.malformed("attribute name size 0, expected 1 or more")),
    };
    if name.contains(&0) {
        return Err(at.malformed(format!("attribute name of {} bytes contains NUL", name.len())));
    }
    Ok(name.to_vec())
}

fn decode_part<S: Structure<Context = Sizes>>(
    mut d: Decoder<'_>,
    shared: bool,
    sizes: &Sizes,
) -> Result<MaybeShared<S>> {
    if shared {
        SharedMessage::decode(&mut d.named(SharedMessage::NAME), sizes).map(MaybeShared::Shared)
    } else {
        d = d.named(S::NAME);
        S::decode(&mut d, sizes).map(MaybeShared::Here)
    }
}

fn encode_part<S: Structure<Context = Sizes>>(part: &MaybeShared<S>, sizes: &Sizes) -> Result<Vec<u8>> {
    let mut e = Encoder::new();
    match part {
        MaybeShared::Here(value) => value.encode(&mut e, sizes)?,
        MaybeShared::Shared(shared) => shared.encode(&mut e, sizes)?,
    }
    Ok(e.into_bytes())
}

const SHARED_DATATYPE: u8 = 1;
const SHARED_DATASPACE: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::decode_prefix;
    use crate::format::structure_tests::{hex, structure_tests};

    const V1: &str = include_str!("../../../tests/golden/message_attribute_v1.hex");
    const V3: &str = include_str!("../../../tests/golden/message_attribute_v3.hex");
    const COMMITTED: &str = include_str!("../../../tests/golden/message_attribute_v3_committed.hex");

    fn decode(text: &str) -> Attribute {
        decode_prefix(0, &hex(text), &Sizes::DEFAULT).unwrap()
    }

    structure_tests!(Attribute, context: Sizes::DEFAULT,
        golden: [V1, V3, include_str!("../../../tests/golden/message_attribute_v3_utf8.hex")],
        values: [Attribute { version: Version::V2, ..decode(V3) }]);

    #[test]
    fn shared_datatypes_stay_shared() {
        crate::format::structure_tests::golden::<Attribute>(&[COMMITTED], &Sizes::DEFAULT);
        let attribute = decode(COMMITTED);
        assert!(matches!(attribute.datatype, MaybeShared::Shared(_)));
        let mut old = attribute.clone();
        old.version = Version::V1;
        assert!(old.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
        let v3 = decode(V3);
        let (datatype, dataspace) = (v3.datatype.here().unwrap(), attribute.dataspace.here().unwrap());
        assert_eq!(attribute.value(datatype, dataspace).unwrap(), attribute.data);
    }

    #[test]
    fn rejects_values_that_are_too_short() {
        let mut attribute = decode(V1);
        assert_eq!(attribute.name, b"a");
        let (datatype, dataspace) =
            (attribute.datatype.here().cloned().unwrap(), attribute.dataspace.here().cloned().unwrap());
        assert_eq!(attribute.value(&datatype, &dataspace).unwrap(), [0, 0, 1, 0, 2, 0]);
        attribute.data.pop();
        assert!(attribute.value(&datatype, &dataspace).is_err());
    }

    #[test]
    fn rejects_names_that_differ_from_their_length() {
        let mut bytes = hex(V3);
        let name = bytes.windows(2).position(|w| w == b"a\0").unwrap();
        bytes[name] = 0;
        assert!(decode_prefix::<Attribute>(0, &bytes, &Sizes::DEFAULT).is_err());
        let mut bytes = hex(V3);
        bytes[2] = 1;
        assert!(decode_prefix::<Attribute>(0, &bytes, &Sizes::DEFAULT).is_err());
    }
}
