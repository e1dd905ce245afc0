//! `crc32`, `crc32c`, `adler32` and `jenkins_lookup3`: checksums before or after the data.
//!
//! Spec: Zarr v3 "CRC32C checksum codec", numcodecs

use super::Members;
use crate::json::{Json, Object, Spot};
use hyperslab_codec::{Checksum, ChecksumAlgorithm, Codec};
use hyperslab_core::Result;

pub(super) const MEMBERS: &[&str] = &["location"];

pub(super) fn read(id: &str, parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let (algorithm, at_start) = default(id);
    let here = at.name("location");
    let at_start = match parameters.get("location") {
        None | Some(Json::Null) => at_start,
        Some(json) => match json.text(&here)? {
            "start" => true,
            "end" => false,
            other => return Err(here.malformed(format!("{other:?}, expected \"start\" or \"end\""))),
        },
    };
    Ok(Checksum { algorithm, at_start }.into())
}

pub(super) fn write(id: &str, codec: &Codec) -> Option<Members> {
    let Codec::Checksum(sum) = codec else { return None };
    let (algorithm, at_start) = default(id);
    let location = if sum.at_start { "start" } else { "end" };
    let members = if sum.at_start == at_start { Vec::new() } else { vec![("location", location.into())] };
    (sum.algorithm == algorithm).then_some(members)
}

/// The algorithm, and whether numcodecs stores the checksum before the data by default.
fn default(id: &str) -> (ChecksumAlgorithm, bool) {
    match id {
        "crc32" => (ChecksumAlgorithm::Crc32, true),
        "adler32" => (ChecksumAlgorithm::Adler32, true),
        _ => (ChecksumAlgorithm::Crc32c, false),
    }
}

pub(super) const LOOKUP3_MEMBERS: &[&str] = &["initval", "prefix"];

pub(super) fn read_lookup3(parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let here = at.name("initval");
    let initial = parameters.get("initval").map_or(Ok(0), |json| json.unsigned(&here))?;
    let initial = u32::try_from(initial)
        .map_err(|_| here.malformed(format!("{initial}, expected at most 2^32 - 1")))?;
    if parameters.get("prefix").is_some_and(|prefix| *prefix != Json::Null) {
        return Err(at.name("prefix").unsupported("a prefix of the data"));
    }
    Ok(Checksum { algorithm: ChecksumAlgorithm::Lookup3 { initial }, at_start: false }.into())
}

pub(super) fn write_lookup3(codec: &Codec) -> Option<Members> {
    match codec {
        Codec::Checksum(Checksum { algorithm: ChecksumAlgorithm::Lookup3 { initial }, at_start: false }) => {
            Some(vec![("initval", u64::from(*initial).into()), ("prefix", Json::Null)])
        }
        _ => None,
    }
}
