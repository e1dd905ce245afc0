//! The groups of a store as dataspaces of TileDB-CF.

use super::objects::{Member, Object, Objects};
use super::{array_options, into_store};
use crate::format::{Location, OpenOptions};
use hyperslab_cf::dataspace::{Array, Attribute, Convention, Dataspace, Dimension, Entry, Label};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::NodePath;
use hyperslab_tiledb::array::Array as Stored;
use hyperslab_tiledb::format::array_schema::{
    ArraySchema, Attribute as StoredAttribute, Dimension as StoredDimension,
};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::metadata::{Metadata, Value};
use hyperslab_tiledb::history::value_text;
use std::collections::BTreeSet;

/// All groups of a store, from the root down.
///
/// # Errors
/// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the root is an array; also if a member cannot be read.
pub(super) fn dataspaces(location: Location, open: &OpenOptions) -> Result<Vec<Dataspace>> {
    let objects = Objects::new(into_store(location)?, array_options(open)?, true);
    if objects.is_array(&Key::root())? {
        let detail = "a TileDB array, and the conventions of TileDB-CF are those of groups";
        return Err(Error::unsupported(detail).with_hint("put the array into a group"));
    }
    let (mut found, mut left, mut known) =
        (Vec::new(), vec![(NodePath::root(), Key::root())], BTreeSet::new());
    while let Some((path, key)) = left.pop() {
        // A group may be a member of several groups.
        if !known.insert(key.clone()) {
            continue;
        }
        let object = objects.open(&key).map_err(|e| e.in_object(&path))?;
        let Object::Group(group) = &*object else { continue };
        let keys = group.group.metadata()?.into_iter().map(|(key, _)| text(&key));
        let mut space = Dataspace { path: path.to_string(), metadata: keys.collect(), arrays: Vec::new() };
        for (name, member) in &group.members {
            let Member::Within(key) = member else { continue };
            let own = path.child(name);
            if !objects.is_array(key).map_err(|e| e.in_object(&own))? {
                left.push((own, key.clone()));
                continue;
            }
            let opened = objects.open(key).map_err(|e| e.in_object(&own))?;
            let Object::Array(stored) = &*opened else { continue };
            let own_name = group.stored.get(name).and_then(|member| member.name.as_ref());
            let name = own_name.filter(|own| !own.is_empty()).map(|_| name.clone());
            space.arrays.push(array(&own, name, &stored.array).map_err(|e| e.in_object(&own))?);
        }
        found.push(space);
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Rejects a store that does not satisfy a convention.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) with the first violation; otherwise as
/// [`dataspaces`].
pub(super) fn expect(convention: &Convention, location: Location, open: &OpenOptions) -> Result<()> {
    let spaces = dataspaces(location, open)?;
    match spaces.iter().find_map(|space| convention.check(space).into_iter().next()) {
        None => Ok(()),
        Some(found) => {
            let detail = format!("is not {}: {} ({})", convention.name, found.message, found.rule.name);
            Err(Error::invalid(detail).with_hint("auto shows any dataspace").in_object(found.object))
        }
    }
}

fn array(path: &NodePath, name: Option<String>, stored: &Stored) -> Result<Array> {
    let entries = stored.metadata()?.into_iter().map(|(key, value)| entry(&key, value));
    Ok(Array {
        dimensions: stored.dimensions().iter().map(dimension).collect(),
        attributes: stored.attributes().iter().map(attribute).collect(),
        ..described(path, name, stored.schema(), entries.collect())
    })
}

/// An array that is about to be written and is a member of a group under its own name.
pub(super) fn of_schema(path: &NodePath, schema: &ArraySchema, metadata: &Metadata) -> Array {
    let entries = metadata.entries.iter();
    let entries = entries.filter_map(|own| Some(entry(&own.key, own.value.clone()?))).collect();
    described(path, Some(path.name().to_owned()), schema, entries)
}

fn described(path: &NodePath, name: Option<String>, schema: &ArraySchema, metadata: Vec<Entry>) -> Array {
    let label = |of: &hyperslab_tiledb::format::array_schema::DimensionLabel| Label {
        name: text(&of.name),
        datatype: of.data_type.name().to_owned(),
        dimension: usize::try_from(of.dimension).unwrap_or(usize::MAX),
    };
    Array {
        path: path.to_string(),
        name,
        dimensions: schema.domain.dimensions.iter().map(dimension).collect(),
        attributes: schema.attributes.iter().map(attribute).collect(),
        labels: schema.dimension_labels.iter().map(label).collect(),
        metadata,
    }
}

fn entry(key: &[u8], value: Value) -> Entry {
    Entry { key: text(key), datatype: value.data_type.name().to_owned(), value: value.bytes }
}

fn attribute(of: &StoredAttribute) -> Attribute {
    Attribute { name: text(&of.name), datatype: of.data_type.name().to_owned(), fill: of.fill_value.clone() }
}

fn dimension(of: &StoredDimension) -> Dimension {
    let halves = of.domain.split_at_checked(of.domain.len() / 2);
    let bounds = halves.filter(|_| of.cell_val_num != CellValNum::Var && !of.domain.is_empty());
    Dimension {
        name: text(&of.name),
        datatype: of.data_type.name().to_owned(),
        is_integer: is_integer(of.data_type),
        domain: bounds.map(|(low, high)| (value_text(of.data_type, low), value_text(of.data_type, high))),
    }
}

fn is_integer(data_type: DataType) -> bool {
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    matches!(data_type, Int8 | UInt8 | Int16 | UInt16 | Int32 | UInt32 | Int64 | UInt64)
}

/// A name or a key in its stored form.
fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
