//! Records: what an object keeps of its content that TileDB cannot represent, so that it can be restored.
//!
//! The record of a group is the text of a JSON object in its metadata, under the key [`RECORD`]; that of an array, which is
//! stored as the only attribute of a TileDB array, is in the metadata of this attribute, `__tiledb_attr.NAME.hyperslab`.
//! It has the members that records of Zarr have, which are listed with [these](crate::format::zarr::keep::record), and
//!
//! | member | of | holds |
//! |---|---|---|
//! | `role` | arrays | `array`: the attribute is the array, not a member of one |
//! | `collected` | groups | by the name of a TileDB array that has several of them as attributes: the names of these arrays |
//! | `parts` | arrays | the number of attributes that follow for the members of a compound, this one among them |
//! | `role` | arrays | `group`: the metadata of the array are those of its group, as up to 0.2.0 of TileDB-CF |

use super::metadata::spellings;
use super::write::{shown, visible};
use crate::format::zarr::keep::record::{self as shared, Record as Shared, read_attributes};
use crate::strings::{name_bytes, name_text};
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{Attribute, Attributes};
use hyperslab_tiledb::format::metadata::Value;
use hyperslab_zarr::json::{Json, Object};
use std::collections::BTreeMap;

/// The key of records.
pub(super) const RECORD: &str = "hyperslab";

/// The record of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// Whether the attribute of a TileDB array is an array of its own.
    pub(super) is_array: bool,
    /// Whether the metadata of an array are those of its group.
    pub(super) is_group: bool,
    /// The attribute of the array, by its position.
    pub(super) position: usize,
    /// The number of attributes, if there is one for each member of a compound.
    pub(super) parts: Option<usize>,
    /// Of a group, the arrays whose attributes are arrays of the group, with their names.
    pub(super) collected: Vec<(String, Vec<String>)>,
    /// The names of attributes that are characters, as the record has them.
    characters: Object,
    /// What all records have.
    pub(super) shared: Shared,
    /// The attributes with what metadata do not hold.
    attributes: Attributes,
}

impl Record {
    /// The record in a value of metadata. `None` if another program has put something else there.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for an invalid record.
    pub(super) fn parse(value: &Value) -> Result<Option<Record>> {
        let json = Json::parse(RECORD, &value.bytes, &Limits::default());
        let Ok(Json::Object(object)) = json else { return Ok(None) };
        let named = |e: Error| e.map_detail(|detail| format!("metadata {RECORD:?}: {detail}"));
        let role = object.get(ROLE).and_then(Json::as_str);
        let (is_array, is_group) = (role == Some(ARRAY), role == Some(GROUP));
        let others: Object = object
            .iter()
            .filter(|(name, _)| !matches!(*name, ROLE | COLLECTED | PARTS))
            .map(|(name, json)| (name.to_owned(), json.clone()))
            .collect();
        let attributes = match others.get("attributes") {
            Some(Json::Object(recorded)) => read_attributes(recorded).map_err(named)?,
            _ => Attributes::new(),
        };
        Ok(Some(Record {
            is_array,
            is_group,
            position: 0,
            parts: parts(object.get(PARTS)).map_err(named)?,
            characters: others
                .iter()
                .filter(|(name, _)| *name == "characters")
                .map(|(name, json)| (name.to_owned(), json.clone()))
                .collect(),
            collected: collected(object.get(COLLECTED)).map_err(named)?,
            shared: Shared::of_object(&others).map_err(named)?,
            attributes,
        }))
    }

    /// Puts the recorded attributes in the place of those that show them, and all into their order. Attributes that another
    /// program has changed are as that program wrote them.
    pub(super) fn restore(&self, attributes: &mut Attributes, stored: &BTreeMap<Vec<u8>, Value>) {
        for (name, recorded) in &self.attributes {
            let Ok(attribute) = recorded else { continue };
            if is_unchanged(&name_bytes(name), attribute, stored) {
                attributes.insert(name.clone(), recorded.clone());
            }
        }
        if !self.characters.is_empty() {
            let texts = stored.iter().filter_map(|(name, value)| {
                Some((name_text(name), Json::from(std::str::from_utf8(&value.bytes).ok()?)))
            });
            // A text that another program has changed has another length.
            if let Ok(known) = Shared::characters(&self.characters, &texts.collect()) {
                attributes.extend(known);
            }
        }
        let order = &self.shared.attribute_order;
        match order.is_empty() {
            true => attributes.sort_unstable_keys(),
            false => {
                let place = shared::places(order);
                attributes.sort_by_cached_key(|name, _| place(name));
            }
        }
    }
}

/// Whether an attribute is stored as it was when it was recorded.
fn is_unchanged(name: &[u8], attribute: &Attribute, stored: &BTreeMap<Vec<u8>, Value>) -> bool {
    // The record itself has this key.
    if name == RECORD.as_bytes() {
        return true;
    }
    let keys = spellings(name);
    // Its name has another meaning, or it has no elements.
    if keys.iter().all(|key| !stored.contains_key(key)) {
        return true;
    }
    let Some(value) = visible(attribute) else { return false };
    // Earlier versions stored all values as they are.
    stored.get(name) == Some(&value)
        || shown(name, value, attribute).iter().all(|entry| stored.get(&entry.key) == entry.value.as_ref())
}

/// The arrays whose attributes are arrays of the group.
fn collected(json: Option<&Json>) -> Result<Vec<(String, Vec<String>)>> {
    let wrong = || Error::malformed(format!("member {COLLECTED:?}: expected lists of names by array"));
    let Some(json) = json else { return Ok(Vec::new()) };
    let Json::Object(arrays) = json else { return Err(wrong()) };
    let names = |json: &Json| match json {
        Json::Array(names) => {
            names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    };
    arrays.iter().map(|(array, json)| Ok((array.to_owned(), names(json)?))).collect()
}

/// The number of attributes that a compound is stored as.
fn parts(json: Option<&Json>) -> Result<Option<usize>> {
    let Some(json) = json else { return Ok(None) };
    let count = match json {
        Json::Number(number) => number.as_u64().and_then(|count| usize::try_from(count).ok()),
        _ => None,
    };
    let count = count.filter(|count| *count > 0);
    let wrong = || Error::malformed(format!("member {PARTS:?}: expected a number of attributes"));
    count.map(Some).ok_or_else(wrong)
}

/// The member of compounds that are stored as an attribute for each member.
pub(super) const PARTS: &str = "parts";

/// The member of groups with the arrays whose attributes are arrays of the group.
pub(super) const COLLECTED: &str = "collected";

/// The member that says what the attribute of an array is, or an array; its value for one that is the array, and for one that has
/// the metadata of its group.
pub(super) const ROLE: &str = "role";
pub(super) const ARRAY: &str = "array";
pub(super) const GROUP: &str = "group";
