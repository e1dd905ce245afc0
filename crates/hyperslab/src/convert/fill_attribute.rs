//! The attribute `_FillValue` for readers that do not know how the source marks missing values.
//!
//! Spec: CF 1.13, 2.5.1 Missing data

use super::{ConvertOptions, is_of_family};
use crate::source::{Handle, Source};
use crate::target::conventions::FILL_VALUE;
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_model::{Attribute, Datatype, Fill, Node, Values};
use std::sync::Arc;

/// Adds the attribute to an array in the type of its elements, and returns what the source has instead. `None` if the
/// target can do without it.
///
/// # Errors
/// If the array cannot be read.
pub(super) fn add(
    source: &dyn Source,
    handle: &Handle,
    node: &mut Node,
    options: &ConvertOptions<'_>,
) -> Result<Option<String>> {
    let (Some(datatype), Some(attributes)) = (node.datatype(), node.attributes()) else { return Ok(None) };
    let (added, what) = match attributes.get(FILL_VALUE) {
        Some(_) if options.format.dialects().contains(&source.format()) => return Ok(None),
        // Formats of one family write integers alike.
        Some(Ok(own))
            if is_of_family(source, options) && matches!(own.datatype.resolved(), Datatype::Int { .. }) =>
        {
            return Ok(None);
        }
        Some(_) => (source.fill_attribute(handle)?, "_FillValue in the form that it has in"),
        None if options.format.marks_missing() => return Ok(None),
        None => {
            let fill = node.storage().map_or(&Fill::Undefined, |storage| &storage.fill);
            (implied(source, handle, datatype, fill)?, "fill value that marks missing values in")
        }
    };
    let (Some(added), Some(attributes)) = (added, node.attributes_mut()) else { return Ok(None) };
    attributes.insert(FILL_VALUE.to_owned(), Ok(added));
    Ok(Some(format!("{what} {}", source.format())))
}

/// The fill value as an attribute, if readers of the source treat it as missing.
fn implied(
    source: &dyn Source,
    handle: &Handle,
    datatype: &Arc<Datatype>,
    fill: &Fill,
) -> Result<Option<Attribute>> {
    // CF defines missing numbers only. Other readers do not support attributes of some other types.
    if !matches!(datatype.resolved(), Datatype::Int { .. } | Datatype::Float(_)) {
        return Ok(None);
    }
    let Some(rows) = (source.dialect().missing)(datatype.resolved(), fill) else { return Ok(None) };
    if !source.array(handle)?.fill_is_missing() {
        return Ok(None);
    }
    let heap = match fill {
        Fill::Value(value) => value.heap.clone(),
        Fill::Default | Fill::Undefined => Heap::default(),
    };
    Ok(Some(Attribute::new(Vec::new(), Arc::clone(datatype), Values { rows: rows.into(), heap })))
}
