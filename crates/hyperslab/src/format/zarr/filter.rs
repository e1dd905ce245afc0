//! Filters of Zarr arrays: codecs with their names in NDL, or as in the document if NDL has no name for the codec or
//! one of its parameters.

use super::directive::{directive, directives, object};
use crate::filter;
use hyperslab_codec::{Codec, Elements, Lz4Hdf5, Lz4Numcodecs, Shuffle};
use hyperslab_core::filter::{Kind, find};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Directive, Filter};
use hyperslab_zarr::codec::elements;
use hyperslab_zarr::data_type::{ByteOrder, DataType};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::metadata::Extension;
use hyperslab_zarr::metadata::v2::CodecConfiguration;
use hyperslab_zarr::write::WrittenCodec;

/// A codec of version 3 as a filter.
pub(super) fn registered(codec: &Extension, elements: &Elements) -> Filter {
    if let Some(order) = transposed(codec) {
        return filter::filter(TRANSPOSE, vec![("order".to_owned(), directive(order))]);
    }
    let named = codec.codec(elements).and_then(|codec| filter::of_codec(&codec, elements));
    named.unwrap_or_else(|| raw(codec))
}

/// A filter or a compressor of version 2 as a filter.
pub(super) fn numcodecs(codec: &CodecConfiguration, elements: &Elements) -> Filter {
    let named = codec.codec(elements).and_then(|codec| filter::of_codec(&codec, elements));
    named.unwrap_or_else(|| {
        let mut parameters = vec![("name".to_owned(), Directive::Text(codec.id.clone()))];
        if !codec.parameters.is_empty() {
            parameters.push(("configuration".to_owned(), Directive::Map(directives(&codec.parameters))));
        }
        filter::filter(ZARR, parameters)
    })
}

/// The Zarr codec of a filter; `None` for a filter that changes nothing. A filter of another format becomes the codec
/// with the same algorithm, even if the codec frames its bytes differently.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a filter that Zarr does not have, [`ErrorKind::InvalidArgument`] for invalid or
/// missing parameters.
pub(super) fn written(
    filter: &Filter,
    data_type: &DataType,
    order: ByteOrder,
) -> Result<Option<WrittenCodec>> {
    let swapped;
    let filter = match order {
        ByteOrder::Little => {
            swapped = little_endian(filter);
            &swapped
        }
        ByteOrder::Big => filter,
    };
    if filter.name == ZARR {
        return as_stated(filter).map(Some);
    }
    let elements = elements(data_type, order);
    if filter.name == TRANSPOSE {
        // This is not a codec here: the definition of the array contains the order of the dimensions.
        return match filter::codec(filter, &elements) {
            Err(e) if e.kind() == ErrorKind::InvalidArgument => Err(e),
            _ => Ok(None),
        };
    }
    if filter.name == SHUFFLE && elements.size.is_none() {
        return Ok(None);
    }
    let codec = filter::codec(filter, &elements).map_err(|e| match e.kind() {
        ErrorKind::Unsupported => not_in_zarr(),
        _ => e,
    })?;
    let codec = match codec {
        Codec::Shuffle(Shuffle { element: ..2 }) => return Ok(None),
        // numcodecs refuses to encode integers, and zarr-python decodes numbers that differ from the encoded ones.
        Codec::BitRound(of) if !of.number().is_real() => {
            return Err(Error::invalid("bitround of integers, expected floating-point numbers"));
        }
        // One block of the default size has the same form in both frames.
        Codec::Lz4Hdf5(Lz4Hdf5 { block: 0 }) => Lz4Numcodecs { acceleration: 1 }.into(),
        codec => codec,
    };
    let codec = WrittenCodec::Codec(codec);
    codec.configuration().map(|_| Some(codec)).map_err(|_| not_in_zarr())
}

/// Whether a filter may convert numbers to a type that cannot hold all of them.
pub(super) fn converts_numbers(filter: &Filter) -> bool {
    filter.name == ZARR || find(&filter.name).is_some_and(|filter| filter.converts_numbers)
}

/// The filter with little-endian number types, for little-endian elements: numcodecs interprets elements as the types
/// that it names.
fn little_endian(filter: &Filter) -> Filter {
    let mut filter = filter.clone();
    let is_stated = filter.name == ZARR;
    for (name, value) in &mut filter.parameters {
        match value {
            Directive::Map(members) if is_stated && name == "configuration" => {
                members.iter_mut().filter(|(name, _)| name.ends_with("type")).for_each(|(_, of)| swap(of));
            }
            value => {
                let kind = find(&filter.name).and_then(|row| row.parameter(name)).map(|of| of.kind);
                if kind == Some(Kind::NumberType) {
                    swap(value);
                }
            }
        }
    }
    filter
}

/// Changes a big-endian number type to the little-endian one.
fn swap(of: &mut Directive) {
    if let Directive::Text(text) = of
        && let Some(rest) = text.strip_prefix('>')
    {
        *text = format!("<{rest}");
    }
}

/// A numcodecs codec with the parameters of its document.
fn as_stated(filter: &Filter) -> Result<WrittenCodec> {
    let get = |name: &str| filter.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let Some(Directive::Text(name)) = get("name") else {
        return Err(Error::unsupported("no name, which a codec of Zarr has"));
    };
    let parameters = match get("configuration") {
        Some(Directive::Map(members)) => object(members),
        _ => Object::new(),
    };
    Ok(WrittenCodec::Numcodecs { id: name.strip_prefix("numcodecs.").unwrap_or(name).to_owned(), parameters })
}

/// The order of dimensions of a `transpose` codec of version 3, if it has no other parameters.
fn transposed(codec: &Extension) -> Option<&Json> {
    let is_plain = codec.name == TRANSPOSE && codec.must_understand.is_none() && codec.unknown.is_empty();
    let configuration = codec.configuration.as_ref().filter(|members| is_plain && members.len() == 1)?;
    configuration.get("order")
}

/// A codec with its complete configuration.
pub(super) fn raw(codec: &Extension) -> Filter {
    let parameters = match codec.emit() {
        Json::Object(members) => directives(&members),
        name => vec![("name".to_owned(), directive(&name))],
    };
    filter::filter(ZARR, parameters)
}

fn not_in_zarr() -> Error {
    Error::unsupported("Zarr has no filter of this name with these parameters")
}

/// The name of a filter that is specified as a Zarr codec.
const ZARR: &str = "zarr";
const TRANSPOSE: &str = "transpose";
const SHUFFLE: &str = "shuffle";

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::Limits;

    fn shown(filter: &Filter) -> String {
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
        shown(&numcodecs(&codec, &elements(&data_type, ByteOrder::Little)))
    }

    fn version_3(name: &str, configuration: &str) -> String {
        let codec = Extension::new(name, Some(of(configuration)));
        let data_type = DataType::Integer { signed: true, bits: 32 };
        shown(&registered(&codec, &elements(&data_type, ByteOrder::Little)))
    }

    #[test]
    fn codecs_of_version_2_have_names_of_ndl() {
        for (id, parameters, expected) in [
            ("zlib", r#"{"level":1}"#, "deflate | level=1"),
            ("gzip", "{}", "gzip | level=1"),
            (
                "blosc",
                r#"{"blocksize":0,"clevel":5,"cname":"lz4","shuffle":1}"#,
                "blosc | codec=lz4 shuffle=byte",
            ),
            (
                "blosc",
                r#"{"cname":"zstd","clevel":9,"shuffle":-1,"blocksize":64}"#,
                "blosc | codec=zstd level=9 shuffle=byte block=64",
            ),
            ("lz4", r#"{"acceleration":1}"#, "lz4"),
            ("lz4", r#"{"acceleration":2}"#, "lz4 acceleration=2"),
            ("lzma", r#"{"format":1,"check":-1,"preset":1,"filters":null}"#, "lzma | preset=1"),
            ("shuffle", r#"{"elementsize":4}"#, "shuffle"),
            ("shuffle", r#"{"elementsize":2}"#, "shuffle | bytes=2"),
            ("delta", r#"{"dtype":"<i4","astype":"<i4"}"#, "delta | type=<i4"),
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
            (
                "blosc",
                r#"{"typesize":2,"cname":"lz4","shuffle":"shuffle"}"#,
                "blosc | codec=lz4 shuffle=byte bytes=2",
            ),
            ("transpose", r#"{"order":[1,0]}"#, "transpose | order=List([Int(1), Int(0)])"),
            ("crc32c", "{}", "crc32c"),
            ("numcodecs.bz2", r#"{"level":9}"#, "bzip2 | level=9"),
        ] {
            assert_eq!(version_3(name, configuration), expected, "{name} {configuration}");
        }
    }

    #[test]
    fn filters_unknown_to_ndl_are_shown_as_stored() {
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
