//! Link message, type 0x0006.
//!
//! Spec: HDF5 IV.A.2.g

use super::character_set::CharacterSet;
use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A link: a name in a group, and its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The name. It contains no slash.
    pub name: Vec<u8>,
    /// The character set of the name; `None` if it is not stored, which means ASCII.
    pub character_set: Option<CharacterSet>,
    /// The creation order of the link, if it is tracked.
    pub creation_order: Option<i64>,
    /// The target.
    pub target: LinkTarget,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// A hard link: the address of an object header in this file.
    Hard(Address),
    /// A soft link: a path in this file, which may not exist.
    Soft(Vec<u8>),
    /// An external link: a path in another file.
    External(ExternalLink),
    /// A user-defined link.
    UserDefined {
        /// The link type, 65 to 255.
        code: u8,
        /// The data of the link, which only the application that wrote it can interpret.
        data: Vec<u8>,
    },
}

/// A path in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalLink {
    /// The name of the file.
    pub file: Vec<u8>,
    /// The path in that file.
    pub path: Vec<u8>,
}

impl Structure for Link {
    type Context = Sizes;
    const NAME: &'static str = "Link message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 1 {
            return Err(at.unsupported(format!("version {version}, expected 1")));
        }
        let at = d.clone();
        let flags = d.u8()?;
        if flags & RESERVED != 0 {
            return Err(at.unsupported(format!("flags {flags:#04x}")));
        }
        let code = if flags & HAS_TYPE != 0 { d.u8()? } else { HARD };
        let creation_order = if flags & HAS_CREATION_ORDER != 0 { Some(d.i64()?) } else { None };
        let at = d.clone();
        let character_set =
            if flags & HAS_CHARACTER_SET != 0 { Some(CharacterSet::from_code(d.u8()?, &at)?) } else { None };
        let at = d.clone();
        let name_len = d.uint(1 << (flags & NAME_LEN_WIDTH))?;
        if name_len == 0 {
            return Err(at.malformed("link name length 0, expected 1 or more"));
        }
        let name_len = d.len_of(name_len)?;
        let name = d.take(name_len)?.to_vec();
        let target = LinkTarget::decode(d, code, sizes)?;
        Ok(Link { name, character_set, creation_order, target })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        if self.name.is_empty() {
            return Err(Error::invalid("link name is empty"));
        }
        e.u8(1);
        let (width_code, width) = match self.name.len() {
            0..0x100 => (0, 1),
            0x100..0x1_0000 => (1, 2),
            _ => (2, 4),
        };
        let flag = |flag, set| if set { flag } else { 0 };
        let code = self.target.code();
        e.u8(width_code
            | flag(HAS_TYPE, code != HARD)
            | flag(HAS_CREATION_ORDER, self.creation_order.is_some())
            | flag(HAS_CHARACTER_SET, self.character_set.is_some()));
        if code != HARD {
            e.u8(code);
        }
        if let Some(order) = self.creation_order {
            e.i64(order);
        }
        if let Some(character_set) = self.character_set {
            e.u8(character_set as u8);
        }
        e.len_as(width, self.name.len())?;
        e.bytes(&self.name);
        self.target.encode(e, sizes)
    }
}

impl HeaderMessage for Link {
    const TYPE: MessageType = MessageType::LINK;
}

impl LinkTarget {
    fn decode(d: &mut Decoder<'_>, code: u8, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        match code {
            HARD => Ok(LinkTarget::Hard(sizes.address(d)?)),
            SOFT => {
                let len = d.u16()?;
                if len == 0 {
                    return Err(at.malformed("soft link target length 0, expected 1 or more"));
                }
                Ok(LinkTarget::Soft(d.take(len.into())?.to_vec()))
            }
            EXTERNAL => {
                let len = d.u16()?;
                ExternalLink::decode(d.sub(Link::NAME, len.into())?).map(LinkTarget::External)
            }
            MIN_USER_DEFINED.. => {
                let len = d.u16()?;
                Ok(LinkTarget::UserDefined { code, data: d.take(len.into())?.to_vec() })
            }
            other => Err(at.unsupported(format!("link type {other}, expected 0, 1 or 64 to 255"))),
        }
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        match self {
            LinkTarget::Hard(address) => return sizes.put_address(e, *address),
            LinkTarget::Soft(path) if path.is_empty() => {
                return Err(Error::invalid("soft link target is empty"));
            }
            LinkTarget::Soft(path) => {
                e.len_as(2, path.len())?;
                e.bytes(path);
            }
            LinkTarget::External(external) => {
                let mut value = Encoder::new();
                external.encode(&mut value)?;
                e.len_as(2, value.len())?;
                e.bytes(value.as_slice());
            }
            LinkTarget::UserDefined { data, .. } => {
                e.len_as(2, data.len())?;
                e.bytes(data);
            }
        }
        Ok(())
    }

    fn code(&self) -> u8 {
        match self {
            LinkTarget::Hard(_) => HARD,
            LinkTarget::Soft(_) => SOFT,
            LinkTarget::External(_) => EXTERNAL,
            LinkTarget::UserDefined { code, .. } => *code,
        }
    }
}

impl ExternalLink {
    fn decode(mut d: Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        let version_and_flags = d.u8()?;
        if version_and_flags != 0 {
            return Err(at.unsupported(format!(
                "external link version and flags {version_and_flags:#04x}, expected 0x00"
            )));
        }
        Ok(ExternalLink { file: d.until_nul()?.to_vec(), path: d.until_nul()?.to_vec() })
    }

    fn encode(&self, e: &mut Encoder) -> Result<()> {
        if self.file.contains(&0) || self.path.contains(&0) {
            return Err(Error::invalid("external link contains NUL"));
        }
        e.u8(0);
        for text in [&self.file, &self.path] {
            e.bytes(text);
            e.u8(0);
        }
        Ok(())
    }
}

const NAME_LEN_WIDTH: u8 = 0x03;
const HAS_CREATION_ORDER: u8 = 0x04;
const HAS_TYPE: u8 = 0x08;
const HAS_CHARACTER_SET: u8 = 0x10;
const RESERVED: u8 = 0xe0;

const HARD: u8 = 0;
const SOFT: u8 = 1;
const EXTERNAL: u8 = 64;
const MIN_USER_DEFINED: u8 = 65;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn link(name_len: usize, target: LinkTarget) -> Link {
        Link { name: vec![b'n'; name_len], character_set: None, creation_order: None, target }
    }

    structure_tests!(Link, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_link_hard.hex"),
        include_str!("../../../tests/golden/message_link_hard_utf8_tracked.hex"),
        include_str!("../../../tests/golden/message_link_soft.hex"),
        include_str!("../../../tests/golden/message_link_external.hex"),
        include_str!("../../../tests/golden/message_link_long_name.hex"),
    ],
    values: [
        Link {
            character_set: Some(CharacterSet::Ascii),
            creation_order: Some(-1),
            ..link(3, LinkTarget::UserDefined { code: 187, data: vec![] })
        },
        link(1, LinkTarget::Hard(Address::UNDEFINED)),
    ]);

    #[test]
    fn round_trips_names_over_64_kb() {
        crate::format::structure_tests::values(
            &[link(0x1_0000, LinkTarget::Hard(Address(8)))],
            &Sizes::DEFAULT,
        );
    }

    #[test]
    fn rejects_empty_names_and_paths() {
        assert!(link(0, LinkTarget::Hard(Address(8))).encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
        for bytes in [&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[1, 8, 1, 1, b'a', 0, 0]] {
            assert!(Link::decode(&mut Decoder::new("t", 0, bytes), &Sizes::DEFAULT).is_err());
        }
    }

    #[test]
    fn rejects_links_of_reserved_types() {
        let e =
            Link::decode(&mut Decoder::new("t", 0, &[1, 8, 2, 1, b'a', 0, 0]), &Sizes::DEFAULT).unwrap_err();
        assert_eq!(e.detail(), "link type 2, expected 0, 1 or 64 to 255");
    }

    #[test]
    fn rejects_external_links_without_terminator() {
        let bytes = [1, 8, 64, 1, b'a', 4, 0, 0, b'f', 0, b'p', 0];
        assert!(Link::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
    }
}
