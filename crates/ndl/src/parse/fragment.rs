//! Parts of a document that are given alone, as in options of a command line.

use super::context::Context;
use super::events::{Document, Node};
use super::findings::Findings;
use super::object::name_bits;
use super::value::{Expected, Selections};
use super::{ParseOptions, is_printable};
use crate::Severity;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Datatype, Fill, Filter, Values};

/// Parses a list of filters as in `storage.filter`, for elements of this type. Warnings are errors here.
///
/// ```
/// use hyperslab_ndl::filters;
///
/// let read = filters("[shuffle, {zlib: 4}]", None)?;
/// assert_eq!(read.iter().map(|filter| filter.name.as_str()).collect::<Vec<_>>(), ["shuffle", "deflate"]);
/// let error = filters("[shufle]", None).unwrap_err();
/// assert_eq!(error.to_string(), "no filter \"shufle\"\nhelp: did you mean shuffle?");
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the text is not a list of filters.
pub fn filters(text: &str, datatype: Option<&Datatype>) -> Result<Vec<Filter>> {
    let filters = read(text, |context, node| Some(context.filters(node)))?;
    Ok(filters_for(filters, datatype))
}

/// Filters as they are meant for elements of a type: the number that `scaleoffset` has counts bits of integers and
/// digits of all others.
pub fn filters_for(mut filters: Vec<Filter>, datatype: Option<&Datatype>) -> Vec<Filter> {
    if let Some(datatype) = datatype {
        name_bits(&mut filters, datatype);
    }
    filters
}

/// Parses a fill value as in `storage.fillvalue`, for elements of this type.
///
/// ```
/// use hyperslab_model::{Datatype, Fill};
/// use hyperslab_ndl::fill_value;
///
/// let Fill::Value(read) = fill_value("-1", &Datatype::int(16, true))? else { unreachable!() };
/// assert_eq!(*read.rows, (-1_i16).to_ne_bytes());
/// let error = fill_value("300", &Datatype::int(8, false)).unwrap_err();
/// assert_eq!(error.to_string(), "\"300\" for uint8: out of range");
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the text is not a value of this type.
pub fn fill_value(text: &str, datatype: &Datatype) -> Result<Fill> {
    read(text, |context, node| context.fill(node, datatype, None, Selections::ANY))
}

/// Parses a JSON list of elements of this type, as [`json`](crate::json) writes them. Targets of references are not
/// checked.
///
/// ```
/// use hyperslab_model::{Datatype, Float};
/// use hyperslab_ndl::elements;
///
/// let read = elements("[1.5, \"NaN\"]", &Datatype::Float(Float::Single), 2)?;
/// assert_eq!(*read.rows, [1.5_f32.to_ne_bytes(), f32::NAN.to_ne_bytes()].concat());
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the text is not such a list.
pub fn elements(text: &str, datatype: &Datatype, count: u64) -> Result<Values> {
    read(text, |context, node| context.value(node, datatype, &[count], Expected::of("the value")))
}

/// Parses a text and reads its root node. Warnings are errors.
fn read<T>(text: &str, read: impl for<'t> FnOnce(&mut Context<'t, '_>, Node<'t>) -> Option<T>) -> Result<T> {
    let mut findings = Findings::new(text, true);
    let document = match Document::read_json(text, &mut findings) {
        Some(document) => document,
        None if is_printable(text, &mut findings) => Document::read(text, &mut findings),
        None => Document::default(),
    };
    let mut context = Context::new(findings, ParseOptions { strict: true, ..ParseOptions::default() }, None);
    let found = document.root().and_then(|root| read(&mut context, root));
    let error = context.findings.finish().into_iter().find(|found| found.severity == Severity::Error);
    match (error, found) {
        (None, Some(found)) => Ok(found),
        (None, None) => Err(Error::invalid(format!("nothing in {text:?}, expected a value"))),
        (Some(error), _) => Err(Error::invalid(error.message).with_remedies(error.hint.map(Remedy::Hint))),
    }
}
