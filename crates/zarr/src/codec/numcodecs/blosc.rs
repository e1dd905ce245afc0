//! `blosc`.
//!
//! Spec: Zarr v3 "Blosc codec", numcodecs

use super::{Members, Passing};
use crate::json::{Json, Object, Spot};
use crate::write::Version;
use hyperslab_codec::{Blosc, BloscCodec, BloscShuffle, Codec};
use hyperslab_core::{Error, Result};

pub(super) const MEMBERS: &[&str] = &["cname", "clevel", "shuffle", "typesize", "blocksize"];

pub(super) fn read(passing: &Passing, parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let number = |name: &str, default: u64| match parameters.get(name) {
        Some(json) => json.unsigned(&at.name(name)),
        None => Ok(default),
    };
    let here = at.name("cname");
    let name = parameters.get("cname").map_or(Ok("lz4"), |json| json.text(&here))?;
    let codec = BloscCodec::of_name(name).map_err(|e: Error| here.malformed(e.detail()))?;
    let element = usize::try_from(number("typesize", passing.element as u64)?).unwrap_or(usize::MAX);
    let here = at.name("shuffle");
    let shuffle = match parameters.get("shuffle") {
        None => BloscShuffle::Byte,
        Some(Json::String(name)) => match WORDS.iter().find(|(_, word, _)| *word == name.as_str()) {
            Some((shuffle, ..)) => *shuffle,
            None => return Err(here.malformed(format!("{name:?}, expected a shuffle of Blosc"))),
        },
        // Version 2 uses numbers; -1 means automatic.
        Some(Json::Number(number)) => match (number.as_u64(), number.as_integer()) {
            (_, Some(-1)) if element == 1 => BloscShuffle::Bit,
            (_, Some(-1)) => BloscShuffle::Byte,
            (Some(found), _) if found <= 2 => {
                let word = WORDS.iter().find(|(.., number)| *number == found);
                word.map_or(BloscShuffle::Byte, |(shuffle, ..)| *shuffle)
            }
            _ => return Err(here.malformed(format!("{number}, expected -1 to 2"))),
        },
        Some(other) => return Err(other.is_not("a shuffle of Blosc", &here)),
    };
    let here = at.name("clevel");
    let level = u8::try_from(number("clevel", 5)?).map_err(|_| here.malformed("expected 0 to 9"))?;
    let block = u32::try_from(number("blocksize", 0)?).unwrap_or_default();
    Ok(Blosc { codec, level, shuffle, element, block }.into())
}

pub(super) fn write(codec: &Codec, version: Version) -> Option<Members> {
    let Codec::Blosc(blosc) = codec else { return None };
    let (_, word, number) = *WORDS.iter().find(|(shuffle, ..)| *shuffle == blosc.shuffle)?;
    let mut members = vec![("cname", blosc.codec.name().into()), ("clevel", u64::from(blosc.level).into())];
    match version {
        Version::V3 => {
            members.push(("shuffle", word.into()));
            members.push(("typesize", (blosc.element.max(1) as u64).into()));
        }
        // The dtype gives the size of elements.
        Version::V2 => members.push(("shuffle", number.into())),
    }
    members.push(("blocksize", u64::from(blosc.block).into()));
    Some(members)
}

/// The shuffles, with their names in version 3 and their numbers in version 2.
const WORDS: [(BloscShuffle, &str, u64); 3] = [
    (BloscShuffle::None, "noshuffle", 0),
    (BloscShuffle::Byte, "shuffle", 1),
    (BloscShuffle::Bit, "bitshuffle", 2),
];
