//! Changes of schemas.

use super::super::TILEDB;
use super::super::objects::{ArrayObject, Field};
use super::super::schema::attribute;
use super::TileDbEditor;
use super::condition::Fields;
use crate::editor::{Change, ChangeKind, Dates};
use crate::strings::name_bytes;
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Directive, Fill, Ndarray, NodePath};
use hyperslab_tiledb::format::array_schema::Attribute;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::fragment_metadata::mbr::Mbr;
use hyperslab_tiledb::history::value_text;
use hyperslab_tiledb::write::evolve::Evolution;

/// A change of a schema.
pub(super) enum SchemaEdit {
    Add(Box<Attribute>, Option<Box<Enumeration>>),
    Drop(Vec<u8>),
    /// The old and the new name.
    Rename(Vec<u8>, Vec<u8>),
    /// The name of an enumeration and its new values.
    Extend(Vec<u8>, Vec<Vec<u8>>),
    Grow(Mbr),
    GrowAround(Mbr),
}

impl SchemaEdit {
    pub(super) fn apply(&self, evolution: &mut Evolution<'_>) -> Result<()> {
        match self {
            SchemaEdit::Add(attribute, enumeration) => {
                evolution.add_attribute((**attribute).clone(), enumeration.as_deref().cloned())
            }
            SchemaEdit::Drop(name) => evolution.drop_attribute(name),
            SchemaEdit::Rename(name, to) => evolution.rename_attribute(name, to),
            SchemaEdit::Extend(name, values) => evolution.extend_enumeration(name, values),
            SchemaEdit::Grow(rectangle) => evolution.grow(rectangle),
            SchemaEdit::GrowAround(rectangle) => evolution.grow_around(rectangle).map(drop),
        }
    }
}

impl TileDbEditor {
    pub(super) fn add_attribute(&mut self, path: &NodePath, definition: &Ndarray) -> Result<Change> {
        let (group, name) = self.array_of(path)?;
        self.with_array(&group, |editor, key, array| {
            let evolution = editor.evolution(key, &array.array)?;
            let version = evolution.schema().version;
            let mut definition = definition.clone();
            let enumeration = new_enumeration(&name, &mut definition, &evolution)?;
            let most = editor.objects.options.limits.allocation;
            let attribute = attribute::parse(&name, &definition, version, most)?;
            let what = format!("attribute of {}", attribute.data_type.name());
            let mut notes = Vec::new();
            if !array.array.fragments()?.is_empty() {
                notes.push("existing cells get its fill value".to_owned());
                if attribute.enumeration.is_some()
                    && matches!(definition.storage.fill, Fill::Default)
                    && !attribute.nullable
                {
                    let none =
                        "the fill value is not a value of the enumeration; storage.fillvalue can set one";
                    notes.push(none.to_owned());
                }
            }
            editor.try_schema(key, array, SchemaEdit::Add(Box::new(attribute), enumeration.map(Box::new)))?;
            Ok(Change { notes, ..Change::new(ChangeKind::Added, path, what) })
        })
    }

    pub(super) fn drop_attribute(&mut self, path: &NodePath) -> Result<Change> {
        let (group, name) = self.array_of(path)?;
        self.with_array(&group, |editor, key, array| {
            let stored = match TileDbEditor::field(array, &name)? {
                Field::Attribute(position) => array.attribute(position)?.name.clone(),
                Field::Dimension(_) => {
                    return Err(Error::invalid("is a dimension, which cannot be removed from an array"));
                }
                Field::Label(_) => {
                    return Err(Error::unsupported("is a dimension label, which cannot be removed"));
                }
            };
            editor.try_schema(key, array, SchemaEdit::Drop(stored))?;
            let notes = vec!["its cells remain stored and are visible at earlier times".to_owned()];
            Ok(Change { notes, ..Change::new(ChangeKind::Removed, path, "attribute") })
        })
    }

    pub(super) fn rename_attribute(&mut self, path: &NodePath, to: &str) -> Result<Change> {
        let (group, name) = self.array_of(path)?;
        self.with_array(&group, |editor, key, array| {
            let Field::Attribute(position) = TileDbEditor::field(array, &name)? else {
                return Err(Error::unsupported("is a dimension or a label, which cannot be renamed"));
            };
            let stored = array.attribute(position)?.name.clone();
            editor.try_schema(key, array, SchemaEdit::Rename(stored.clone(), name_bytes(to)))?;
            editor.move_metadata(key, &stored, &name_bytes(to))?;
            Ok(Change::new(ChangeKind::Changed, path, format!("name {to}")))
        })
    }

    pub(super) fn extend(&mut self, path: &NodePath, values: &[String], dates: &Dates<'_>) -> Result<Change> {
        let (group, name) = self.array_of(path)?;
        self.with_array(&group, |editor, key, array| {
            let Field::Attribute(position) = TileDbEditor::field(array, &name)? else {
                return Err(Error::invalid("is not an attribute, expected one with an enumeration"));
            };
            let none = || Error::invalid("has no enumeration");
            let enumeration = array.attribute(position)?.enumeration.clone().ok_or_else(none)?;
            let known = array.array.enumeration(&enumeration)?;
            let bytes = Fields::values(known.data_type, values, dates)?;
            let shown: Vec<String> = bytes.iter().map(|value| value_text(known.data_type, value)).collect();
            editor.try_schema(key, array, SchemaEdit::Extend(enumeration.clone(), bytes))?;
            let what =
                format!("enumeration {} gets {}", String::from_utf8_lossy(&enumeration), shown.join(", "));
            Ok(Change::new(ChangeKind::Changed, path, what))
        })
    }

    pub(super) fn grow(
        &mut self,
        path: &NodePath,
        ranges: &[(String, String, String)],
        dates: &Dates<'_>,
    ) -> Result<Change> {
        self.with_array(path, |editor, key, array| {
            let evolution = editor.evolution(key, &array.array)?;
            let current = evolution.schema().current_domain.as_ref().and_then(|of| of.rectangle.clone());
            let mut to = current.ok_or_else(|| {
                Error::invalid("has no current domain that could grow")
                    .with_hint("cells can be written anywhere in its domain")
            })?;
            let fields = Fields::of(&array.array)?;
            for (name, low, high) in ranges {
                let Field::Dimension(position) = TileDbEditor::field(array, name)? else {
                    return Err(Error::invalid(format!("{name} is not a dimension of the array")));
                };
                let range = fields.range(position, (low, high), dates)?;
                if let Some(place) = to.ranges.get_mut(position) {
                    *place = range;
                }
            }
            editor.try_schema(key, array, SchemaEdit::Grow(to.clone()))?;
            let what = format!("current domain {}", rectangle_text(array, &to));
            Ok(Change::new(ChangeKind::Changed, path, what))
        })
    }

    /// Plans a change of a schema if it can be made.
    pub(super) fn try_schema(&mut self, key: &Key, array: &ArrayObject, edit: SchemaEdit) -> Result<()> {
        let mut evolution = self.evolution(key, &array.array)?;
        edit.apply(&mut evolution)?;
        self.push_schema(key, edit);
        Ok(())
    }
}

/// A rectangle in the form used in selections.
pub(super) fn rectangle_text(array: &ArrayObject, of: &Mbr) -> String {
    let sides = array.array.dimensions().iter().zip(&of.ranges).map(|(dimension, range)| {
        let [min, max] = [&range.min, &range.max].map(|end| value_text(dimension.data_type, end));
        format!("{}={min}..{max}", String::from_utf8_lossy(&dimension.name))
    });
    sides.collect::<Vec<_>>().join(", ")
}

/// The enumeration of a new attribute, if its datatype is an enumeration that the array does not have yet. Its name is
/// the one stated in the definition, or otherwise that of the attribute.
fn new_enumeration(
    name: &str,
    definition: &mut Ndarray,
    evolution: &Evolution<'_>,
) -> Result<Option<Enumeration>> {
    let datatype = definition.datatype.clone();
    let Some(Datatype::Enum { members, .. }) = datatype.as_deref().map(Datatype::non_null) else {
        return Ok(None);
    };
    let own = definition.storage.native.iter().filter(|(format, _)| *format == TILEDB);
    let said = own.flat_map(|(_, said)| said).find(|(key, _)| key == ENUMERATION);
    let of = match said {
        Some((_, Directive::Text(said))) => said.clone(),
        Some(_) => return Ok(None),
        None => {
            let said = (ENUMERATION.to_owned(), Directive::Text(name.to_owned()));
            definition.storage.native.push((TILEDB, vec![said]));
            name.to_owned()
        }
    };
    let stored = name_bytes(&of);
    if evolution.schema().enumerations.iter().any(|file| file.name == stored) {
        return Ok(None);
    }
    let mut values = Vec::with_capacity(members.len());
    for ((value, number), expected) in members.iter().zip(0..) {
        if *number != expected {
            return Err(Error::unsupported(format!(
                "value {value} with the number {number}, TileDB counts values from 0: expected {expected}"
            )));
        }
        values.push(name_bytes(value));
    }
    let is_ascii = values.iter().all(|value| value.is_ascii());
    let data_type = if is_ascii { DataType::StringAscii } else { DataType::StringUtf8 };
    Ok(Some(Enumeration::of_values(stored, data_type, CellValNum::Var, false, &values)))
}

/// The directive that states the name of the enumeration of an attribute.
const ENUMERATION: &str = "enumeration";
