//! Converts filters of the model to codecs, and back.

use hyperslab_codec::{Codec, Named};
use hyperslab_core::filter::{self, Value};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Directive, Filter};

pub use hyperslab_codec::Elements;

/// The codec of a filter for such elements. Parameters that the filter does not state get the defaults of the
/// [vocabulary](hyperslab_core::filter).
///
/// ```
/// use hyperslab::filter::{self, Elements};
/// use hyperslab_codec::{Blosc, BloscCodec, BloscShuffle};
///
/// let filters = hyperslab_ndl::filters("[{blosc: zstd}]", None)?;
/// let codec = filter::codec(&filters[0], &Elements { size: Some(4), number: None })?;
/// let shuffle = BloscShuffle::Byte;
/// assert_eq!(codec, Blosc { codec: BloscCodec::Zstd, level: 5, shuffle, element: 4, block: 0 }.into());
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) if no codec has this name or one of the
/// parameters; [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a value out of range and
/// for a missing parameter that has no default.
pub fn codec(filter: &Filter, elements: &Elements) -> Result<Codec> {
    let said = filter.parameters.iter().filter(|(name, _)| name != filter::OPTIONAL);
    let said = said.map(|(name, directive)| match value(directive) {
        Some(value) => Ok((name.as_str(), value)),
        None => Err(Error::invalid(format!("{name} {directive}, expected a number or a word"))),
    });
    Codec::of_name(&filter.name, &said.collect::<Result<Vec<_>>>()?, elements)
}

/// Checks the parameters of a filter against the [vocabulary](hyperslab_core::filter). A filter that is not in the
/// vocabulary may have any parameters.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a value of another kind or out of
/// range.
pub fn check(filter: &Filter) -> Result<()> {
    let Some(known) = filter::find(&filter.name) else { return Ok(()) };
    for (name, directive) in &filter.parameters {
        if let (Some(parameter), Some(value)) = (known.parameter(name), value(directive)) {
            parameter
                .check(&value)
                .map_err(|e| e.map_detail(|detail| format!("filter {}: {detail}", filter.name)))?;
        }
    }
    Ok(())
}

/// The filter of a codec, with the parameters to write. `None` if the vocabulary has no name for it or lacks a
/// parameter.
pub fn of_codec(codec: &Codec, elements: &Elements) -> Option<Filter> {
    codec.named(elements).map(|named| of_named(&named, elements))
}

fn of_named(named: &Named, elements: &Elements) -> Filter {
    let said = named.explicit(elements).map(|(name, value)| (name.to_owned(), directive(value)));
    filter(named.name, said.collect())
}

/// A filter of the vocabulary with these parameters.
pub(crate) fn filter(name: &str, parameters: Vec<(String, Directive)>) -> Filter {
    let main = filter::find(name).map_or(&[][..], |filter| filter.main);
    let is_main = parameters.first().is_some_and(|(first, _)| main.contains(&first.as_str()));
    Filter { name: name.to_owned(), parameters, main: is_main }
}

/// Whether a parameter of a filter has this value, explicitly or by default. Defaults that depend on the elements are
/// ignored.
pub(crate) fn has_parameter(
    filter: &Filter,
    name: &str,
    same: impl Fn(&Directive) -> bool,
    wanted: &Directive,
) -> bool {
    if let Some((_, said)) = filter.parameters.iter().find(|(own, _)| own == name) {
        return same(said);
    }
    let parameter = filter::find(&filter.name).and_then(|row| row.parameter(name));
    parameter.zip(value(wanted)).is_some_and(|(parameter, wanted)| parameter.is_default(&wanted, None, None))
}

fn value(directive: &Directive) -> Option<Value> {
    Some(match directive {
        Directive::Bool(value) => Value::Bool(*value),
        Directive::Int(value) => Value::Int(*value),
        Directive::Float(value) => Value::Real(*value),
        Directive::Text(text) => Value::Text(text.clone()),
        Directive::List(items) => {
            let item = |item: &Directive| match item {
                Directive::Int(value) => Some(*value),
                _ => None,
            };
            Value::Ints(items.iter().map(item).collect::<Option<_>>()?)
        }
        Directive::Null | Directive::Map(_) => return None,
    })
}

fn directive(value: &Value) -> Directive {
    match value {
        Value::Bool(value) => Directive::Bool(*value),
        Value::Int(value) => Directive::Int(*value),
        Value::Real(value) => Directive::Float(*value),
        Value::Text(text) => Directive::Text(text.clone()),
        Value::Ints(items) => Directive::List(items.iter().copied().map(Directive::Int).collect()),
    }
}
