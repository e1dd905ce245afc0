//! The table of codecs by their names in numcodecs. Version 2 uses these names; version 3 uses them with the prefix
//! `numcodecs.`, unless it has registered the codec. Each row reads and writes the configuration of one codec.
//!
//! Spec: Zarr v3 "Codecs", zarr-extensions/codecs/zstd, numcodecs

mod blosc;
mod checksum;
mod lzma;
pub(super) mod numbers;
mod pcodec;
mod zfpy;

use crate::data_type::{ByteOrder, DataType};
use crate::json::{Context, Json, Number as JsonNumber, Object, Spot};
use crate::metadata::Extension;
use crate::metadata::v2::CodecConfiguration;
use crate::write::Version;
use hyperslab_codec::{
    Base64, Bzip2, Codec, Deflate, Elements as Received, Fletcher32, Gzip, Lz4Numcodecs, Number, Shuffle,
    Zstd,
};
use hyperslab_core::{Limits, Result};

/// A codec of numcodecs.
pub(crate) struct Row {
    /// The name in version 2.
    pub(crate) id: &'static str,
    /// The kind of its input and output.
    pub(crate) kind: Kind,
    name: Name,
    /// The known members of its configuration.
    members: &'static [&'static str],
    read: fn(&Passing, &Object, &Spot<'_>) -> Result<Codec>,
    write: fn(&Codec, Version) -> Option<Members>,
}

/// The kind of input and output of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Elements to elements.
    Elements,
    /// Numbers to bytes. In version 3 it replaces the codec `bytes`.
    NumbersToBytes,
    /// Bytes to bytes. Version 2 lists it as a filter, even if it is the last codec.
    Filter,
    /// Compression of bytes.
    Compressor,
}

/// The name of a codec in version 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// Only with the prefix `numcodecs.`.
    Prefixed,
    /// The name is registered with the same meaning.
    Registered,
    /// The name is registered, but it is written with the prefix `numcodecs.`, which more readers support.
    RegisteredLate,
}

/// The members of a configuration, in the order in which they are written.
type Members = Vec<(&'static str, Json)>;

/// The known properties of the input of a codec.
pub(super) struct Passing {
    /// The size of an element in bytes; 1 after a compressor.
    pub(super) element: usize,
    /// The type of the elements, if they are numbers.
    pub(super) number: Option<Number>,
    /// The default size of an element in bytes for a shuffle without this parameter.
    pub(super) default_element: usize,
}

impl Passing {
    /// A codec by its name in numcodecs. `None` if the name is unknown.
    pub(super) fn parse(&self, id: &str, parameters: &Object, at: &Spot<'_>) -> Result<Option<Codec>> {
        match CODECS.iter().find(|row| row.id == id) {
            Some(row) => (row.read)(self, parameters, at).map(Some),
            None => Ok(None),
        }
    }

    /// A codec of version 3. `None` if it is not a known codec of numcodecs.
    pub(super) fn parse_v3(&self, codec: &Extension, at: &Spot<'_>) -> Result<Option<Codec>> {
        let empty = Object::new();
        let parameters = codec.configuration.as_ref().unwrap_or(&empty);
        match row_v3(&codec.name) {
            Some(row) => (row.read)(self, parameters, &at.name("configuration")).map(Some),
            None => Ok(None),
        }
    }

    /// The input of the next codec.
    pub(super) fn follow(&mut self, codec: &Codec) {
        match numbers::made(codec) {
            Some(number) => (self.element, self.number) = (number.size(), Some(number)),
            None if numbers::is_of_elements(codec) => {}
            None => (self.element, self.number) = (1, None),
        }
    }
}

/// The elements of a type as the input of the first filter.
pub fn elements(data_type: &DataType, order: ByteOrder) -> Received {
    Received { size: data_type.stored_size(), number: numbers::number_of(data_type, order) }
}

impl CodecConfiguration {
    /// The codec of a filter or compressor for these elements.
    ///
    /// `None` if the codec is unknown or its configuration has unknown values. Then only the document has its full
    /// description.
    pub fn codec(&self, elements: &Received) -> Option<Codec> {
        let row = CODECS.iter().find(|row| row.id == self.id)?;
        row.codec(&self.parameters, elements, SHUFFLE_ELEMENT)
    }
}

impl Extension {
    /// The codec of this extension for these elements.
    ///
    /// `None` as for [`CodecConfiguration::codec`], and if the extension may be ignored.
    pub fn codec(&self, elements: &Received) -> Option<Codec> {
        let empty = Object::new();
        let row = row_v3(&self.name).filter(|_| self.must_understand.is_none() && self.unknown.is_empty())?;
        // A registered codec with the prefix `numcodecs.` has the same meaning, but readers treat it as another codec.
        if row.name != Name::Prefixed && row.id != self.name {
            return None;
        }
        let size = elements.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
        row.codec(self.configuration.as_ref().unwrap_or(&empty), elements, size)
    }
}

impl Row {
    fn codec(&self, parameters: &Object, elements: &Received, default_element: usize) -> Option<Codec> {
        if parameters.iter().any(|(name, _)| !self.members.contains(&name)) {
            return None;
        }
        let element = elements.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
        let passing = Passing { element, number: elements.number, default_element };
        let context = Context::new(&Limits::default());
        (self.read)(&passing, parameters, &context.document(self.id)).ok()
    }

    /// The row of a codec, and its configuration.
    pub(crate) fn of(codec: &Codec, version: Version) -> Option<(&'static Row, Object)> {
        let found = CODECS.iter().find_map(|row| Some((row, (row.write)(codec, version)?)));
        found.map(|(row, members)| {
            (row, members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        })
    }

    /// The row of a name.
    pub(crate) fn of_id(id: &str) -> Option<&'static Row> {
        CODECS.iter().find(|row| row.id == id)
    }

    /// The extension of version 3 for the codec with this configuration.
    pub(crate) fn extension(&self, configuration: Object) -> Extension {
        match (self.name, self.id) {
            (Name::Registered, "crc32c") if configuration.is_empty() => Extension::new(self.id, None),
            // The registered checksum is always at the end of the data.
            (Name::Registered, id) if id != "crc32c" => Extension::new(self.id, Some(configuration)),
            _ => Extension::new(format!("{PREFIX}{}", self.id), Some(configuration)),
        }
    }
}

/// Whether a codec of version 3 is an array-to-bytes codec of numcodecs.
pub(super) fn makes_bytes(name: &str) -> bool {
    row_v3(name).is_some_and(|row| row.kind == Kind::NumbersToBytes)
}

/// The row of a name in version 3.
fn row_v3(name: &str) -> Option<&'static Row> {
    match name.strip_prefix(PREFIX) {
        Some(id) => CODECS.iter().find(|row| row.id == id),
        None => CODECS.iter().find(|row| row.id == name && row.name != Name::Prefixed),
    }
}

/// All supported codecs of numcodecs.
const CODECS: &[Row] = &[
    compressor(
        "zlib",
        &["level"],
        |_, parameters, at| Ok(Deflate { level: level(parameters, at)? }.into()),
        |codec, _| match codec {
            Codec::Deflate(deflate) => Some(level_member(deflate.level)),
            _ => None,
        },
    ),
    compressor(
        "gzip",
        &["level"],
        |_, parameters, at| Ok(Gzip { level: level(parameters, at)? }.into()),
        |codec, _| match codec {
            Codec::Gzip(gzip) => Some(level_member(gzip.level)),
            _ => None,
        },
    )
    .registered(),
    compressor(
        "bz2",
        &["level"],
        |_, parameters, at| Ok(Bzip2 { level: level(parameters, at)? }.into()),
        |codec, _| match codec {
            Codec::Bzip2(bzip2) => Some(level_member(bzip2.level)),
            _ => None,
        },
    ),
    compressor("zstd", &["level", "checksum"], |_, parameters, at| read_zstd(parameters, at), write_zstd)
        .registered(),
    compressor(
        "lz4",
        &["acceleration"],
        |_, parameters, at| {
            let here = at.name("acceleration");
            let acceleration = parameters.get("acceleration").map_or(Ok(1), |json| json.unsigned(&here))?;
            Ok(Lz4Numcodecs { acceleration: u32::try_from(acceleration).unwrap_or(u32::MAX) }.into())
        },
        |codec, _| match codec {
            Codec::Lz4Numcodecs(lz4) => Some(vec![("acceleration", u64::from(lz4.acceleration).into())]),
            _ => None,
        },
    ),
    compressor("blosc", blosc::MEMBERS, blosc::read, blosc::write).registered(),
    compressor(
        "lzma",
        lzma::MEMBERS,
        |_, parameters, at| lzma::read(parameters, at),
        |codec, _| lzma::write(codec),
    ),
    compressor("zfpy", zfpy::MEMBERS, zfpy::read, |codec, _| zfpy::write(codec)).of_numbers(),
    compressor("pcodec", pcodec::MEMBERS, pcodec::read, |codec, _| pcodec::write(codec)).of_numbers(),
    compressor(
        "base64",
        &[],
        |_, _, _| Ok(Base64.into()),
        |codec, _| match codec {
            Codec::Base64(_) => Some(Vec::new()),
            _ => None,
        },
    ),
    filter(
        "shuffle",
        &["elementsize"],
        |passing, parameters, at| {
            let element = match parameters.get("elementsize") {
                None | Some(Json::Null) => passing.default_element,
                Some(json) => usize::try_from(json.unsigned(&at.name("elementsize"))?).unwrap_or(usize::MAX),
            };
            Ok(Shuffle { element }.into())
        },
        |codec, _| match codec {
            Codec::Shuffle(shuffle) => Some(vec![("elementsize", (shuffle.element as u64).into())]),
            _ => None,
        },
    ),
    filter(
        "fletcher32",
        &[],
        |_, _, _| Ok(Fletcher32.into()),
        |codec, _| match codec {
            Codec::Fletcher32(_) => Some(Vec::new()),
            _ => None,
        },
    ),
    filter(
        "crc32",
        checksum::MEMBERS,
        |_, parameters, at| checksum::read("crc32", parameters, at),
        |codec, _| checksum::write("crc32", codec),
    ),
    filter(
        "adler32",
        checksum::MEMBERS,
        |_, parameters, at| checksum::read("adler32", parameters, at),
        |codec, _| checksum::write("adler32", codec),
    ),
    filter(
        "crc32c",
        checksum::MEMBERS,
        |_, parameters, at| checksum::read("crc32c", parameters, at),
        |codec, _| checksum::write("crc32c", codec),
    )
    .registered(),
    filter(
        "jenkins_lookup3",
        checksum::LOOKUP3_MEMBERS,
        |_, parameters, at| checksum::read_lookup3(parameters, at),
        |codec, _| checksum::write_lookup3(codec),
    ),
    of_elements("delta", &["dtype", "astype"], numbers::read_delta, numbers::write_delta),
    of_elements(
        "fixedscaleoffset",
        &["offset", "scale", "dtype", "astype"],
        numbers::read_fixed_scale_offset,
        numbers::write_fixed_scale_offset,
    ),
    of_elements("quantize", &["digits", "dtype", "astype"], numbers::read_quantize, numbers::write_quantize),
    of_elements("bitround", &["keepbits"], numbers::read_bit_round, numbers::write_bit_round)
        .registered_late(),
    of_elements("astype", &["encode_dtype", "decode_dtype"], numbers::read_as_type, numbers::write_as_type),
    of_elements("packbits", &[], |_, _, _| Ok(hyperslab_codec::PackBits.into()), numbers::write_pack_bits),
];

/// The prefix that version 3 puts before the name of a codec that only numcodecs has.
pub(crate) const PREFIX: &str = "numcodecs.";

/// The default size of an element in bytes for a shuffle of version 2.
pub(super) const SHUFFLE_ELEMENT: usize = 4;

const fn compressor(
    id: &'static str,
    members: &'static [&'static str],
    read: fn(&Passing, &Object, &Spot<'_>) -> Result<Codec>,
    write: fn(&Codec, Version) -> Option<Members>,
) -> Row {
    Row { id, kind: Kind::Compressor, name: Name::Prefixed, members, read, write }
}

const fn filter(
    id: &'static str,
    members: &'static [&'static str],
    read: fn(&Passing, &Object, &Spot<'_>) -> Result<Codec>,
    write: fn(&Codec, Version) -> Option<Members>,
) -> Row {
    Row { kind: Kind::Filter, ..compressor(id, members, read, write) }
}

const fn of_elements(
    id: &'static str,
    members: &'static [&'static str],
    read: fn(&Passing, &Object, &Spot<'_>) -> Result<Codec>,
    write: fn(&Codec, Version) -> Option<Members>,
) -> Row {
    Row { kind: Kind::Elements, ..compressor(id, members, read, write) }
}

impl Row {
    const fn of_numbers(self) -> Row {
        Row { kind: Kind::NumbersToBytes, ..self }
    }

    const fn registered(self) -> Row {
        Row { name: Name::Registered, ..self }
    }

    const fn registered_late(self) -> Row {
        Row { name: Name::RegisteredLate, ..self }
    }
}

/// The member `level`. The default is 1.
fn level(parameters: &Object, at: &Spot<'_>) -> Result<u8> {
    let at = at.name("level");
    let number = match parameters.get("level") {
        None => return Ok(1),
        Some(Json::Number(number)) => number,
        Some(json) => return Err(json.is_not("an integer", &at)),
    };
    match number.as_integer() {
        // -1 is the default of zlib, which is 6.
        Some(-1) => Ok(6),
        Some(level) => u8::try_from(level).map_err(|_| at.malformed(format!("{level}, expected -1 to 9"))),
        None => Err(at.malformed(format!("{number}, expected an integer"))),
    }
}

fn level_member(level: u8) -> Members {
    vec![("level", u64::from(level.min(9)).into())]
}

fn read_zstd(parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let level = match parameters.get("level") {
        Some(Json::Number(level)) => level.as_integer().and_then(|level| level.try_into().ok()),
        _ => Some(0),
    };
    let level = level.ok_or_else(|| at.name("level").malformed("expected an integer"))?;
    Ok(Zstd { level, checksum: matches!(parameters.get("checksum"), Some(Json::Bool(true))) }.into())
}

fn write_zstd(codec: &Codec, version: Version) -> Option<Members> {
    let Codec::Zstd(zstd) = codec else { return None };
    let mut members = vec![("level", Json::Number(JsonNumber::integer(zstd.level)))];
    // Older readers of version 2 do not know this parameter.
    if version == Version::V3 || zstd.checksum {
        members.push(("checksum", Json::Bool(zstd.checksum)));
    }
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_codec::NumberKind;
    use std::collections::BTreeSet;

    const ELEMENTS: Received =
        Received { size: Some(4), number: Some(Number { kind: NumberKind::Float32, big_endian: false }) };

    /// Configurations of each codec, with values that differ from the default.
    const CONFIGURATIONS: &[(&str, &str)] = &[
        ("zlib", r#"{"level":4}"#),
        ("gzip", r#"{"level":9}"#),
        ("bz2", r#"{"level":2}"#),
        ("zstd", r#"{"level":-3,"checksum":true}"#),
        ("lz4", r#"{"acceleration":7}"#),
        ("blosc", r#"{"cname":"zstd","clevel":9,"shuffle":2,"typesize":8,"blocksize":64}"#),
        ("lzma", r#"{"preset":3}"#),
        ("lzma", r#"{"format":2,"preset":9}"#),
        ("lzma", r#"{"check":10,"filters":[{"id":3,"dist":4},{"id":33,"preset":2,"lc":1,"nice_len":20}]}"#),
        (
            "lzma",
            r#"{"format":3,"filters":[{"id":7,"start_offset":8},{"id":33,"mode":1,"mf":20,"depth":5}]}"#,
        ),
        ("zfpy", r#"{"mode":2,"rate":8.5}"#),
        ("zfpy", r#"{"mode":3,"precision":17}"#),
        ("zfpy", r#"{"mode":4,"tolerance":0.25}"#),
        ("zfpy", r#"{"mode":4,"tolerance":-1}"#),
        ("pcodec", r#"{"level":3,"mode_spec":"classic","delta_spec":"none","equal_pages_up_to":100}"#),
        ("pcodec", r#"{"delta_spec":"try_lookback","paging_spec":"equal_pages_up_to"}"#),
        ("pcodec", r#"{"level":8,"delta_spec":"auto","delta_encoding_order":2}"#),
        ("base64", "{}"),
        ("shuffle", r#"{"elementsize":8}"#),
        ("fletcher32", "{}"),
        ("crc32", r#"{"location":"end"}"#),
        ("crc32", "{}"),
        ("adler32", r#"{"location":"end"}"#),
        ("crc32c", r#"{"location":"start"}"#),
        ("jenkins_lookup3", r#"{"initval":3,"prefix":null}"#),
        ("delta", r#"{"dtype":"<i4","astype":"<i2"}"#),
        ("fixedscaleoffset", r#"{"offset":0.5,"scale":10,"dtype":">f8","astype":"|u1"}"#),
        ("quantize", r#"{"digits":-2,"dtype":"<f8","astype":"<f4"}"#),
        ("bitround", r#"{"keepbits":7}"#),
        ("astype", r#"{"encode_dtype":"<i2","decode_dtype":"<f4"}"#),
        ("packbits", "{}"),
    ];

    #[test]
    fn configurations_round_trip_in_both_versions() {
        let mut seen = BTreeSet::new();
        for (id, json) in CONFIGURATIONS {
            let json = Json::parse("codec", json.as_bytes(), &Limits::default()).unwrap();
            let parameters = json.as_object().unwrap().clone();
            let version_2 = CodecConfiguration { id: (*id).to_owned(), parameters: parameters.clone() };
            let codec = version_2.codec(&ELEMENTS).unwrap_or_else(|| panic!("{id} {parameters:?}"));
            let (row, written) = Row::of(&codec, Version::V2).unwrap();
            assert_eq!(row.id, *id);
            // In version 2, Blosc takes the size of elements from the dtype.
            if *id != "blosc" {
                let again = CodecConfiguration { id: row.id.to_owned(), parameters: written };
                assert_eq!(again.codec(&ELEMENTS).as_ref(), Some(&codec), "{id}");
            }
            let (row, written) = Row::of(&codec, Version::V3).unwrap();
            let name = row.extension(written).name;
            let passing = Passing { element: 4, number: ELEMENTS.number, default_element: 4 };
            let (_, written) = Row::of(&codec, Version::V3).unwrap();
            let context = Context::new(&Limits::default());
            let again = passing.parse_v3(&row.extension(written), &context.document(&name)).unwrap();
            assert_eq!(again.as_ref(), Some(&codec), "{name}");
            seen.insert(row.id);
        }
        assert_eq!(seen, CODECS.iter().map(|row| row.id).collect());
    }

    #[test]
    fn keeps_documents_with_unknown_members() {
        let parameters: Object =
            [("level".to_owned(), 1_u64.into()), ("strategy".to_owned(), 2_u64.into())].into_iter().collect();
        let codec = CodecConfiguration { id: "zlib".to_owned(), parameters };
        assert_eq!(codec.codec(&ELEMENTS), None);
        // It has the meaning of `gzip`, but readers treat it as another codec.
        let codec = Extension::new("numcodecs.gzip", Some(Object::new()));
        assert_eq!(codec.codec(&ELEMENTS), None);
    }
}
