//! Codecs under NDL's names, or as Zarr states them where NDL has no name or not all parameters.

use super::directive::{directive, directives};
use hyperslab_codec::{
    Blosc, BloscCodec, BloscShuffle, Bzip2, Codec, Deflate, Fletcher32, Gzip, Shuffle, Zstd,
};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Directive, Filter};
use hyperslab_zarr::data_type::{ByteOrder, DataType, Float};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::metadata::Extension;
use hyperslab_zarr::metadata::v2::CodecConfiguration;
use hyperslab_zarr::write::WrittenCodec;

/// What codecs refer to: the type of elements and how documents name it.
pub(super) struct Elements<'a> {
    pub(super) data_type: &'a DataType,
    pub(super) json: &'a Json,
}

/// A codec of version 3.
pub(super) fn registered(codec: &Extension, elements: &Elements<'_>) -> Filter {
    let empty = Object::new();
    let configuration = codec.configuration.as_ref().unwrap_or(&empty);
    let name = match codec.name.strip_prefix("numcodecs.") {
        // These have registered names, which mean the same and are not the same.
        Some("gzip" | "zstd" | "blosc" | "crc32c" | "bitround" | "packbits") => None,
        Some(id) => Some(id),
        None if REGISTERED.contains(&codec.name.as_str()) => Some(codec.name.as_str()),
        None => None,
    };
    let plain = codec.must_understand.is_none() && codec.unknown.is_empty();
    name.filter(|_| plain).and_then(|name| named(name, configuration, elements)).unwrap_or_else(|| raw(codec))
}

/// A filter or a compressor of version 2.
pub(super) fn numcodecs(codec: &CodecConfiguration, elements: &Elements<'_>) -> Filter {
    named(&codec.id, &codec.parameters, elements).unwrap_or_else(|| {
        let mut parameters = vec![("name".to_owned(), Directive::Text(codec.id.clone()))];
        if !codec.parameters.is_empty() {
            parameters.push(("configuration".to_owned(), Directive::Map(directives(&codec.parameters))));
        }
        Filter { name: "zarr".into(), parameters, main: false }
    })
}

/// The codec that a filter is in Zarr; none for one that leaves such elements as they are. Filters of other formats
/// are those that mean the same, also where they frame their bytes in another way.
///
/// # Errors
/// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for a filter that Zarr does not have.
pub(super) fn written(
    filter: &Filter,
    data_type: &DataType,
    order: ByteOrder,
) -> Result<Option<WrittenCodec>> {
    let get = |name: &str| filter.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let int = |name: &str, default: i64| match get(name) {
        Some(Directive::Int(value)) => i64::try_from(*value).unwrap_or(default),
        _ => default,
    };
    let small = |name: &str, default: u8| u8::try_from(int(name, default.into())).unwrap_or(default);
    let size = data_type.stored_size().and_then(|size| usize::try_from(size).ok());
    let codec: Codec = match filter.name.as_str() {
        "deflate" => Deflate { level: small("level", 6) }.into(),
        "gzip" => Gzip { level: small("level", 6) }.into(),
        "bzip2" => Bzip2 { level: small("level", 9).max(1) }.into(),
        "zstd" => {
            let level = i32::try_from(int("level", 3)).unwrap_or(3);
            Zstd { level, checksum: get("checksum") == Some(&Directive::Bool(true)) }.into()
        }
        "fletcher32" => Fletcher32 {}.into(),
        "shuffle" => {
            let Some(size) = size else { return Ok(None) };
            let element = usize::try_from(int("bytes", 0)).ok().filter(|bytes| *bytes > 0).unwrap_or(size);
            if element < 2 {
                return Ok(None);
            }
            Shuffle { element }.into()
        }
        "blosc" => {
            let word = |name: &str| match get(name) {
                Some(Directive::Text(word)) => Some(word.as_str()),
                _ => None,
            };
            let codec = match word("codec") {
                None | Some("lz4") => BloscCodec::Lz4,
                Some("blosclz") => BloscCodec::BloscLz,
                Some("lz4hc") => BloscCodec::Lz4Hc,
                Some("snappy") => BloscCodec::Snappy,
                Some("zlib") => BloscCodec::Zlib,
                Some("zstd") => BloscCodec::Zstd,
                Some(other) => return Err(lacking(&format!("the codec {other}"))),
            };
            let element = usize::try_from(int("bytes", 0)).ok().filter(|bytes| *bytes > 0);
            let element = element.or(size).filter(|size| *size <= 255).unwrap_or(1);
            let shuffle = match word("shuffle") {
                Some("none") => BloscShuffle::None,
                Some("bit") => BloscShuffle::Bit,
                Some("auto") if element == 1 => BloscShuffle::Bit,
                _ => BloscShuffle::Byte,
            };
            let block = u32::try_from(int("block", 0)).unwrap_or(0);
            Blosc { codec, level: small("level", 5), shuffle, element, block }.into()
        }
        "zarr" => {
            let Some(Directive::Text(name)) = get("name") else { return Err(lacking("one without a name")) };
            let id = name.strip_prefix("numcodecs.").unwrap_or(name).to_owned();
            let parameters = match get("configuration") {
                Some(Directive::Map(members)) => super::directive::object(members),
                _ => Object::new(),
            };
            return Ok(Some(WrittenCodec::Numcodecs { id, parameters }));
        }
        name => return by_table(name, filter, numpy(data_type, order).as_deref()).map(Some),
    };
    Ok(Some(codec.into()))
}

/// Refuses parameters that a filter cannot have, and a filter without those that it needs.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for such, with what is expected.
pub(super) fn check(filter: &Filter) -> Result<()> {
    let name = filter.name.as_str();
    let get = |key: &str| filter.parameters.iter().find(|(own, _)| own == key).map(|(_, value)| value);
    for (_, key, least, most) in RANGES.iter().filter(|(of, ..)| *of == name) {
        match get(key) {
            None => {}
            Some(Directive::Int(value)) if (*least..=*most).contains(value) => {}
            Some(other) => {
                let found = match other {
                    Directive::Int(value) => value.to_string(),
                    Directive::Text(text) => format!("{text:?}"),
                    other => super::directive::json(other).emit_compact(),
                };
                let expected = match *most {
                    MANY => format!("a number from {least} on"),
                    most => format!("a number from {least} to {most}"),
                };
                return Err(Error::invalid(format!("{key} {found}, expected {expected}")));
            }
        }
    }
    match NEEDED.iter().find(|(of, key)| *of == name && get(key).is_none()) {
        Some((_, key)) => Err(Error::invalid(format!("no {key}"))
            .with_hint(format_args!("'[{{{name}: {{{key}: …}}}}]' gives it"))),
        None => Ok(()),
    }
}

/// Whether a filter sees numbers of a type and not bytes, or may do so: not every number need fit what it makes of it.
pub(super) fn is_of_numbers(filter: &Filter) -> bool {
    let known = FILTERS.iter().filter(|(_, known, _)| *known == filter.name);
    let mut parameters = known.flat_map(|(.., parameters)| *parameters);
    filter.name == "zarr" || parameters.any(|parameter| TYPE_OF_NUMBERS.contains(&parameter.key))
}

/// NumPy's code for numbers of a type.
fn numpy(data_type: &DataType, order: ByteOrder) -> Option<String> {
    let (kind, bits) = match data_type {
        DataType::Bool => return Some("|b1".into()),
        DataType::Integer { signed: true, bits } => ('i', *bits),
        DataType::Integer { signed: false, bits } => ('u', *bits),
        DataType::Float(Float::Float16) => ('f', 16),
        DataType::Float(Float::Float32) => ('f', 32),
        DataType::Float(Float::Float64) => ('f', 64),
        _ => return None,
    };
    let order = match order {
        _ if bits == 8 => '|',
        ByteOrder::Little => '<',
        ByteOrder::Big => '>',
    };
    matches!(bits, 8 | 16 | 32 | 64).then(|| format!("{order}{kind}{}", bits / 8))
}

/// A filter that numcodecs has under a name of its own, of numbers of a type.
fn by_table(name: &str, filter: &Filter, numbers: Option<&str>) -> Result<WrittenCodec> {
    let row = FILTERS
        .iter()
        .find(|(_, known, _)| *known == name)
        .ok_or_else(|| Error::unsupported("is none that Zarr has"))?;
    let (id, _, known) = row;
    let mut parameters = Object::new();
    for (key, value) in filter.parameters.iter().filter(|(key, _)| key != "optional") {
        let parameter = known.iter().find(|parameter| parameter.name == key);
        let parameter = parameter.ok_or_else(|| lacking(&format!("the parameter {key}")))?;
        let json = match (&parameter.meaning, value) {
            (Meaning::Words(words), Directive::Text(text)) => {
                let word = words.iter().find(|(_, word)| word == text);
                word.map(|(word, _)| Json::from(*word)).ok_or_else(|| lacking(&format!("{key} {text}")))?
            }
            (_, value) => super::directive::json(value),
        };
        parameters.insert(parameter.key, json);
    }
    // Numcodecs wants to be told what it could see.
    let untold = known.iter().find(|parameter| TYPE_OF_NUMBERS.contains(&parameter.key));
    if let (Some(parameter), Some(numbers)) = (untold, numbers)
        && parameters.get(parameter.key).is_none()
    {
        parameters.insert(parameter.key, numbers.into());
    }
    Ok(WrittenCodec::Numcodecs { id: (*id).to_owned(), parameters })
}

fn lacking(what: &str) -> Error {
    Error::unsupported(format!("{what}, which Zarr does not have"))
}

/// A codec with everything that its document says.
pub(super) fn raw(codec: &Extension) -> Filter {
    let parameters = match codec.emit() {
        Json::Object(members) => directives(&members),
        name => vec![("name".to_owned(), directive(&name))],
    };
    Filter { name: "zarr".into(), parameters, main: false }
}

/// The codec `id` of numcodecs under NDL's name; none if that could not say all of its parameters.
fn named(id: &str, configuration: &Object, elements: &Elements<'_>) -> Option<Filter> {
    let (_, name, known) = FILTERS.iter().find(|(known, ..)| *known == id)?;
    if configuration.iter().any(|(key, _)| !known.iter().any(|parameter| parameter.key == key)) {
        return None;
    }
    let mut parameters = Vec::new();
    for parameter in *known {
        let Some(value) = configuration.get(parameter.key) else { continue };
        match parameter.meaning.of(value, elements) {
            Meant::Default => {}
            Meant::Value(value) => parameters.push((parameter.name.to_owned(), value)),
            Meant::Nothing => return None,
        }
    }
    if parameters.iter().any(|(name, _)| name.is_empty()) {
        return None;
    }
    let first = known.first().map(|parameter| parameter.name);
    let main =
        *name != "lz4" && first.is_some() && parameters.first().map(|(name, _)| name.as_str()) == first;
    Some(Filter { name: (*name).to_owned(), parameters, main })
}

/// A parameter of a codec.
struct Parameter {
    /// Zarr's name of it.
    key: &'static str,
    /// NDL's; empty where NDL has none, so that only the default can be said.
    name: &'static str,
    meaning: Meaning,
}

/// How a parameter is said.
enum Meaning {
    /// As it is.
    Always,
    /// As it is, unless it is this number.
    Unless(i64),
    /// As it is, unless it is null.
    UnlessNull,
    /// As it is, unless it is false.
    UnlessFalse,
    /// By the word that stands beside it; one that stands beside nothing is not said.
    Words(&'static [(&'static str, &'static str)]),
    /// By the word at its place, which begins at -1; an empty one is not said.
    Numbers(&'static [&'static str]),
    /// As it is, unless it is the size of an element.
    ElementSize,
    /// As it is, unless it is the type of the elements.
    ElementType,
}

enum Meant {
    Default,
    Value(Directive),
    /// Something that NDL has no word for.
    Nothing,
}

impl Meaning {
    fn of(&self, value: &Json, elements: &Elements<'_>) -> Meant {
        let integer = match value {
            Json::Number(number) => number.as_integer(),
            _ => None,
        };
        let unless = |is_default: bool| match is_default {
            true => Meant::Default,
            false => Meant::Value(directive(value)),
        };
        let word = |word: Option<&&str>| match word {
            Some(&"") => Meant::Default,
            Some(word) => Meant::Value(Directive::Text((*word).to_owned())),
            None => Meant::Nothing,
        };
        match self {
            Meaning::Always => Meant::Value(directive(value)),
            Meaning::Unless(default) => unless(integer == Some((*default).into())),
            Meaning::UnlessNull => unless(*value == Json::Null),
            Meaning::UnlessFalse => unless(*value == Json::Bool(false)),
            Meaning::Words(words) => {
                let text = value.as_str();
                word(words.iter().find(|(known, _)| text == Some(known)).map(|(_, word)| word))
            }
            Meaning::Numbers(words) => {
                let place = integer.and_then(|integer| usize::try_from(integer.checked_add(1)?).ok());
                match value {
                    // Version 3 has the words themselves.
                    Json::String(text) => match text.as_str() {
                        "noshuffle" => word(Some(&"none")),
                        "shuffle" => Meant::Default,
                        "bitshuffle" => word(Some(&"bit")),
                        _ => Meant::Nothing,
                    },
                    _ => word(place.and_then(|place| words.get(place))),
                }
            }
            Meaning::ElementSize => {
                let size = elements.data_type.stored_size().map(i128::from);
                unless(integer.is_some() && integer == size)
            }
            Meaning::ElementType => unless(value == elements.json),
        }
    }
}

const fn parameter(key: &'static str, name: &'static str, meaning: Meaning) -> Parameter {
    Parameter { key, name, meaning }
}

/// Codecs of version 3 whose names numcodecs has as well.
const REGISTERED: [&str; 7] = ["gzip", "zstd", "blosc", "crc32c", "bitround", "packbits", "transpose"];

/// How numcodecs calls the type that elements have before a codec.
const TYPE_OF_NUMBERS: [&str; 2] = ["dtype", "decode_dtype"];

/// A number that no parameter is too large for.
const MANY: i128 = i32::MAX as i128;

/// Filters, and the least and the most that a parameter of theirs may be.
const RANGES: &[(&str, &str, i128, i128)] = &[
    ("deflate", "level", 0, 9),
    ("gzip", "level", 0, 9),
    ("bzip2", "level", 1, 9),
    ("zstd", "level", -131_072, 22),
    ("blosc", "level", 0, 9),
    ("blosc", "bytes", 1, 255),
    ("blosc", "block", 0, MANY),
    ("lz4", "acceleration", 1, MANY),
    ("lzma", "preset", 0, 9),
    ("shuffle", "bytes", 1, MANY),
    ("bitround", "bits", 0, 64),
    ("quantize", "digits", -400, 400),
];

/// Filters, and a parameter that they cannot do without.
const NEEDED: &[(&str, &str)] = &[
    ("bitround", "bits"),
    ("quantize", "digits"),
    ("fixedscaleoffset", "offset"),
    ("fixedscaleoffset", "scale"),
    ("astype", "to"),
    ("transpose", "order"),
];

type Row = (&'static str, &'static str, &'static [Parameter]);

/// The id in numcodecs, NDL's name, and the parameters, the main one first.
const FILTERS: &[Row] = &[
    ("zlib", "deflate", &[parameter("level", "level", Meaning::Always)]),
    ("gzip", "gzip", &[parameter("level", "level", Meaning::Always)]),
    (
        "zstd",
        "zstd",
        &[
            parameter("level", "level", Meaning::Always),
            parameter("checksum", "checksum", Meaning::UnlessFalse),
        ],
    ),
    ("lz4", "lz4", &[parameter("acceleration", "acceleration", Meaning::Unless(1))]),
    ("bz2", "bzip2", &[parameter("level", "level", Meaning::Always)]),
    (
        "blosc",
        "blosc",
        &[
            parameter("cname", "codec", Meaning::Always),
            parameter("clevel", "level", Meaning::Unless(5)),
            parameter("shuffle", "shuffle", Meaning::Numbers(&["auto", "none", "", "bit"])),
            parameter("blocksize", "block", Meaning::Unless(0)),
            parameter("typesize", "bytes", Meaning::ElementSize),
        ],
    ),
    (
        "lzma",
        "lzma",
        &[
            parameter("preset", "preset", Meaning::UnlessNull),
            parameter("format", "format", Meaning::Unless(1)),
            parameter("check", "", Meaning::Unless(-1)),
            parameter("filters", "", Meaning::UnlessNull),
        ],
    ),
    (
        "pcodec",
        "pcodec",
        &[
            parameter("level", "level", Meaning::Always),
            parameter("mode_spec", "", Meaning::Words(&[("auto", "")])),
            parameter("delta_spec", "", Meaning::Words(&[("auto", "")])),
            parameter("paging_spec", "", Meaning::Words(&[("equal_pages_up_to", "")])),
            parameter("delta_encoding_order", "", Meaning::UnlessNull),
            parameter("equal_pages_up_to", "", Meaning::Unless(262_144)),
        ],
    ),
    ("shuffle", "shuffle", &[parameter("elementsize", "bytes", Meaning::ElementSize)]),
    ("bitround", "bitround", &[parameter("keepbits", "bits", Meaning::Always)]),
    (
        "quantize",
        "quantize",
        &[
            parameter("digits", "digits", Meaning::Always),
            parameter("dtype", "", Meaning::ElementType),
            parameter("astype", "", Meaning::ElementType),
        ],
    ),
    (
        "fixedscaleoffset",
        "fixedscaleoffset",
        &[
            parameter("offset", "offset", Meaning::Always),
            parameter("scale", "scale", Meaning::Always),
            parameter("dtype", "from", Meaning::Always),
            parameter("astype", "to", Meaning::Always),
        ],
    ),
    (
        "astype",
        "astype",
        &[
            parameter("decode_dtype", "from", Meaning::Always),
            parameter("encode_dtype", "to", Meaning::Always),
        ],
    ),
    (
        "delta",
        "delta",
        &[parameter("dtype", "type", Meaning::Always), parameter("astype", "", Meaning::ElementType)],
    ),
    (
        "packbits",
        "packbits",
        &[
            parameter("padding_encoding", "padding", Meaning::Words(&PADDING)),
            parameter("first_bit", "", Meaning::UnlessNull),
            parameter("last_bit", "", Meaning::UnlessNull),
        ],
    ),
    ("transpose", "transpose", &[parameter("order", "order", Meaning::Always)]),
    ("fletcher32", "fletcher32", &[]),
    ("crc32c", "crc32c", &[]),
    ("crc32", "crc32", &[]),
    ("adler32", "adler32", &[]),
    ("jenkins_lookup3", "jenkins", &[]),
];

const PADDING: [(&str, &str); 3] = [("none", ""), ("first_byte", "first_byte"), ("last_byte", "last_byte")];

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::Limits;

    fn told(filter: &Filter) -> String {
        let parameters = filter.parameters.iter().map(|(name, value)| match value {
            Directive::Int(value) => format!(" {name}={value}"),
            Directive::Text(text) => format!(" {name}={text}"),
            other => format!(" {name}={other:?}"),
        });
        format!("{}{}{}", filter.name, if filter.main { " |" } else { "" }, parameters.collect::<String>())
    }

    fn of(json: &str) -> Object {
        let json = Json::parse("codec", json.as_bytes(), &Limits::default()).unwrap();
        json.as_object().unwrap().clone()
    }

    fn version_2(id: &str, parameters: &str) -> String {
        let codec = CodecConfiguration { id: id.to_owned(), parameters: of(parameters) };
        let data_type = DataType::Integer { signed: true, bits: 32 };
        told(&numcodecs(&codec, &Elements { data_type: &data_type, json: &"<i4".into() }))
    }

    fn version_3(name: &str, configuration: &str) -> String {
        let codec = Extension::new(name, Some(of(configuration)));
        let data_type = DataType::Integer { signed: true, bits: 32 };
        told(&registered(&codec, &Elements { data_type: &data_type, json: &"int32".into() }))
    }

    #[test]
    fn codecs_of_version_2_have_names_of_ndl() {
        for (id, parameters, expected) in [
            ("zlib", r#"{"level":1}"#, "deflate | level=1"),
            ("gzip", "{}", "gzip"),
            ("blosc", r#"{"blocksize":0,"clevel":5,"cname":"lz4","shuffle":1}"#, "blosc | codec=lz4"),
            (
                "blosc",
                r#"{"cname":"zstd","clevel":9,"shuffle":-1,"blocksize":64}"#,
                "blosc | codec=zstd level=9 shuffle=auto block=64",
            ),
            ("lz4", r#"{"acceleration":1}"#, "lz4"),
            ("lz4", r#"{"acceleration":2}"#, "lz4 acceleration=2"),
            ("lzma", r#"{"format":1,"check":-1,"preset":1,"filters":null}"#, "lzma | preset=1"),
            ("shuffle", r#"{"elementsize":4}"#, "shuffle"),
            ("shuffle", r#"{"elementsize":2}"#, "shuffle | bytes=2"),
            ("delta", r#"{"dtype":"<i4","astype":"<i4"}"#, "delta | type=<i4"),
            ("quantize", r#"{"digits":2,"dtype":"<i4"}"#, "quantize | digits=2"),
            ("jenkins_lookup3", "{}", "jenkins"),
        ] {
            assert_eq!(version_2(id, parameters), expected, "{id} {parameters}");
        }
    }

    #[test]
    fn codecs_of_version_3_have_names_of_ndl() {
        for (name, configuration, expected) in [
            ("zstd", r#"{"level":0,"checksum":false}"#, "zstd | level=0"),
            ("zstd", r#"{"level":3,"checksum":true}"#, "zstd | level=3 checksum=Bool(true)"),
            (
                "blosc",
                r#"{"typesize":4,"cname":"zstd","clevel":5,"shuffle":"noshuffle","blocksize":0}"#,
                "blosc | codec=zstd shuffle=none",
            ),
            ("blosc", r#"{"typesize":2,"cname":"lz4","shuffle":"shuffle"}"#, "blosc | codec=lz4 bytes=2"),
            ("transpose", r#"{"order":[1,0]}"#, "transpose | order=List([Int(1), Int(0)])"),
            ("crc32c", "{}", "crc32c"),
            ("numcodecs.bz2", r#"{"level":9}"#, "bzip2 | level=9"),
        ] {
            assert_eq!(version_3(name, configuration), expected, "{name} {configuration}");
        }
    }

    #[test]
    fn what_ndl_cannot_say_is_said_as_stored() {
        assert_eq!(version_2("mine", "{}"), "zarr name=mine");
        assert_eq!(
            version_2("delta", r#"{"dtype":"<i4","astype":"<i2"}"#),
            r#"zarr name=delta configuration=Map([("dtype", Text("<i4")), ("astype", Text("<i2"))])"#
        );
        assert_eq!(
            version_2("crc32", r#"{"location":"end"}"#),
            r#"zarr name=crc32 configuration=Map([("location", Text("end"))])"#
        );
        assert_eq!(
            version_3("numcodecs.zstd", r#"{"level":1}"#),
            r#"zarr name=numcodecs.zstd configuration=Map([("level", Int(1))])"#
        );
        assert_eq!(version_3("zlib", "{}"), "zarr name=zlib configuration=Map([])");
    }
}
