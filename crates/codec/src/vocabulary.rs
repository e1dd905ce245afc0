//! Codecs by the names and parameters of the [vocabulary](hyperslab_core::filter), in both directions.
//!
//! The file of each codec defines its names and maps its fields to parameters; this file contains the shared part. A
//! parameter that is not given has its default, so a codec is always complete.
//!
//! ```
//! use hyperslab_codec::{Codec, Elements, Zstd};
//! use hyperslab_core::filter::Value;
//!
//! let elements = Elements { size: Some(4), number: None };
//! let codec = Codec::of_name("zstd", &[("level", Value::Int(9))], &elements)?;
//! assert_eq!(codec, Zstd { level: 9, checksum: false }.into());
//!
//! let named = codec.named(&elements).unwrap();
//! assert_eq!(named.name, "zstd");
//! assert_eq!(named.parameters, [("level", Value::Int(9)), ("checksum", Value::Bool(false))]);
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

use crate::{Codec, Number};
use hyperslab_core::filter::{self, Default, Filter, Value};
use hyperslab_core::{Error, Result};

/// The elements that a filter receives. The defaults of some parameters depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The size of an element in bytes. `None` if elements differ in size.
    pub size: Option<u64>,
    /// The number type of the elements, if they are numbers.
    pub number: Option<Number>,
}

/// A codec by its name and parameters in the vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name of the filter.
    pub name: &'static str,
    /// Its parameters in the order of the vocabulary, including those with default values.
    pub parameters: Vec<(&'static str, Value)>,
}

impl Named {
    /// The parameters to write: those that differ from their default, and those that are always written.
    pub fn explicit(&self, elements: &Elements) -> impl Iterator<Item = (&'static str, &Value)> {
        let row = filter::find(self.name);
        let code = elements.number.map(Number::code);
        let size = elements.size;
        self.parameters.iter().filter_map(move |(name, value)| {
            let parameter = row.and_then(|row| row.parameter(name));
            let is_silent = parameter.is_some_and(|parameter| {
                !parameter.is_always_explicit && parameter.is_default(value, size, code.as_deref())
            });
            (!is_silent).then_some((*name, value))
        })
    }
}

/// Maps a codec to names and parameters of the vocabulary, and back.
pub(crate) trait Vocabulary: Sized {
    /// The names of the filters that this codec implements.
    const NAMES: &'static [&'static str];

    /// The codec with these parameters.
    fn of_parameters(given: &Given<'_>) -> Result<Self>;

    /// The name of the filter with all its parameters. `None` if the vocabulary has no parameter for a setting of the
    /// codec.
    fn named(&self, elements: &Elements) -> Option<Named>;
}

/// A codec with the name `name` and these parameters.
pub(crate) fn named<const N: usize>(
    name: &'static str,
    parameters: [(&'static str, Value); N],
) -> Option<Named> {
    Some(Named { name, parameters: parameters.into() })
}

/// An integer as the value of a parameter.
pub(crate) fn int(value: impl TryInto<i128>) -> Value {
    Value::Int(value.try_into().unwrap_or(i128::MAX))
}

/// The checked parameters of one filter.
pub(crate) struct Given<'a> {
    pub(crate) filter: &'static Filter,
    pub(crate) elements: &'a Elements,
    values: Vec<(&'static str, Value)>,
}

impl<'a> Given<'a> {
    fn new(filter: &'static Filter, given: &[(&str, Value)], elements: &'a Elements) -> Result<Given<'a>> {
        let given = given.iter().filter(|(name, _)| *name != filter::OPTIONAL);
        if let Some((name, _)) = given.clone().find(|(name, _)| filter.parameter(name).is_none()) {
            return Err(Error::unsupported(format!("no codec has the parameter {name}")));
        }
        let mut values = Vec::with_capacity(filter.parameters.len());
        for parameter in filter.parameters {
            let own = given.clone().find(|(name, _)| *name == parameter.name).map(|(_, value)| value);
            if let Some(value) = own {
                parameter.check(value)?;
            }
            let default = || match parameter.default {
                Default::Required | Default::Absent => None,
                Default::Int(value) => Some(Value::Int(value.into())),
                Default::Word(word) => Some(word.into()),
                Default::Bool(value) => Some(Value::Bool(value)),
                Default::ElementSize => elements.size.map(|size| Value::Int(size.into())),
                Default::ElementType => elements.number.map(|number| Value::Text(number.code())),
            };
            match own.cloned().or_else(default) {
                Some(value) => values.push((parameter.name, value)),
                None if parameter.default == Default::Required => {
                    let (filter, name) = (filter.name, parameter.name);
                    let hint = format!("'[{{{filter}: {{{name}: …}}}}]' gives it");
                    return Err(missing(name).with_hint(hint));
                }
                None => {}
            }
        }
        Ok(Given { filter, elements, values })
    }

    /// The value of a parameter: the given one, or the default if it has one.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// A parameter that is an integer.
    pub(crate) fn int<T: TryFrom<i128>>(&self, name: &str) -> Result<T> {
        match self.value(name) {
            Some(Value::Int(value)) => T::try_from(*value)
                .map_err(|_| Error::invalid(format!("{name} {value}, which is out of range"))),
            _ => Err(missing(name)),
        }
    }

    /// A parameter that is a number.
    pub(crate) fn real(&self, name: &str) -> Result<f64> {
        match self.value(name) {
            Some(Value::Real(value)) => Ok(*value),
            Some(Value::Int(value)) => Ok(*value as f64),
            _ => Err(missing(name)),
        }
    }

    /// A parameter that is a word.
    pub(crate) fn word(&self, name: &str) -> Result<&str> {
        match self.value(name) {
            Some(Value::Text(word)) => Ok(word),
            _ => Err(missing(name)),
        }
    }

    /// A parameter that is true or false.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.value(name) == Some(&Value::Bool(true))
    }

    /// A parameter that is a number type.
    pub(crate) fn number(&self, name: &str) -> Result<Number> {
        Number::of_code(self.word(name)?)
    }

    /// The error for a codec that cannot be made from a name and parameters alone.
    pub(crate) fn not_by_name(&self) -> Error {
        not_by_name(self.filter)
    }

    /// Fails if the parameter differs from its default, since this codec has no field for it.
    pub(crate) fn only_default(&self, name: &str) -> Result<()> {
        let parameter = self.filter.parameter(name);
        let is_default = |value| parameter.is_some_and(|parameter| parameter.is_default(value, None, None));
        match self.value(name) {
            Some(value) if !is_default(value) => {
                Err(Error::unsupported(format!("no codec has the parameter {name}")))
            }
            _ => Ok(()),
        }
    }
}

/// A floating-point number as the value of a parameter: an integer if it has no fraction.
pub(crate) fn real(value: f64) -> Value {
    match format!("{value:.0}").parse() {
        Ok(whole) if value.fract() == 0.0 && value.abs() < EXACT => Value::Int(whole),
        _ => Value::Real(value),
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        Value::Text(number.code())
    }
}

/// Integers are exact in a double up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn not_by_name(filter: &Filter) -> Error {
    Error::unsupported(format!("no codec is {}", filter.name))
}

pub(crate) fn missing(name: &str) -> Error {
    Error::invalid(format!("the parameter {name} is missing"))
}

impl Codec {
    /// The codec with this name. Parameters that are not given have their defaults.
    ///
    /// `lz4` has one frame in HDF5 and another in numcodecs. The given parameters select one; a format accepts the
    /// other if both mean the same.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) if no codec has this name or one of the
    /// parameters; [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a value out of
    /// range and for a missing parameter without default.
    pub fn of_name(name: &str, given: &[(&str, Value)], elements: &Elements) -> Result<Codec> {
        let filter = filter::find(name).ok_or_else(|| Error::invalid(format!("unknown filter {name:?}")))?;
        Codec::of_given(&Given::new(filter, given, elements)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NumberKind, Quantize};
    use hyperslab_core::ErrorKind;

    const ELEMENTS: Elements =
        Elements { size: Some(4), number: Some(Number { kind: NumberKind::Float32, big_endian: false }) };

    /// Values for the parameters that have no default.
    fn needed(filter: &Filter) -> Vec<(&'static str, Value)> {
        let needed = filter.parameters.iter().filter(|parameter| parameter.default == Default::Required);
        needed
            .map(|parameter| match parameter.kind {
                filter::Kind::NumberType => (parameter.name, "<i2".into()),
                filter::Kind::Ints => (parameter.name, Value::Ints(vec![1, 0])),
                _ => (parameter.name, Value::Int(3)),
            })
            .collect()
    }

    #[test]
    fn every_named_codec_has_the_name_and_parameters_of_its_row() {
        let mut found = Vec::new();
        for row in filter::FILTERS {
            let codec = match Codec::of_name(row.name, &needed(row), &ELEMENTS) {
                Ok(codec) => codec,
                Err(e) => {
                    assert_eq!(e.kind(), ErrorKind::Unsupported, "{}: {e}", row.name);
                    continue;
                }
            };
            let named = codec.named(&ELEMENTS).unwrap_or_else(|| panic!("{codec:?} has no name"));
            assert_eq!(named.name, row.name);
            assert!(named.parameters.iter().all(|(name, _)| row.parameter(name).is_some()), "{named:?}");
            // All parameters, and those that must be written, both give the same codec again.
            assert_eq!(Codec::of_name(row.name, &named.parameters, &ELEMENTS).unwrap(), codec);
            let given: Vec<_> =
                named.explicit(&ELEMENTS).map(|(name, value)| (name, value.clone())).collect();
            assert_eq!(Codec::of_name(row.name, &given, &ELEMENTS).unwrap(), codec);
            found.push(row.name);
        }
        assert!(found.len() >= 20, "{found:?}");
    }

    #[test]
    fn missing_parameters_have_their_defaults() {
        let of = |name: &str, given: &[(&str, Value)]| {
            let named = Codec::of_name(name, given, &ELEMENTS).unwrap().named(&ELEMENTS).unwrap();
            named
                .parameters
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(of("deflate", &[]), "level=6");
        assert_eq!(
            of("blosc", &[("codec", "zstd".into())]),
            "codec=\"zstd\" level=5 shuffle=\"byte\" block=0 bytes=4"
        );
        assert_eq!(of("shuffle", &[]), "bytes=4");
        assert_eq!(of("delta", &[]), "type=\"<f4\"");
    }

    #[test]
    fn rejects_wrong_and_missing_parameters() {
        let refused = |name: &str, given: &[(&str, Value)]| {
            Codec::of_name(name, given, &ELEMENTS).unwrap_err().detail().to_string()
        };
        assert_eq!(
            refused("deflate", &[("level", Value::Int(10))]),
            "level 10, expected a number from 0 to 9"
        );
        assert_eq!(refused("quantize", &[]), "the parameter digits is missing");
        assert_eq!(refused("zstd", &[("levle", Value::Int(1))]), "no codec has the parameter levle");
        assert_eq!(refused("rle", &[]), "no codec is rle");
        assert_eq!(refused("nope", &[]), "unknown filter \"nope\"");
        let typeless = Elements { size: None, number: None };
        assert_eq!(
            Codec::of_name("delta", &[], &typeless).unwrap_err().detail(),
            "the parameter type is missing"
        );
    }

    #[test]
    fn settings_without_parameter_have_no_name() {
        let double = Number { kind: NumberKind::Float64, big_endian: false };
        let narrowed = Quantize::new(double, ELEMENTS.number.unwrap(), 2).unwrap();
        assert_eq!(Codec::from(narrowed).named(&ELEMENTS), None);
    }
}
