//! `lzma` of numcodecs, with the parameters of the Python module `lzma`.
//!
//! Spec: numcodecs, Python "lzma"

use super::Members;
use crate::json::{Json, Number, Object, Spot};
use hyperslab_codec::{
    Codec, Lzma, LzmaBranches, LzmaCheck, LzmaCoder, LzmaContainer, LzmaFilter, LzmaParameters,
};
use hyperslab_core::{Error, Result};

pub(super) const MEMBERS: &[&str] = &["format", "check", "preset", "filters"];

pub(super) fn read(parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    stream(parameters, at).map(Codec::from)
}

pub(super) fn write(codec: &Codec) -> Option<Members> {
    let Codec::Lzma(lzma) = codec else { return None };
    let (format, check) = match lzma.container() {
        LzmaContainer::Xz { check } => (FORMAT_XZ, CHECKS.iter().find(|(of, _)| *of == check)?.1),
        LzmaContainer::Alone => (FORMAT_ALONE, -1),
        LzmaContainer::Raw => (FORMAT_RAW, -1),
    };
    let number = |value: i128| Json::Number(Number::integer(value));
    // A preset determines all parameters. A raw stream needs the list of filters.
    let preset =
        lzma.preset().filter(|_| lzma.filters().is_empty() && lzma.container() != LzmaContainer::Raw);
    let filters = match preset {
        Some(_) => Json::Null,
        None => {
            Json::Array(lzma.filters().iter().map(write_filter).chain([write_coder(lzma.coder())]).collect())
        }
    };
    Some(vec![
        ("format", number(format)),
        ("check", number(check)),
        ("preset", preset.map_or(Json::Null, |preset| number(preset.into()))),
        ("filters", filters),
    ])
}

fn stream(parameters: &Object, at: &Spot<'_>) -> Result<Lzma> {
    let here = at.name("format");
    let container = match integer(parameters, "format", at)?.unwrap_or(FORMAT_XZ) {
        FORMAT_XZ => LzmaContainer::Xz { check: check(parameters, at)? },
        FORMAT_ALONE => LzmaContainer::Alone,
        FORMAT_RAW => LzmaContainer::Raw,
        other => return Err(here.malformed(format!("{other}, expected 1 to 3"))),
    };
    let list = match parameters.get("filters") {
        None | Some(Json::Null) => &[][..],
        Some(json) => json.array(&at.name("filters"))?,
    };
    let there = at.name("filters");
    let wrong = |e: Error| at.malformed(e.detail());
    let Some((last, before)) = list.split_last() else {
        if container == LzmaContainer::Raw {
            return Err(there.malformed("no filters, expected a list for a raw stream"));
        }
        let parameters = preset(parameters, at)?;
        let coder = match container {
            LzmaContainer::Alone => LzmaCoder::Lzma1(parameters),
            _ => LzmaCoder::Lzma2(parameters),
        };
        return Lzma::new(container, Vec::new(), coder).map_err(wrong);
    };
    let filters = before.iter().enumerate().map(|(index, json)| {
        let here = there.index(index);
        filter(json.object(&here)?, &here)
    });
    let here = there.index(before.len());
    Lzma::new(container, filters.collect::<Result<_>>()?, coder(last.object(&here)?, &here)?).map_err(wrong)
}

fn check(parameters: &Object, at: &Spot<'_>) -> Result<LzmaCheck> {
    let Some(found) = integer(parameters, "check", at)? else { return Ok(LzmaCheck::Crc64) };
    let check = CHECKS.iter().find(|(_, number)| *number == found).map(|(check, _)| *check);
    check
        .or((found == 4).then_some(LzmaCheck::Crc64))
        .ok_or_else(|| at.name("check").unsupported(format!("check {found} of xz")))
}

fn filter(members: &Object, at: &Spot<'_>) -> Result<LzmaFilter> {
    let id = integer(members, "id", at)?;
    if id == Some(DELTA) {
        let distance = integer(members, "dist", at)?.unwrap_or(1);
        let distance = u16::try_from(distance);
        let distance = distance.map_err(|_| at.name("dist").malformed("expected 1 to 256"))?;
        return Ok(LzmaFilter::Delta { distance });
    }
    let of = BRANCHES.iter().find(|(_, known)| Some(*known) == id).map(|(of, _)| *of);
    let of = of.ok_or_else(|| no_filter(id, at))?;
    let start = integer(members, "start_offset", at)?.unwrap_or(0);
    let start =
        u32::try_from(start).map_err(|_| at.name("start_offset").malformed("expected 0 to 2^32 - 1"))?;
    Ok(LzmaFilter::Branches { of, start })
}

fn write_filter(filter: &LzmaFilter) -> Json {
    let members = match filter {
        LzmaFilter::Delta { distance } => vec![("id", DELTA), ("dist", (*distance).into())],
        LzmaFilter::Branches { of, start } => {
            let id = BRANCHES.iter().find(|(known, _)| known == of).map_or(0, |(_, id)| *id);
            vec![("id", id), ("start_offset", (*start).into())]
        }
    };
    object(members)
}

fn write_coder(coder: LzmaCoder) -> Json {
    let (id, parameters) = match coder {
        LzmaCoder::Lzma1(parameters) => (LZMA1, parameters),
        LzmaCoder::Lzma2(parameters) => (LZMA2, parameters),
    };
    object(vec![
        ("id", id),
        ("dict_size", parameters.dictionary.into()),
        ("lc", parameters.literal_context.into()),
        ("lp", parameters.literal_position.into()),
        ("pb", parameters.position.into()),
        ("mode", if parameters.is_fast { 1 } else { 2 }),
        ("nice_len", parameters.nice_length.into()),
        ("mf", if parameters.has_trees { BINARY_TREE_4 } else { HASH_CHAIN_4 }),
        ("depth", parameters.depth.into()),
    ])
}

fn object(members: Vec<(&str, i128)>) -> Json {
    let members =
        members.into_iter().map(|(name, value)| (name.to_owned(), Json::Number(Number::integer(value))));
    Json::Object(members.collect())
}

fn coder(members: &Object, at: &Spot<'_>) -> Result<LzmaCoder> {
    let mut parameters = preset(members, at)?;
    let small = |name: &str, default: u8| match integer(members, name, at)? {
        Some(found) => u8::try_from(found).map_err(|_| at.name(name).malformed("expected a small number")),
        None => Ok(default),
    };
    if let Some(size) = integer(members, "dict_size", at)? {
        let here = at.name("dict_size");
        parameters.dictionary =
            u32::try_from(size).map_err(|_| here.malformed("expected at most 1.5 GiB"))?;
    }
    parameters.literal_context = small("lc", parameters.literal_context)?;
    parameters.literal_position = small("lp", parameters.literal_position)?;
    parameters.position = small("pb", parameters.position)?;
    // The other parameters affect only encoding, so unknown values are harmless.
    if let Some(mode) = integer(members, "mode", at)? {
        parameters.is_fast = mode == 1;
    }
    if let Some(length) = integer(members, "nice_len", at)? {
        parameters.nice_length = u16::try_from(length.clamp(8, 273)).unwrap_or(64);
    }
    if let Some(finder) = integer(members, "mf", at)? {
        parameters.has_trees = finder >= FIRST_TREE;
    }
    if let Some(depth) = integer(members, "depth", at)? {
        parameters.depth = u16::try_from(depth).unwrap_or(0);
    }
    match integer(members, "id", at)? {
        Some(LZMA1) => Ok(LzmaCoder::Lzma1(parameters)),
        Some(LZMA2) => Ok(LzmaCoder::Lzma2(parameters)),
        other => Err(no_filter(other, at)),
    }
}

fn preset(members: &Object, at: &Spot<'_>) -> Result<LzmaParameters> {
    let preset = integer(members, "preset", at)?.unwrap_or(6);
    // A flag in a high bit selects the extreme variant of a preset.
    let number = u8::try_from(preset & 0x1f).unwrap_or(u8::MAX);
    LzmaParameters::preset(number).map_err(|e| at.name("preset").malformed(e.detail()))
}

fn integer(members: &Object, name: &str, at: &Spot<'_>) -> Result<Option<i128>> {
    match members.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Number(number)) => match number.as_integer() {
            Some(integer) => Ok(Some(integer)),
            None => Err(at.name(name).malformed(format!("{number}, expected an integer"))),
        },
        Some(other) => Err(other.is_not("an integer", &at.name(name))),
    }
}

fn no_filter(found: Option<i128>, at: &Spot<'_>) -> Error {
    match found {
        Some(id) => at.name("id").unsupported(format!("filter {id} of LZMA in this place")),
        None => at.malformed("no \"id\""),
    }
}

const FORMAT_XZ: i128 = 1;
const FORMAT_ALONE: i128 = 2;
const FORMAT_RAW: i128 = 3;

const LZMA1: i128 = 0x4000_0000_0000_0001;
const LZMA2: i128 = 0x21;

/// Match finders from here on are binary trees.
const FIRST_TREE: i128 = 0x10;
/// Four bytes are hashed.
const HASH_CHAIN_4: i128 = 0x04;
const BINARY_TREE_4: i128 = 0x14;

const DELTA: i128 = 3;

/// Checks by their numbers in xz; -1 is the default.
const CHECKS: [(LzmaCheck, i128); 4] =
    [(LzmaCheck::None, 0), (LzmaCheck::Crc32, 1), (LzmaCheck::Crc64, -1), (LzmaCheck::Sha256, 10)];

const BRANCHES: [(LzmaBranches, i128); 6] = [
    (LzmaBranches::X86, 4),
    (LzmaBranches::PowerPc, 5),
    (LzmaBranches::Ia64, 6),
    (LzmaBranches::Arm, 7),
    (LzmaBranches::ArmThumb, 8),
    (LzmaBranches::Sparc, 9),
];
