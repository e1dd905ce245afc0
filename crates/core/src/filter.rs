//! The vocabulary of filters: the names that NDL gives them, and their parameters with ranges and defaults.
//!
//! It is in this crate because all its users may depend on it: NDL's parser needs the names, codecs the defaults and
//! ranges, formats the parameters that may be omitted. The crate `codec` implements the filters, and each format stores
//! their parameters in its own way. See docs/design/008-filters.md.

use crate::{Error, Result};
use std::fmt;

/// A filter of the vocabulary.
#[derive(Debug)]
pub struct Filter {
    /// The name, which is used for writing.
    pub name: &'static str,
    /// Other names that are accepted for reading.
    pub aliases: &'static [&'static str],
    /// The parameters in the order in which they are written.
    pub parameters: &'static [Parameter],
    /// The parameters that may be given without their names: `deflate: 4`.
    pub main: &'static [&'static str],
    /// Whether it may have parameters that are not in the vocabulary.
    pub is_open: bool,
    /// Whether it converts numbers to a type that cannot represent all of them.
    pub converts_numbers: bool,
    /// Whether it accepts elements of any type, treating them as bytes. The others encode numbers, or elements of
    /// certain types.
    pub takes_any_type: bool,
}

/// A parameter of a filter.
#[derive(Debug)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// The values that it accepts.
    pub kind: Kind,
    /// The value if none is given.
    pub default: Default,
    /// Whether it is written even if it has the default value.
    pub is_always_explicit: bool,
}

/// The values that a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// An integer from the first to the second number, inclusive.
    Int(i64, i64),
    /// Any number.
    Real,
    /// True or false.
    Bool,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number type as NumPy's code: `<f4`.
    NumberType,
    /// A list of integers.
    Ints,
}

/// The value of a parameter if none is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// No default: a value is required.
    Required,
    /// No default: the filter does not need the parameter.
    Absent,
    /// This number.
    Int(i64),
    /// This word.
    Word(&'static str),
    /// True or false.
    Bool(bool),
    /// The size of an element of the array in bytes.
    ElementSize,
    /// The type of the elements of the array.
    ElementType,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// Any other number.
    Real(f64),
    /// A word or a type.
    Text(String),
    /// Integers.
    Ints(Vec<i128>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Real(value) => write!(f, "{value:?}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Ints(list) => write!(f, "{list:?}"),
        }
    }
}

impl Filter {
    /// The parameter with this name; `None` if the filter does not have it.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether the filter accepts a parameter with this name.
    ///
    /// Every filter accepts `optional`, HDF5's flag. A filter without parameters in the vocabulary accepts any,
    /// because formats keep unknown parameters.
    pub fn takes(&self, name: &str) -> bool {
        name == OPTIONAL || self.parameters.is_empty() || self.parameter(name).is_some()
    }
}

impl Parameter {
    /// Checks a value.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the value is of another kind or out of
    /// range: `level 10, expected a number from 0 to 9`.
    pub fn check(&self, value: &Value) -> Result<()> {
        let expected = match (self.kind, value) {
            (Kind::Int(min, max), Value::Int(value)) if (min.into()..=max.into()).contains(value) => {
                return Ok(());
            }
            (Kind::Real, Value::Int(_) | Value::Real(_))
            | (Kind::Bool, Value::Bool(_))
            | (Kind::NumberType, Value::Text(_))
            | (Kind::Ints, Value::Ints(_)) => return Ok(()),
            (Kind::Word(words), Value::Text(word)) if words.contains(&word.as_str()) => return Ok(()),
            (Kind::Int(min, MANY), _) => format!("a number of at least {min}"),
            (Kind::Int(min, max), _) => format!("a number from {min} to {max}"),
            (Kind::Real, _) => "a number".to_owned(),
            (Kind::Bool, _) => "true or false".to_owned(),
            (Kind::Word(words), _) => format!("one of {}", words.join(", ")),
            (Kind::NumberType, _) => "a type of numbers, such as \"<f4\"".to_owned(),
            (Kind::Ints, _) => "a list of numbers".to_owned(),
        };
        Err(Error::invalid(format!("{} {value}, expected {expected}", self.name)))
    }

    /// Whether a value is the default. `size` (in bytes) and type are those of the elements of the array.
    pub fn is_default(&self, value: &Value, element_size: Option<u64>, element_type: Option<&str>) -> bool {
        match (self.default, value) {
            (Default::Int(default), Value::Int(value)) => i128::from(default) == *value,
            (Default::Word(default), Value::Text(value)) => default == value,
            (Default::Bool(default), Value::Bool(value)) => default == *value,
            (Default::ElementSize, Value::Int(value)) => element_size.map(i128::from) == Some(*value),
            (Default::ElementType, Value::Text(value)) => element_type == Some(value.as_str()),
            _ => false,
        }
    }
}

/// The filter with this name or alias; `None` if the vocabulary does not have it.
///
/// ```
/// use hyperslab_core::filter;
///
/// assert_eq!(filter::find("zlib").map(|filter| filter.name), Some("deflate"));
/// assert!(filter::find("deflat").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|filter| filter.name == name || filter.aliases.contains(&name))
}

/// The parameter that every filter may have: whether HDF5 stores a chunk without the filter if the filter fails.
pub const OPTIONAL: &str = "optional";

/// All filters of the vocabulary.
pub const FILTERS: &[Filter] = &[
    filter("deflate", &[explicit("level", Kind::Int(0, 9), Default::Int(6))]).for_any_type().or(&["zlib"]),
    filter("gzip", &[explicit("level", Kind::Int(0, 9), Default::Int(6))]).for_any_type(),
    filter(
        "zstd",
        &[
            explicit("level", Kind::Int(-131_072, 22), Default::Int(3)),
            implicit("checksum", Kind::Bool, Default::Bool(false)),
        ],
    )
    .for_any_type(),
    filter(
        "lz4",
        &[
            implicit("block", COUNT, Default::Int(0)),
            implicit("acceleration", POSITIVE, Default::Int(1)),
            implicit("level", COUNT, Default::Absent),
        ],
    )
    .main(&[])
    .for_any_type(),
    filter("bzip2", &[explicit("level", Kind::Int(1, 9), Default::Int(9))]).for_any_type(),
    filter(
        "blosc",
        &[
            explicit("codec", BLOSC_CODEC, Default::Word("lz4")),
            implicit("level", Kind::Int(0, 9), Default::Int(5)),
            explicit("shuffle", BLOSC_SHUFFLE, Default::Word("byte")),
            implicit("block", COUNT, Default::Int(0)),
            implicit("bytes", Kind::Int(1, 255), Default::ElementSize),
        ],
    )
    .for_any_type(),
    filter(
        "blosc2",
        &[
            explicit("codec", BLOSC_CODEC, Default::Word("lz4")),
            implicit("level", Kind::Int(0, 9), Default::Int(5)),
            explicit("shuffle", BLOSC_SHUFFLE, Default::Word("byte")),
            implicit("block", COUNT, Default::Int(0)),
            implicit("bytes", POSITIVE, Default::ElementSize),
        ],
    )
    .for_any_type(),
    filter("lzf", &[]).for_any_type(),
    filter(
        "szip",
        &[
            explicit("coding", Kind::Word(&["nn", "ec"]), Default::Word("nn")),
            explicit("pixels", Kind::Int(2, 32), Default::Int(16)),
        ],
    ),
    filter(
        "lzma",
        &[
            implicit("preset", Kind::Int(0, 9), Default::Int(6)),
            implicit("format", Kind::Int(1, 3), Default::Int(1)),
        ],
    )
    .for_any_type(),
    filter(
        "pcodec",
        &[
            explicit("level", Kind::Int(0, 12), Default::Int(8)),
            implicit("mode", Kind::Word(&["auto", "classic"]), Default::Word("auto")),
            implicit(
                "delta",
                Kind::Word(&["auto", "none", "try_consecutive", "try_lookback"]),
                Default::Word("auto"),
            ),
            explicit("order", Kind::Int(0, 7), Default::Absent),
            implicit("page", POSITIVE, Default::Int(262_144)),
        ],
    ),
    filter(
        "zfp",
        &[
            explicit(
                "mode",
                Kind::Word(&["rate", "precision", "accuracy", "reversible", "expert"]),
                Default::Absent,
            ),
            explicit("rate", Kind::Real, Default::Absent),
            explicit("precision", COUNT, Default::Absent),
            explicit("accuracy", Kind::Real, Default::Absent),
            explicit("minbits", COUNT, Default::Absent),
            explicit("maxbits", COUNT, Default::Absent),
            explicit("maxprec", COUNT, Default::Absent),
            explicit("minexp", Kind::Int(-MANY, MANY), Default::Absent),
        ],
    ),
    filter("shuffle", &[implicit("bytes", POSITIVE, Default::ElementSize)])
        .or(&["byteshuffle"])
        .for_any_type(),
    filter(
        "bitshuffle",
        &[
            explicit("codec", Kind::Word(&["none", "lz4", "zstd"]), Default::Word("none")),
            explicit("level", Kind::Int(-131_072, 22), Default::Absent),
            implicit("block", COUNT, Default::Int(0)),
            implicit("bytes", POSITIVE, Default::ElementSize),
        ],
    )
    .for_any_type(),
    filter("nbit", &[]),
    filter(
        "scaleoffset",
        &[
            explicit("digits", Kind::Int(-MANY, MANY), Default::Absent),
            explicit("bits", Kind::Int(0, 64), Default::Absent),
        ],
    )
    .main(&["digits", "bits"]),
    filter("bitround", &[explicit("bits", Kind::Int(0, 64), Default::Required)]),
    filter("quantize", &[explicit("digits", Kind::Int(-400, 400), Default::Required)]).converts_numbers(),
    filter("bitgroom", &[explicit("digits", COUNT, Default::Absent)]),
    filter("granularbitround", &[explicit("digits", COUNT, Default::Absent)]),
    filter(
        "fixedscaleoffset",
        &[
            explicit("offset", Kind::Real, Default::Required),
            explicit("scale", Kind::Real, Default::Required),
            explicit("from", Kind::NumberType, Default::ElementType),
            explicit("to", Kind::NumberType, Default::Absent),
        ],
    )
    .converts_numbers(),
    filter(
        "astype",
        &[
            explicit("from", Kind::NumberType, Default::ElementType),
            explicit("to", Kind::NumberType, Default::Required),
        ],
    )
    .converts_numbers(),
    filter(
        "scalefloat",
        &[
            explicit("scale", Kind::Real, Default::Absent),
            explicit("offset", Kind::Real, Default::Absent),
            implicit("bytes", POSITIVE, Default::Int(8)),
        ],
    ),
    filter("delta", &[explicit("type", Kind::NumberType, Default::ElementType)]).converts_numbers(),
    filter("doubledelta", &[explicit("type", Kind::NumberType, Default::ElementType)]),
    filter("positivedelta", &[implicit("window", POSITIVE, Default::Int(1024))]),
    filter("bitwidth", &[implicit("window", POSITIVE, Default::Int(256))]),
    filter("rle", &[]),
    filter("dictionary", &[]),
    filter("xor", &[]),
    filter("noop", &[]),
    filter(
        "webp",
        &[
            explicit("quality", Kind::Real, Default::Absent),
            explicit("format", Kind::Int(0, MANY), Default::Absent),
            explicit("lossless", Kind::Bool, Default::Absent),
        ],
    ),
    filter(
        "packbits",
        &[implicit("padding", Kind::Word(&["none", "first_byte", "last_byte"]), Default::Word("none"))],
    ),
    filter("transpose", &[explicit("order", Kind::Ints, Default::Required)]).for_any_type(),
    filter("fletcher32", &[]).for_any_type(),
    filter("crc32c", &[]).for_any_type(),
    filter("crc32", &[]).for_any_type(),
    filter("adler32", &[]).for_any_type(),
    filter("jenkins", &[]).for_any_type(),
    filter("md5", &[]).for_any_type(),
    filter("sha256", &[]).for_any_type(),
    registered("lzo").for_any_type(),
    registered("mafisc"),
    registered("snappy").for_any_type(),
    registered("apax"),
    registered("cbf"),
    registered("jpegxr"),
    registered("spdp"),
    registered("lpcrice"),
    registered("ccsds123"),
    registered("jpegls"),
    registered("fpzip"),
    registered("b3d"),
    registered("sz"),
    registered("fcidecomp"),
    registered("jpeg"),
    registered("vbz"),
    registered("fapec"),
    registered("sz3"),
    registered("deltarice"),
    registered("flac"),
    registered("sperr"),
    registered("terse"),
    registered("ffmpeg"),
];

/// The maximum of integer parameters without a specific maximum.
const MANY: i64 = i32::MAX as i64;
const COUNT: Kind = Kind::Int(0, MANY);
const POSITIVE: Kind = Kind::Int(1, MANY);

const BLOSC_CODEC: Kind = Kind::Word(&["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]);

/// `auto` means bits for elements of one byte, otherwise bytes.
const BLOSC_SHUFFLE: Kind = Kind::Word(&["none", "byte", "bit", "auto"]);

/// A filter whose first parameter may be given without its name.
const fn filter(name: &'static str, parameters: &'static [Parameter]) -> Filter {
    let main = match parameters {
        [first, ..] => std::slice::from_ref(&first.name),
        [] => &[],
    };
    Filter {
        name,
        aliases: &[],
        parameters,
        main,
        is_open: false,
        converts_numbers: false,
        takes_any_type: false,
    }
}

/// A filter that is registered with HDF5, with any parameters.
const fn registered(name: &'static str) -> Filter {
    Filter { is_open: true, ..filter(name, &[]) }
}

impl Filter {
    const fn or(self, aliases: &'static [&'static str]) -> Filter {
        Filter { aliases, ..self }
    }

    const fn converts_numbers(self) -> Filter {
        Filter { converts_numbers: true, ..self }
    }

    const fn for_any_type(self) -> Filter {
        Filter { takes_any_type: true, ..self }
    }

    const fn main(self, main: &'static [&'static str]) -> Filter {
        Filter { main, ..self }
    }
}

/// A parameter that is always written.
const fn explicit(name: &'static str, kind: Kind, default: Default) -> Parameter {
    Parameter { name, kind, default, is_always_explicit: true }
}

/// A parameter that is written only if it differs from its default.
const fn implicit(name: &'static str, kind: Kind, default: Default) -> Parameter {
    Parameter { name, kind, default, is_always_explicit: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_means_one_filter() {
        let mut names = BTreeSet::new();
        for filter in FILTERS {
            for name in filter.aliases.iter().chain([&filter.name]) {
                assert!(names.insert(*name), "{name}");
                assert_eq!(find(name).map(|found| found.name), Some(filter.name));
            }
            let parameters: BTreeSet<_> = filter.parameters.iter().map(|one| one.name).collect();
            assert_eq!(parameters.len(), filter.parameters.len(), "{}", filter.name);
            assert!(filter.main.iter().all(|main| parameters.contains(main)), "{}", filter.name);
        }
    }

    #[test]
    fn defaults_are_valid_values_of_their_parameter() {
        for (filter, parameter) in
            FILTERS.iter().flat_map(|filter| filter.parameters.iter().map(move |one| (filter, one)))
        {
            let value = match parameter.default {
                Default::Int(value) => Value::Int(value.into()),
                Default::Word(word) => word.into(),
                Default::Bool(value) => Value::Bool(value),
                _ => continue,
            };
            assert!(parameter.check(&value).is_ok(), "{} {}", filter.name, parameter.name);
            assert!(parameter.is_default(&value, None, None), "{} {}", filter.name, parameter.name);
        }
    }

    #[test]
    fn rejects_values_out_of_range_or_of_another_kind_with_the_expected_ones() {
        let refused = |filter: &str, parameter: &str, value: Value| {
            let parameter = find(filter).and_then(|filter| filter.parameter(parameter)).unwrap();
            parameter.check(&value).unwrap_err().to_string()
        };
        assert_eq!(refused("deflate", "level", Value::Int(10)), "level 10, expected a number from 0 to 9");
        assert_eq!(refused("zstd", "level", "x".into()), "level \"x\", expected a number from -131072 to 22");
        assert_eq!(refused("shuffle", "bytes", Value::Int(0)), "bytes 0, expected a number of at least 1");
        assert_eq!(refused("szip", "coding", "xx".into()), "coding \"xx\", expected one of nn, ec");
        assert_eq!(refused("zstd", "checksum", Value::Real(1.5)), "checksum 1.5, expected true or false");
    }
}
