//! Parts of a document that are given separately, as in command-line options.

use super::context::Context;
use super::events::{Document, Node};
use super::findings::Findings;
use super::object::name_bits;
use super::storage::Owner;
use super::value::{Expected, Selections};
use super::{ParseOptions, Parsed, is_printable};
use crate::Severity;
use crate::part::Value;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{
    Attribute, Datatype, Fill, Filter, Link, Ndarray, Node as Object, NodePath, Storage, Values,
};

/// Parses a list of filters as in `storage.filter`, for elements of this type. Warnings are errors here.
///
/// ```
/// use hyperslab_ndl::filters;
///
/// let read = filters("[shuffle, {zlib: 4}]", None)?;
/// assert_eq!(read.iter().map(|filter| filter.name.as_str()).collect::<Vec<_>>(), ["shuffle", "deflate"]);
/// let error = filters("[shufle]", None).unwrap_err();
/// assert_eq!(error.to_string(), "unknown filter \"shufle\"\nhelp: did you mean shuffle?");
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the text is not a list of filters.
pub fn filters(text: &str, datatype: Option<&Datatype>) -> Result<Vec<Filter>> {
    let filters = read(text, |context, node| Some(context.filters(node)))?;
    Ok(filters_for(filters, datatype))
}

/// Names the main parameter of `scaleoffset` filters by the type of the elements: `bits` for integers, `digits` for
/// all other types. Without a type, returns the filters unchanged.
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

/// Parses an attribute as in `attributes` of an object: a value alone, or a map with shape, type and value.
///
/// ```
/// use hyperslab_model::Datatype;
/// use hyperslab_ndl::attribute;
///
/// assert_eq!(*attribute("{shape: [2], type: int16, value: [0, 100]}")?.datatype, Datatype::int(16, true));
/// assert_eq!(attribute("m s-1")?.shape, Some(Vec::new()));
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the text is not an attribute.
pub fn attribute(text: &str) -> Result<Attribute> {
    read(text, |context, node| context.attribute(node))
}

/// Parses an array as in `ndarrays` of a group, without requiring a shape: a map, or just a type.
///
/// ```
/// use hyperslab_model::Datatype;
/// use hyperslab_ndl::ndarray;
///
/// let array = ndarray("{type: int8, storage: {fillvalue: -1}}")?;
/// assert_eq!(array.datatype, ndarray("int8")?.datatype);
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the text is not an array.
pub fn ndarray(text: &str) -> Result<Ndarray> {
    let is_map = text.trim_start().starts_with('{') && text.contains("type");
    let whole = if is_map { text.to_owned() } else { format!("{{type: {text}}}") };
    read(&whole, |context, node| context.ndarray(node, &NodePath::root()))
}

/// Parses a JSON list of elements of this type, as [`json`](crate::json) writes them. Targets of references are not
/// checked.
///
/// ```
/// use hyperslab_model::{Datatype, Float};
/// use hyperslab_ndl::elements_of_text;
///
/// let read = elements_of_text("[1.5, \"NaN\"]", &Datatype::Float(Float::Single), 2)?;
/// assert_eq!(*read.rows, [1.5_f32.to_ne_bytes(), f32::NAN.to_ne_bytes()].concat());
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the text is not a list of `count` elements of
/// the type.
pub fn elements_of_text(text: &str, datatype: &Datatype, count: u64) -> Result<Values> {
    read(text, |context, node| context.value(node, datatype, &[count], Expected::of("the value")))
}

/// Reads elements of this type from values in the form that [`element`](crate::part::element) produces. Does not check
/// that the targets of references exist.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a value is not an element of the type.
pub fn elements(items: &[Value], datatype: &Datatype) -> Result<Values> {
    let list = Value::List(items.to_vec());
    let mut findings = Findings::new("", true);
    let document = Document::of_value(&list, &mut findings);
    found(&document, findings, |context, node| {
        context.value(node, datatype, &[items.len() as u64], Expected::of("the value"))
    })
    .map(|found| found.unwrap_or_default())
}

/// Reads the storage of an array of this type, or of a group, in the form that [`storage`](crate::part::storage)
/// produces. Does not check that chunks fit a shape.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if such an object cannot have one of the directives.
pub fn read_storage(of: &Value, datatype: Option<&Datatype>) -> Result<Storage> {
    let mut findings = Findings::new("", true);
    let document = Document::of_value(of, &mut findings);
    let owner = if datatype.is_some() { Owner::Ndarray } else { Owner::Group };
    found(&document, findings, |context, node| {
        let directives = context.storage(Some(node), owner);
        Some(context.finished(directives, datatype, Selections::ANY))
    })
    .map(|found| found.unwrap_or_default())
}

/// Reads a link in the form that [`link`](crate::part::link) produces. Does not check that a hard link has a target.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if it is not a link.
pub fn read_link(of: &Value) -> Result<Link> {
    let mut findings = Findings::new("", true);
    let document = Document::of_value(of, &mut findings);
    found(&document, findings, |context, node| context.link(node))?.ok_or_else(|| Error::invalid("no link"))
}

/// Reads the root group of a JSON document: the objects in it with their paths, groups before their members.
///
/// The group is part of a larger hierarchy, and its paths may refer to objects outside of it. Therefore the targets
/// of references and hard links are not checked.
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) with the first diagnostic if the value is not a group.
pub fn read_group(group: Value) -> Result<Vec<(NodePath, Object)>> {
    let root = Value::Map(vec![(NodePath::root().to_string(), group)]);
    let mut findings = Findings::new("", false);
    let document = Document::of_value(&root, &mut findings);
    let context = Context::new(findings, ParseOptions::default(), None);
    let Parsed { content, diagnostics, .. } = super::document::read(&document, context, false);
    match diagnostics.into_iter().find(|found| found.severity == Severity::Error) {
        Some(error) => Err(Error::malformed(error.message)),
        None => Ok(content.nodes.into_iter().collect()),
    }
}

/// Parses a text and reads its root node. Warnings are errors.
fn read<T>(text: &str, read: impl for<'t> FnOnce(&mut Context<'t, '_>, Node<'t>) -> Option<T>) -> Result<T> {
    let mut findings = Findings::new(text, true);
    let document = match Document::read_json(text, &mut findings) {
        Some(document) => document,
        None if is_printable(text, &mut findings) => Document::read(text, &mut findings),
        None => Document::default(),
    };
    found(&document, findings, read)?
        .ok_or_else(|| Error::invalid(format!("{text:?} is empty, expected a value")))
}

/// Reads the root node of a document. `None` if the document is empty.
fn found<'t, T>(
    document: &'t Document<'t>,
    findings: Findings<'_>,
    read: impl FnOnce(&mut Context<'t, '_>, Node<'t>) -> Option<T>,
) -> Result<Option<T>> {
    let mut context = Context::new(findings, ParseOptions { strict: true, ..ParseOptions::default() }, None);
    let found = document.root().and_then(|root| read(&mut context, root));
    match context.findings.finish().into_iter().find(|found| found.severity == Severity::Error) {
        None => Ok(found),
        Some(error) => Err(Error::invalid(error.message).with_remedies(error.hint.map(Remedy::Hint))),
    }
}
