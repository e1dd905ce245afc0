//! Attributes that get another type in the target, because the source leaves their type open or has no more suitable
//! one.

use super::{ConvertOptions, is_of_family};
use crate::source::Source;
use crate::target::conventions::{FILL_VALUE, MARKS, mark_in_type};
use hyperslab_core::Result;
use hyperslab_model::{Datatype, Fill, Node};

/// An attribute with another type.
pub(super) struct Typed {
    pub(super) name: String,
    pub(super) what: String,
    pub(super) becomes: String,
}

/// Gives attributes of an object the type that readers of the target expect.
///
/// # Errors
/// If a document marks missing elements by a number that their type cannot represent.
pub(super) fn attributes(
    source: &dyn Source,
    node: &mut Node,
    options: &ConvertOptions<'_>,
) -> Result<Vec<Typed>> {
    let mut typed = Vec::new();
    if !is_of_family(source, options) {
        numbers_of_texts(source, node, &mut typed);
    }
    if source.is_text() && options.format.has_typed_marks() {
        marks(node, &mut typed)?;
    }
    Ok(typed)
}

/// Converts attributes that are strings only because the source has no type for all of their numbers.
fn numbers_of_texts(source: &dyn Source, node: &mut Node, typed: &mut Vec<Typed>) {
    for (name, attribute) in node.attributes_mut().into_iter().flatten() {
        if let Ok(attribute) = attribute
            && let Some(numbers) = (source.dialect().numbers_of_text)(attribute)
        {
            *attribute = numbers;
            let what = format!("integers and fractions, which {} does not tell apart", source.format());
            typed.push(Typed {
                name: name.clone(),
                what,
                becomes: "64-bit floating-point numbers".to_owned(),
            });
        }
    }
}

/// Gives numbers that mark missing elements the type of the elements, since a document seldom names the type of an
/// attribute. An array without a fill value of its own gets the marked one.
fn marks(node: &mut Node, typed: &mut Vec<Typed>) -> Result<()> {
    let Some(datatype) = node.datatype().cloned() else { return Ok(()) };
    if !matches!(datatype.resolved(), Datatype::Int { .. } | Datatype::Float(_)) {
        return Ok(());
    }
    let Some(attributes) = node.attributes_mut() else { return Ok(()) };
    for name in MARKS {
        let Some(Ok(attribute)) = attributes.get_mut(name) else { continue };
        let in_type = mark_in_type(attribute, &datatype);
        let in_type = in_type.map_err(|e| e.map_detail(|detail| format!("attribute {name}: {detail}")))?;
        let Some(in_type) = in_type else { continue };
        let what = format!("number of type {}", attribute.datatype);
        let becomes = format!("type {}, as its array", datatype.resolved());
        typed.push(Typed { name: name.to_owned(), what, becomes });
        *attribute = in_type;
    }
    let marked = match attributes.get(FILL_VALUE) {
        Some(Ok(attribute)) if attribute.datatype.resolved() == datatype.resolved() => {
            attribute.value.clone()
        }
        _ => return Ok(()),
    };
    if let Some(storage) = node.storage_mut().filter(|storage| matches!(storage.fill, Fill::Default)) {
        storage.fill = Fill::Value(marked);
    }
    Ok(())
}
