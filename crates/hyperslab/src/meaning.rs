//! The meaning of the stored values of an array, according to its attributes and those of related objects.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, 7.1 Cell Boundaries

use crate::source::{Handle, Source};
pub(crate) use hyperslab_cf::meaning::Meaning;
use hyperslab_cf::meaning::text;
use hyperslab_cf::time::Counting;
use hyperslab_core::Result;
use hyperslab_model::{Attributes, Datatype, Dimension, Float, Node, NodePath, Shape, Values};
use hyperslab_netcdf4::name::FILL_VALUE;

/// The meaning of the values of the array `node` at `path`, according to all its attributes. `datatype` is that of its
/// elements; for an array datatype, of the items.
pub(crate) fn meaning(source: &dyn Source, path: &NodePath, node: &Node, datatype: &Datatype) -> Meaning {
    let mut meaning = Meaning::of(node.attributes().unwrap_or(&Attributes::new()), datatype);
    add_implied(&mut meaning, source, node, datatype);
    if meaning.counting.is_none() && matches!(datatype.non_null(), Datatype::Int { .. } | Datatype::Float(_))
    {
        meaning.counting = counting_of_bounded(source, path, node);
    }
    meaning
}

/// As [`meaning`], for elements shown as stored: only missing values have a special meaning.
pub(crate) fn meaning_as_stored(source: &dyn Source, node: &Node, datatype: &Datatype) -> Meaning {
    let mut meaning = Meaning::as_stored(node.attributes().unwrap_or(&Attributes::new()), datatype);
    add_implied(&mut meaning, source, node, datatype);
    meaning
}

/// Adds values that readers of the format treat as missing although no attribute says so, or says so only in a form of
/// the format's own.
fn add_implied(meaning: &mut Meaning, source: &dyn Source, node: &Node, datatype: &Datatype) {
    if node.attributes().is_none_or(|attributes| !attributes.contains_key(FILL_VALUE))
        && let Some(storage) = node.storage()
        && let Some(row) = (source.dialect().missing)(datatype.resolved(), &storage.fill)
    {
        meaning.add_missing(datatype, &Values { rows: row.into(), ..Values::default() });
    }
    if let Datatype::Float(_) = datatype.non_null()
        && let Some(fill) = text_of(node, FILL_VALUE).and_then(|text| (source.dialect().fill_of_text)(&text))
    {
        let rows = fill.to_ne_bytes().to_vec().into();
        meaning.add_missing(&Datatype::Float(Float::Double), &Values { rows, ..Values::default() });
    }
}

/// The unit of the times whose bounds the array holds: bounds without units of their own share those of the coordinates
/// that name them. `None` for all other arrays.
fn counting_of_bounded(source: &dyn Source, path: &NodePath, node: &Node) -> Option<Counting> {
    if node.attributes().is_some_and(|attributes| attributes.contains_key("units")) {
        return None;
    }
    let Some(Shape::Dims(dims)) = node.shape(path) else { return None };
    let (last, along) = dims.split_last()?;
    // Only arrays whose dimensions have names are considered: those from NetCDF, or converted from it.
    if last.extent.current() != 2 || dims.iter().any(|dimension| dimension.coordinate.is_none()) {
        return None;
    }
    let group = source.find(&path.parent()?).ok()?;
    let members = source.members(&group.handle).ok()?;
    let same =
        |dims: &[Dimension]| dims.iter().map(|of| &of.coordinate).eq(along.iter().map(|of| &of.coordinate));
    members.iter().filter(|entry| entry.dimensions().is_some_and(|dims| same(&dims))).find_map(|entry| {
        let times = source.load(&entry.handle).ok()?;
        let is_named = |name: &&str| text_of(&times, name).is_some_and(|bounds| bounds == path.name());
        ["bounds", "climatology"].iter().find(|name| is_named(name))?;
        Meaning::of(times.attributes()?, &Datatype::int(64, true)).counting
    })
}

/// Converts the attribute `_FillValue` of an object to the type of the elements, if its format stores it in another
/// form.
///
/// # Errors
/// If the array cannot be read.
pub(crate) fn type_fill_attribute(source: &dyn Source, object: &Handle, node: &mut Node) -> Result<()> {
    // A dimension without coordinates has no elements, and its attribute stays unchanged.
    if node.datatype().is_some()
        && node.attributes().is_some_and(|attributes| attributes.contains_key(FILL_VALUE))
        && let Some(typed) = source.fill_attribute(object)?
        && let Some(attributes) = node.attributes_mut()
    {
        attributes.insert(FILL_VALUE.to_owned(), Ok(typed));
    }
    Ok(())
}

/// Whether numbers of this type can be packed.
pub(crate) fn is_number(datatype: &Datatype) -> bool {
    matches!(
        datatype,
        Datatype::Int { .. } | Datatype::Float(Float::Half | Float::BFloat | Float::Single | Float::Double)
    )
}

/// Whether the attributes of an object state that its numbers are packed.
pub(crate) fn is_packed(node: &Node) -> bool {
    let has = |name: &str| node.attributes().is_some_and(|attributes| attributes.contains_key(name));
    has("scale_factor") || has("add_offset")
}

/// The text of an attribute of an object, without spaces around it.
pub(crate) fn text_of(node: &Node, name: &str) -> Option<String> {
    text(node.attributes()?, name)
}
